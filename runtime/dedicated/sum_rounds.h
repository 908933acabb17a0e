// Rounds in which dedicated ranks sum short vectors: in each round, groups of ranks exchange their
// partial sums, each rank with all others of its group (recursive multiplying; Ruefenacht, Bull and
// Booth, Generalisation of recursive doubling for AllReduce, 2017). A group of k receives k - 1
// messages at the same time; exchanges of pairs would wait for the latency log2(k) times.
//
// If nodes have several dedicated ranks, their lanes, these first sum inside the node. Then a group
// of nodes is divided into as many classes as there are lanes. Each lane receives the sums of the
// nodes of one class, and the lanes of a node add their results. So a node receives from many
// others at the same time, and no lane receives more messages than its class has nodes.
#ifndef TORC_RUNTIME_DEDICATED_SUM_ROUNDS_H_
#define TORC_RUNTIME_DEDICATED_SUM_ROUNDS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace torc::runtime::dedicated {

/// One rank's step in a round: sends its partial sum, then adds the received ones.
struct SumStep {
  int round = 0;          // the same for a message's sender and receiver; below kMostSumRounds
  std::vector<int> to;    // ranks, in the order in which they are sent to
  std::vector<int> from;  // ranks, in the order of the sum
  /// Its own partial sum is added, before so many of the others.
  bool adds_own = true;
  std::size_t own_place = 0;
};

inline constexpr int kMostSumRounds = 32;

/// The same on all ranks.
struct SumRounds {
  /// A round between nodes.
  struct NodeRound {
    int size = 1;              // nodes of a group
    bool is_by_class = false;  // otherwise each lane exchanges with the same lane of all nodes
  };

  int lanes = 1;
  std::vector<int> nodes;         // first ranks of the nodes that take part, with all lanes
  std::vector<int> lane_groups;   // sizes; their product is `lanes`
  std::vector<NodeRound> rounds;  // the product of their sizes is that of `nodes`
  /// By rank: the ranks that send this one their vector before the first round, and get the sum
  /// after the last; a rank that takes no part sends to exactly one.
  std::vector<std::vector<int>> givers;
  std::vector<int> taker;  // by rank; -1: it takes part

  std::vector<SumStep> stepsOf(int rank) const;

 private:
  void addLaneRounds(std::vector<SumStep>& steps, int& round, int first, int lane) const;
};

/// The rounds with the least time. The model: a message takes work at either end, three times that
/// work as latency between nodes, and a quarter inside a node. `node_of_rank`: ranks of a node are
/// consecutive. Takes time linear in the ranks.
SumRounds planSumRounds(std::span<const int> node_of_rank);

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SUM_ROUNDS_H_
