// Which ranks of a job a user dedicates to collectives, and which calls these get: the values of
// TORC_DEDICATED and TORC_DEDICATED_OPERATIONS.
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

/// How many ranks, or which.
struct DedicatedRanks {
  enum class Kind : std::uint8_t { kNone, kRatio, kNumber, kList };
  Kind kind = Kind::kNone;
  std::uint32_t number = 0;     // kRatio: application ranks for each dedicated one; kNumber: of
                                // dedicated ranks
  std::vector<RankRange> list;  // kList: of MPI_COMM_WORLD, ascending, apart: as long as the text
  bool fills_nodes = false;     // kRatio, kNumber: the last nodes of the job, not some ranks of all

  bool operator==(const DedicatedRanks&) const = default;
};

/// Reads `1:8`, `=16`, either with `@nodes` behind it, or a list of ranks and ranges `3,7,12-15`.
/// Empty: none can be read.
std::optional<DedicatedRanks> parseDedicatedRanks(std::string_view text);

/// How many of `ranks` ranks are dedicated. Errors, which name the fault but
/// not the variable: none would be, or all, or a rank of the list does not exist.
StatusOr<std::size_t> dedicatedCount(const DedicatedRanks& wanted, std::size_t ranks);

/// What dedicated ranks do in a call: what a row says, or a barrier, which has none.
struct OffloadedCollective {
  Collective collective = Collective::kAllreduce;  // of a barrier this one
  bool is_barrier = false;

  const CollectiveRow& row() const { return rowOf(collective); }
  bool reduces() const { return !is_barrier && row().reduces(); }
  /// Its place in lists: the row's number, and behind all rows the barrier.
  std::size_t index() const {
    return is_barrier ? kCollectiveCount : static_cast<std::size_t>(collective);
  }
  bool operator==(const OffloadedCollective&) const = default;
};

/// Whether dedicated ranks do what the row says: neither prefixes, nor blocks of one root's.
bool isOffloaded(const CollectiveRow& row);

/// MPI's name without MPI_, in small letters: "bcast".
std::string name(OffloadedCollective collective);

/// Up to how many bytes of the whole vector calls of a collective go to dedicated ranks.
struct OffloadLimits {
  using Row = std::array<std::optional<std::uint32_t>, kCollectiveCount + 1>;  // empty: none
  Row blocking, nonblocking;

  bool operator==(const OffloadLimits&) const = default;
};

/// Reads `allreduce:1K,iallreduce:64K,barrier`: names of MPI's functions; that with an i stands
/// for the nonblocking and the persistent form. Without bytes: as many as dedicated ranks take. Of
/// what is not named nothing goes to them. An empty result: what is allowed is in `allowed`.
std::optional<OffloadLimits> parseOffloadLimits(std::string_view text, std::string& allowed);

/// The most bytes of a vector that dedicated ranks take.
inline constexpr std::uint32_t kMostOffloadedBytes = 1u << 24;

}  // namespace torc

#endif  // TORC_SETTINGS_DEDICATED_RANKS_H_
