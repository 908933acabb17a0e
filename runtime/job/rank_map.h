// Rank map: a bijection between the ranks of a communicator and those of a schedule.
//
// A schedule numbers nodes by their coordinates; a communicator has its members in any order. If
// the two numberings are equal, as after the schedule's order of axes was chosen for the
// communicator, no table is kept; otherwise 4 bytes per rank in each direction.
#ifndef TORC_RUNTIME_JOB_RANK_MAP_H_
#define TORC_RUNTIME_JOB_RANK_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "schedules/topology/topology.h"
#include "support/message.h"
#include "support/status.h"

namespace torc::runtime {

class RankMap {
 public:
  /// The identity, of any size.
  RankMap() = default;

  /// `to_schedule[r]` is the schedule's rank of the communicator's rank r. Errors: not a
  /// permutation of 0 to n-1. The table of an identity is not kept.
  static StatusOr<RankMap> fromTable(std::vector<std::int32_t> to_schedule) {
    std::vector<std::int32_t> inverse(to_schedule.size(), -1);
    bool identity = true;
    for (std::size_t rank = 0; rank < to_schedule.size(); ++rank) {
      const std::int32_t there = to_schedule[rank];
      if (there < 0 || static_cast<std::size_t>(there) >= inverse.size()) {
        return Status(StatusCode::kInvalidArgument,
                      message("rank map: rank ", rank, " is mapped to ", there, ", of ",
                              inverse.size(), " ranks"));
      }
      if (inverse[there] != -1) {
        return Status(StatusCode::kInvalidArgument,
                      message("rank map: ranks ", inverse[there], " and ", rank,
                              " are both mapped to ", there));
      }
      inverse[there] = static_cast<std::int32_t>(rank);
      identity = identity && static_cast<std::size_t>(there) == rank;
    }
    RankMap map;
    if (!identity) {
      map.to_schedule_ = std::move(to_schedule);
      map.to_communicator_ = std::move(inverse);
    }
    return map;
  }

  bool isIdentity() const { return to_schedule_.empty(); }
  std::int32_t toSchedule(std::int32_t rank) const {
    return isIdentity() ? rank : to_schedule_[static_cast<std::size_t>(rank)];
  }
  std::int32_t toCommunicator(std::int32_t rank) const {
    return isIdentity() ? rank : to_communicator_[static_cast<std::size_t>(rank)];
  }

  /// Memory of the tables.
  std::size_t bytes() const {
    return (to_schedule_.capacity() + to_communicator_.capacity()) * sizeof(std::int32_t);
  }

 private:
  std::vector<std::int32_t> to_schedule_, to_communicator_;  // empty: the identity
};

/// Whether a communicator's ranks, mapped by `map` to those of `topology`, are in the order of a
/// schedule compiled for `compiled`, a topology of the same shape.
inline bool isInRankOrder(const RankMap& map, const Topology& topology, const Topology& compiled) {
  return map.isIdentity() && sameRankOrder(topology, compiled);
}

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_RANK_MAP_H_
