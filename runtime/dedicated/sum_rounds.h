// How dedicated ranks sum short vectors among each other: in rounds, in each of which groups of
// them exchange what they have, everyone with everyone of its group (recursive multiplying;
// Ruefenacht, Bull and Booth, Generalisation of recursive doubling for AllReduce, 2017). A group of
// k takes k - 1 messages at a time where k - 1 exchanges of two would wait for the wire log2(k)
// times.
//
// Where nodes have several dedicated ranks, their lanes, these sum inside the node first. Then a
// group of nodes is cut into as many classes as there are lanes. Each lane gets the sums of the
// nodes of one class, and the lanes of a node add up what they got: a node hears of many others at
// a time, and no lane takes more messages than its class has nodes.
#ifndef TORC_RUNTIME_DEDICATED_SUM_ROUNDS_H_
#define TORC_RUNTIME_DEDICATED_SUM_ROUNDS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace torc::runtime::dedicated {

/// What one rank does in one round: sends what it has, and has the sum of what came from then on.
struct SumStep {
  int round = 0;          // the same for a message's sender and receiver; below kMostSumRounds
  std::vector<int> to;    // ranks, in the order in which they are sent to
  std::vector<int> from;  // ranks, in the order of the sum
  /// What it had itself is in the sum, before so many of the others.
  bool adds_own = true;
  std::size_t own_place = 0;
};

inline constexpr int kMostSumRounds = 32;

/// The same on all ranks.
struct SumRounds {
  /// A round between nodes.
  struct NodeRound {
    int size = 1;              // nodes of a group
    bool is_by_class = false;  // else each lane exchanges with the same lane of all of them
  };

  int lanes = 1;
  std::vector<int> nodes;         // the first rank of each that takes part with all lanes
  std::vector<int> lane_groups;   // sizes; their product is `lanes`
  std::vector<NodeRound> rounds;  // the product of their sizes is that of `nodes`
  /// By rank: which one gives to this one what it has before the first round, and gets the sum
  /// after the last; who does not take part gives to exactly one.
  std::vector<std::vector<int>> givers;
  std::vector<int> taker;  // by rank; -1: it takes part

  std::vector<SumStep> stepsOf(int rank) const;

 private:
  void addLaneRounds(std::vector<SumStep>& steps, int& round, int first, int lane) const;
};

/// The rounds that take the least time where a message between nodes is on its way three times as
/// long as either end works for it, and inside a node a quarter of that work. `node_of_rank`:
/// ranks of a node are neighbours. Takes time that grows with the ranks.
SumRounds planSumRounds(std::span<const int> node_of_rank);

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SUM_ROUNDS_H_
