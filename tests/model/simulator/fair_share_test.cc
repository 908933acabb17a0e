// Max-min fair sharing: by hand, and its definition as a property.
#include "model/simulator/fair_share.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace torc::model {
namespace {

constexpr double kInfinity = FairShare::kInfinity;

/// Runs to the end; when each flow ends.
std::map<std::uint32_t, double> ends(FairShare& network) {
  std::map<std::uint32_t, double> result;
  for (double time = network.nextEnd(); time < kInfinity; time = network.nextEnd()) {
    std::vector<std::uint32_t> ended;
    network.end(ended);
    for (std::uint32_t flow : ended)
      result[flow] = time;
  }
  return result;
}

TEST(FairShare, FlowsOfALinkShareItEqually) {
  FairShare network;
  const std::uint32_t link = network.addResource(10);
  const std::uint32_t group = network.addGroup({{link, 1}});
  network.start(group, 0, 100, 0);
  network.start(group, 1, 20, 0);
  network.start(group, 2, 20, 0);
  // Thirds of 10 for 20 units each, then the first alone.
  EXPECT_EQ(ends(network), (std::map<std::uint32_t, double>{{0, 14}, {1, 6}, {2, 6}}));
  EXPECT_DOUBLE_EQ(network.carried(link), 140);
  EXPECT_DOUBLE_EQ(network.busy(link), 14);
}

TEST(FairShare, AFlowThatComesLaterSlowsTheOthersFromThenOn) {
  FairShare network;
  const std::uint32_t link = network.addResource(1);
  const std::uint32_t group = network.addGroup({{link, 1}});
  network.start(group, 7, 10, 0);
  network.start(group, 8, 2, 4);
  EXPECT_EQ(ends(network), (std::map<std::uint32_t, double>{{7, 12}, {8, 8}}));
}

TEST(FairShare, WhatOneBottleneckLeavesOverOthersTake) {
  // One flow over both links, two more on the first: a third of 3 each; on the second the flow that
  // is alone there takes the rest.
  FairShare network;
  const std::uint32_t first = network.addResource(3);
  const std::uint32_t second = network.addResource(10);
  network.start(network.addGroup({{first, 1}, {second, 1}}), 0, 5, 0);
  const std::uint32_t short_way = network.addGroup({{first, 1}});
  network.start(short_way, 1, 5, 0);
  network.start(short_way, 2, 5, 0);
  network.start(network.addGroup({{second, 1}}), 3, 9, 0);
  EXPECT_EQ(ends(network), (std::map<std::uint32_t, double>{{0, 5}, {1, 5}, {2, 5}, {3, 1}}));
}

TEST(FairShare, AFlowThatUsesALinkTwiceTakesTwiceItsRate) {
  FairShare network;
  const std::uint32_t link = network.addResource(6);
  network.start(network.addGroup({{link, 1}}), 0, 4, 0);
  network.start(network.addGroup({{link, 2}}), 1, 4, 0);
  EXPECT_EQ(ends(network), (std::map<std::uint32_t, double>{{0, 2}, {1, 2}}));
  EXPECT_DOUBLE_EQ(network.carried(link), 12);
}

TEST(FairShare, AGroupsOwnLimitLeavesTheRestToOthers) {
  FairShare network;
  const std::uint32_t memory = network.addResource(10);
  const std::uint32_t slow = network.addGroup({{memory, 1}}, 2);
  network.start(slow, 0, 4, 0);
  network.start(slow, 1, 4, 0);
  network.start(network.addGroup({{memory, 1}}), 2, 12, 0);
  EXPECT_EQ(ends(network), (std::map<std::uint32_t, double>{{0, 2}, {1, 2}, {2, 2}}));
}

TEST(FairShare, WhatIsNotLimitedEndsAtOnce) {
  FairShare network;
  network.start(network.addGroup({}), 0, 1e9, 3);
  network.start(network.addGroup({{network.addResource(kInfinity), 1}}), 1, 1e9, 3);
  const std::uint32_t link = network.addResource(1);
  network.start(network.addGroup({{link, 1}}), 2, 0, 3);
  EXPECT_EQ(ends(network), (std::map<std::uint32_t, double>{{0, 3}, {1, 3}, {2, 3}}));
}

// The definition: no resource gives more than it has, and every group is either at its own limit,
// or uses a resource that is full and on which no other group is faster.
RC_GTEST_PROP(FairShare, RatesAreMaxMinFair, ()) {
  FairShare network;
  const int resources = *rc::gen::inRange(1, 6);
  std::vector<double> capacities;
  for (int i = 0; i < resources; ++i) {
    capacities.push_back(*rc::gen::inRange(1, 20));
    network.addResource(capacities.back());
  }
  struct Group {
    std::vector<FairShare::Use> uses;
    double limit;
    int flows;
  };
  std::vector<Group> groups(static_cast<std::size_t>(*rc::gen::inRange(1, 8)));
  std::uint32_t flow = 0;
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    Group& group = groups[i];
    for (int r = 0; r < resources; ++r) {
      const int amount = *rc::gen::inRange(-2, 4);
      if (amount > 0) group.uses.push_back({static_cast<std::uint32_t>(r), double(amount)});
    }
    group.limit = *rc::gen::inRange(1, 30);
    group.flows = *rc::gen::inRange(0, 4);
    network.addGroup(group.uses, group.limit);
    for (int k = 0; k < group.flows; ++k)
      network.start(i, flow++, 1, 0);
  }
  network.nextEnd();
  std::vector<double> used(static_cast<std::size_t>(resources), 0.0);
  std::vector<double> fastest(static_cast<std::size_t>(resources), 0.0);
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    if (groups[i].flows == 0) continue;
    for (const FairShare::Use& use : groups[i].uses) {
      used[use.resource] += use.amount * groups[i].flows * network.rate(i);
      fastest[use.resource] = std::max(fastest[use.resource], network.rate(i));
    }
  }
  for (std::size_t r = 0; r < used.size(); ++r)
    RC_ASSERT(used[r] <= capacities[r] * (1 + 1e-9));
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    if (groups[i].flows == 0) continue;
    const double rate = network.rate(i);
    bool stopped = rate >= groups[i].limit * (1 - 1e-9);
    for (const FairShare::Use& use : groups[i].uses) {
      stopped = stopped || (used[use.resource] >= capacities[use.resource] * (1 - 1e-9) &&
                            rate >= fastest[use.resource] * (1 - 1e-9));
    }
    RC_ASSERT(rate <= groups[i].limit * (1 + 1e-9));
    RC_ASSERT(stopped);
  }
}

}  // namespace
}  // namespace torc::model
