// Simulation on graphs, against times computed by hand.
#include <gtest/gtest.h>

#include "model/simulator/simulator.h"
#include "tests/model/model_testing.h"

namespace torc::model {
namespace {

/// Blocks of a byte of four ranks; some of the messages of an allgather.
Schedule ofFour(const std::string& operations, std::vector<GraphLink> links) {
  Schedule schedule = allgatherOf("X=4",
                                  "  color 0 weight 1/1 order X\n  stream 0 of p0\n  phase 0 {\n"
                                  "  stream 0 {\n" +
                                      operations + "  }\n  }\n");
  schedule.links = std::move(links);
  return schedule;
}

const std::vector<GraphLink> kSlowRing = {{0, 1, 2, 1}, {1, 2, 2, 1}, {2, 3, 0.5, 3}, {3, 0, 2, 1}};
constexpr char kRing[] = "%0 = send in[p0, (x)] to X+1\n %1 = recv out[p0, (x-1)] from X-1\n";

TEST(SimulatorGraph, EachLinkHasItsOwnTime) {
  const Schedule schedule = ofFour(kRing, kSlowRing);
  Machine machine = unitMachine(schedule.topology);
  machine.alpha = 0.25;
  const SimulateResult result = cantFail(simulate(schedule.view(), machine, {.bytes = 4}));
  expectClose(result.makespan_s, 0.25 + 3 + 1 / 0.5);
  EXPECT_EQ(result.nodes, 4u);
  ASSERT_EQ(result.links.size(), 4u);
  EXPECT_EQ(result.links[2].link_class.of_graph, 2u);
  expectClose(result.links[2].busy_s, 2);
  expectClose(result.links[0].busy_s, 0.5);
  const SimulateOptions of_bytes{.bytes = 4, .per_rank = true, .element_bytes = 1};
  expectClose(cantFail(simulate(schedule.view(), machine, of_bytes)).makespan_s, 5.25);
}

/// All send to the next over a switch, ranks 0 and 1 over the same link out of it.
TEST(SimulatorGraph, MessagesShareLinks) {
  const std::string both =
      "%0 = send in[p0, (x)] to X+2 when x = 0\n %1 = send in[p0, (x)] to X+1 when x = 1\n"
      "%2 = recv out[p0, (x-2)] from X-2 when x = 2\n"
      "%3 = recv out[p0, (x-1)] from X-1 when x = 2\n";
  const Schedule schedule =
      ofFour(both, {{0, 4, 4, 0}, {1, 4, 4, 0}, {4, 2, 1, 0}, {4, 5, 1, 0}, {5, 2, 8, 0}});
  const Machine machine = unitMachine(schedule.topology);
  expectClose(makespan(schedule, machine, 4), 2);  // a byte each, at half of its bandwidth
}

TEST(SimulatorGraph, OneNodeStandsForAllThatLookAlike) {
  std::vector<GraphLink> links;
  for (std::uint32_t node = 0; node < 4; ++node)
    links.push_back({node, (node + 1) % 4, 2, 1});
  const Schedule alike = ofFour(kRing, links);
  const Machine machine = unitMachine(alike.topology);
  const SimulateResult one = cantFail(simulate(alike.view(), machine, {.bytes = 4}));
  EXPECT_EQ(one.nodes, 1u);
  expectClose(one.makespan_s, 1.5);
  const SimulateOptions of_bytes{.bytes = 4, .per_rank = true, .element_bytes = 1};
  const SimulateResult all = cantFail(simulate(alike.view(), machine, of_bytes));
  EXPECT_EQ(all.nodes, 4u);
  expectClose(all.makespan_s, 1.5);
}

TEST(SimulatorGraph, MessagesNeedAWay) {
  std::vector<GraphLink> links = kSlowRing;
  links.erase(links.begin() + 1);
  const Schedule schedule = ofFour(kRing, links);
  EXPECT_EQ(simulationError(schedule, unitMachine(schedule.topology)),
            "operation 0 on rank 1 sends where no link leads");
}

}  // namespace
}  // namespace torc::model
