// Late ranks: those that arrive last at the collective calls of a trace.
#ifndef TORC_COMPILER_VIEW_LATE_RANKS_H_
#define TORC_COMPILER_VIEW_LATE_RANKS_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace torc::compiler {

/// The last rank to arrive at a call, and its delay after the median rank, in seconds.
struct LastArrival {
  int rank = 0;
  double late_by_s = 0;
};

/// `arrivals`: time and number of each rank, at least one.
LastArrival lastOf(std::vector<std::pair<double, int>> arrivals);

class LateRanks {
 public:
  void add(const LastArrival& last) { delays_[last.rank].push_back(last.late_by_s); }

  /// The rank with the longest delays in sum. Precondition: a call was added.
  int latest() const;
  /// The number of calls in which a rank was last.
  std::size_t callsOf(int rank) const;
  /// The median of its delays in these; 0 without any.
  double medianOf(int rank) const;
  /// "last in 20 of 20 rounds, 20.1 ms after the median", of the latest rank. `calls`: "rounds".
  std::string text(const std::string& calls) const;

 private:
  std::map<int, std::vector<double>> delays_;  // by rank
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_LATE_RANKS_H_
