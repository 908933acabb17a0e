// Chooses the rounds of a sum, and finds the steps of one rank.
#include "runtime/dedicated/sum_rounds.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>

namespace torc::runtime::dedicated {
namespace {

constexpr int kMostMessages = 7;  // to one rank in a round between nodes
// Costs of a message: work at either end, and latency between nodes and inside one.
constexpr int kWork = 4, kWire = 12, kWireInNode = 1;
constexpr int kNever = std::numeric_limits<int>::max() / 2;

/// Time of the sends, of the first message's latency, and of the receives.
constexpr int roundTime(int messages, int wire) {
  return kWork * messages + std::max(kWork * messages, kWork + wire);
}

int messagesOfClass(int nodes, int lanes) {
  return (nodes + lanes - 1) / lanes;
}

/// By product of the rounds' sizes: the least time, and the last round.
struct Best {
  int time = kNever;
  SumRounds::NodeRound last;
};

/// Considers a last round with this time.
template <typename Time>
void improve(std::vector<Best>& best, std::size_t product, SumRounds::NodeRound round, Time time) {
  const auto size = static_cast<std::size_t>(round.size);
  if (product % size != 0 || best[product / size].time + time >= best[product].time) return;
  best[product] = {best[product / size].time + time, round};
}

std::vector<Best> bestInNode(int lanes) {
  std::vector<Best> best(static_cast<std::size_t>(lanes) + 1);
  best[1].time = 0;
  for (std::size_t product = 2; product < best.size(); ++product) {
    for (int size = 2; size <= static_cast<int>(product); ++size)
      improve(best, product, {size, false}, roundTime(size - 1, kWireInNode));
  }
  return best;
}

std::vector<Best> bestAmongNodes(int nodes, int lanes, int time_in_node) {
  std::vector<Best> best(static_cast<std::size_t>(nodes) + 1);
  best[1].time = 0;
  for (std::size_t product = 2; product < best.size(); ++product) {
    const int most = static_cast<int>(product);
    for (int size = 2; size <= std::min(most, kMostMessages + 1); ++size)
      improve(best, product, {size, false}, roundTime(size - 1, kWire));
    for (int size = lanes; lanes > 1 && size <= std::min(most, kMostMessages * lanes); ++size) {
      improve(best, product, {size, true},
              roundTime(messagesOfClass(size, lanes), kWire) + time_in_node);
    }
  }
  return best;
}

std::vector<SumRounds::NodeRound> roundsOf(const std::vector<Best>& best, int product) {
  std::vector<SumRounds::NodeRound> rounds;
  while (product > 1) {
    rounds.push_back(best[static_cast<std::size_t>(product)].last);
    product /= rounds.back().size;
  }
  return rounds;
}

/// The beginning of the `index`-th of `parts` shares of `total`, which differ by at most one.
int shareBegin(int total, int index, int parts) {
  return total * index / parts;
}

/// Chooses the ranks that take no part, and the ranks that add their vectors: inside their node if
/// possible.
void pairUp(SumRounds& rounds, std::span<const int> node_of_rank) {
  const std::size_t ranks = node_of_rank.size();
  rounds.taker.assign(ranks, 0);
  rounds.givers.resize(ranks);
  for (const int first : rounds.nodes)
    std::fill_n(rounds.taker.begin() + first, rounds.lanes, -1);
  std::size_t next = 0;  // index among ranks that take part
  int first_here = -1;   // first rank of the node, if it takes part
  for (std::size_t rank = 0, lane = 0; rank < ranks; ++rank) {
    if (rank == 0 || node_of_rank[rank] != node_of_rank[rank - 1]) {
      first_here = rounds.taker[rank] < 0 ? static_cast<int>(rank) : -1;
      lane = 0;
    }
    const auto lanes = static_cast<std::size_t>(rounds.lanes);
    if (rounds.taker[rank] == 0) {
      const int taker = first_here >= 0
                            ? first_here + static_cast<int>(lane % lanes)
                            : rounds.nodes[next / lanes] + static_cast<int>(next % lanes);
      if (first_here < 0) next = (next + 1) % (rounds.nodes.size() * lanes);
      rounds.taker[rank] = taker;
      rounds.givers[static_cast<std::size_t>(taker)].push_back(static_cast<int>(rank));
    }
    ++lane;
  }
}

/// A round in which each rank of a group sends to all others.
SumStep exchangeOf(int round, const std::vector<int>& group, std::size_t own) {
  SumStep step;
  step.round = round;
  step.own_place = own;
  // Each rank sends to its successors first, so that all receive at the same rate.
  for (std::size_t i = 1; i < group.size(); ++i)
    step.to.push_back(group[(own + i) % group.size()]);
  step.from = group;
  step.from.erase(step.from.begin() + static_cast<std::ptrdiff_t>(own));
  return step;
}

/// The nodes of one class of a group.
std::vector<int> classOf(const std::vector<int>& group, int index, int lanes) {
  const auto nodes = static_cast<int>(group.size());
  return {group.begin() + shareBegin(nodes, index, lanes),
          group.begin() + shareBegin(nodes, index + 1, lanes)};
}

}  // namespace

void SumRounds::addLaneRounds(std::vector<SumStep>& steps, int& round, int first, int lane) const {
  int stride = 1;
  for (const int size : lane_groups) {
    std::vector<int> group;
    const int begin = lane - lane / stride % size * stride;
    for (int i = 0; i < size; ++i)
      group.push_back(first + begin + i * stride);
    steps.push_back(exchangeOf(round++, group, static_cast<std::size_t>(lane / stride % size)));
    stride *= size;
  }
}

std::vector<SumStep> SumRounds::stepsOf(int rank) const {
  constexpr int kFirstRound = 0, kLastRound = kMostSumRounds - 1;
  std::vector<SumStep> steps;
  if (const int to = taker[static_cast<std::size_t>(rank)]; to >= 0) {
    steps.push_back({.round = kFirstRound, .to = {to}, .from = {}});
    steps.push_back({.round = kLastRound, .to = {}, .from = {to}, .adds_own = false});
    return steps;
  }
  const std::vector<int>& giving = givers[static_cast<std::size_t>(rank)];
  if (!giving.empty()) steps.push_back({.round = kFirstRound, .to = {}, .from = giving});
  const auto own = std::ranges::upper_bound(nodes, rank) - 1;
  const int node = static_cast<int>(own - nodes.begin()), lane = rank - *own;
  int round = kFirstRound + 1, stride = 1;
  addLaneRounds(steps, round, *own, lane);
  for (const NodeRound& each : rounds) {
    const int place = node / stride % each.size, begin = node - place * stride;
    std::vector<int> group;  // first ranks of the group's nodes
    for (int i = 0; i < each.size; ++i)
      group.push_back(nodes[static_cast<std::size_t>(begin + i * stride)]);
    stride *= each.size;
    if (!each.is_by_class) {
      for (int& member : group)
        member += lane;
      steps.push_back(exchangeOf(round++, group, static_cast<std::size_t>(place)));
      continue;
    }
    int own_class = 0;
    while (shareBegin(each.size, own_class + 1, lanes) <= place)
      ++own_class;
    SumStep step;
    step.round = round++;
    step.adds_own = own_class == lane;
    const std::vector<int> there = classOf(group, lane, lanes);
    const auto turn = static_cast<std::size_t>(place - shareBegin(each.size, own_class, lanes));
    for (std::size_t i = 0; i < there.size(); ++i) {
      const int to = there[(turn + i) % there.size()];
      if (to != *own) step.to.push_back(to + own_class);
      if (there[i] == *own) {
        step.own_place = step.from.size();
      } else {
        step.from.push_back(there[i] + own_class);
      }
    }
    steps.push_back(step);
    addLaneRounds(steps, round, *own, lane);
  }
  if (!giving.empty()) steps.push_back({.round = kLastRound, .to = giving, .from = {}});
  return steps;
}

SumRounds planSumRounds(std::span<const int> node_of_rank) {
  const auto ranks = static_cast<int>(node_of_rank.size());
  std::vector<std::pair<int, int>> found;  // nodes: first rank, ranks
  for (int rank = 0; rank < ranks; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    if (rank == 0 || node_of_rank[i] != node_of_rank[i - 1]) found.emplace_back(rank, 0);
    ++found.back().second;
  }
  std::set<int> sizes;
  for (const auto& [first, size] : found)
    sizes.insert(size);
  SumRounds rounds;
  int least = kNever, inside = 0;
  for (const int lanes : sizes) {
    const auto full = static_cast<int>(
        std::ranges::count_if(found, [&](const auto& node) { return node.second >= lanes; }));
    const std::vector<Best> in_node = bestInNode(lanes);
    const int time_in_node = in_node.back().time;
    const std::vector<Best> among = bestAmongNodes(full, lanes, time_in_node);
    for (int nodes = full; 2 * nodes >= full && nodes > 0; --nodes) {
      const int outside = ranks - nodes * lanes;
      const int each = (outside + nodes * lanes - 1) / (nodes * lanes);
      const int time = among[static_cast<std::size_t>(nodes)].time + time_in_node +
                       (outside > 0 ? 2 * (kWork * (1 + each) + kWire) : 0);
      if (time >= least) continue;
      least = time;
      inside = nodes;
      rounds.lanes = lanes;
      rounds.rounds = roundsOf(among, nodes);
      rounds.lane_groups.clear();
      for (const SumRounds::NodeRound& round : roundsOf(in_node, lanes))
        rounds.lane_groups.push_back(round.size);
    }
  }
  for (const auto& [first, size] : found) {
    if (size >= rounds.lanes && static_cast<int>(rounds.nodes.size()) < inside) {
      rounds.nodes.push_back(first);
    }
  }
  pairUp(rounds, node_of_rank);
  return rounds;
}

}  // namespace torc::runtime::dedicated
