// How dedicated ranks sum short vectors among each other: in rounds, in each of which groups of
// them exchange what they have, everyone with everyone of its group (recursive multiplying;
// Ruefenacht, Bull and Booth, Generalisation of recursive doubling for AllReduce, 2017). A group of
// k takes k - 1 messages at a time where k - 1 exchanges of two would wait for the wire log2(k)
// times.
#ifndef TORC_RUNTIME_DEDICATED_SUM_ROUNDS_H_
#define TORC_RUNTIME_DEDICATED_SUM_ROUNDS_H_

#include <cstddef>
#include <vector>

namespace torc::runtime::dedicated {

/// The same on all ranks.
struct SumRounds {
  /// Ranks from here on give what they have to rank - inside before the first round, and get the
  /// sum from it after the last.
  int inside = 1;
  /// Of each round. Their product is `inside`.
  std::vector<int> group_sizes;

  /// The members of a rank's group in a round, in the order in which all of them sum.
  std::vector<int> group(int rank, std::size_t round) const;
};

/// The rounds that take the least time where a message is on its way three times as long as either
/// end works for it. Takes time that grows with the ranks.
SumRounds planSumRounds(int ranks);

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SUM_ROUNDS_H_
