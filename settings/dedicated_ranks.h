// Dedicated ranks: the ranks that a user dedicates to collectives, and the calls that they serve,
// from the values of TORC_DEDICATED and TORC_DEDICATED_OPERATIONS.
#ifndef TORC_SETTINGS_DEDICATED_RANKS_H_
#define TORC_SETTINGS_DEDICATED_RANKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/collective.h"
#include "support/status.h"

namespace torc {

struct RankRange {
  std::uint32_t first = 0, last = 0;

  bool operator==(const RankRange&) const = default;
};

/// A number of ranks, or a list.
struct DedicatedRanks {
  enum class Kind : std::uint8_t { kNone, kRatio, kNumber, kList };
  Kind kind = Kind::kNone;
  std::uint32_t number = 0;     // kRatio: application ranks for each dedicated one; kNumber:
                                // dedicated ranks
  std::vector<RankRange> list;  // kList: of MPI_COMM_WORLD, ascending, not adjacent
  bool fills_nodes = false;     // kRatio, kNumber: whole nodes, the job's last ones

  bool operator==(const DedicatedRanks&) const = default;
};

/// Reads `1:8`, `=16`, either with a suffix `@nodes`, or a list of ranks and ranges `3,7,12-15`.
/// std::nullopt for other text.
std::optional<DedicatedRanks> parseDedicatedRanks(std::string_view text);

/// The number of dedicated ranks among `ranks`. Errors, which name the fault but not the variable:
/// none, or all, or a missing rank of the list.
StatusOr<std::size_t> dedicatedCount(const DedicatedRanks& wanted, std::size_t ranks);

/// A call for dedicated ranks: a row's collective, or a barrier, which has no row.
struct OffloadedCollective {
  Collective collective = Collective::kAllreduce;  // for a barrier this one
  bool is_barrier = false;

  const CollectiveRow& row() const { return rowOf(collective); }
  bool reduces() const { return !is_barrier && row().reduces(); }
  /// Index in lists: the row's number; the barrier follows all rows.
  std::size_t index() const {
    return is_barrier ? kCollectiveCount : static_cast<std::size_t>(collective);
  }
  bool operator==(const OffloadedCollective&) const = default;
};

/// Whether dedicated ranks support the row: neither prefixes nor blocks of one root.
bool isOffloaded(const CollectiveRow& row);

/// MPI's name without MPI_, in lower case: "bcast".
std::string name(OffloadedCollective collective);

/// The largest whole vector in bytes, for each collective, that goes to dedicated ranks.
struct OffloadLimits {
  using Row = std::array<std::optional<std::uint32_t>, kCollectiveCount + 1>;  // empty: none
  Row blocking, nonblocking;

  bool operator==(const OffloadLimits&) const = default;
};

/// Reads `allreduce:1K,iallreduce:64K,barrier`: names of MPI's functions; those with an i stand for
/// the nonblocking and the persistent form. Without bytes: the most that dedicated ranks accept.
/// Collectives without a name go to no dedicated rank. std::nullopt: `allowed` describes the
/// accepted values.
std::optional<OffloadLimits> parseOffloadLimits(std::string_view text, std::string& allowed);

/// The most bytes of a vector that dedicated ranks accept.
inline constexpr std::uint32_t kMostOffloadedBytes = 1u << 24;

}  // namespace torc

#endif  // TORC_SETTINGS_DEDICATED_RANKS_H_
