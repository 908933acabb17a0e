// Expansion: the flat program of one rank. Peers become ranks, regions become
// lists of (offset, length), dependences become indices. Used by verifier
// tests, simulator and runtime, so that what is checked is what runs.
#ifndef TORC_SCHEDULES_EXPANSION_EXPAND_H_
#define TORC_SCHEDULES_EXPANSION_EXPAND_H_

#include <cstdint>
#include <span>
#include <vector>

#include "schedules/expansion/partition.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc {

/// How many elements a call moves. Either `count` alone, or one entry per rank.
struct Counts {
  /// allreduce: elements of the vector; reduce_scatter, allgather: elements of
  /// every block.
  std::uint64_t count = 0;
  /// reduce_scatter, allgather only, in place of `count`: elements of rank r's
  /// block.
  std::span<const std::uint64_t> per_rank;
  /// With per_rank: where rank r's block starts, in elements; empty: blocks
  /// follow one another.
  std::span<const std::uint64_t> displacements;
};

/// A region as runs of elements.
struct FlatRegion {
  Buffer buffer = Buffer::kNone;
  std::uint32_t first_extent = 0;  // into FlatProgram::extents
  std::uint32_t extent_count = 0;
  std::uint64_t elements = 0;  // sum of the extents' lengths
};

/// An operation of one rank; dst, a, b as in `Operation`, all of equal length.
struct FlatOperation {
  OperationKind kind = OperationKind::kSend;
  std::uint16_t phase = 0;
  std::uint32_t stream = 0;
  std::int32_t peer = -1;    // rank
  std::uint32_t tag = 0;     // unique among the messages of a pair of ranks; < tag_count
  std::uint32_t source = 0;  // index of the operation in the schedule
  FlatRegion dst, a, b;
  std::uint32_t first_dependence = 0;  // into FlatProgram::dependences
  std::uint32_t dependence_count = 0;
};

/// What one rank executes for one call signature. Operations that its guard
/// excludes or that move nothing are gone; dependences through them are drawn
/// through.
struct FlatProgram {
  std::int32_t rank = 0;
  std::vector<FlatOperation> operations;   // every dependence names an earlier one
  std::vector<Extent> extents;             // elements
  std::vector<std::uint32_t> dependences;  // indices of operations
  std::uint64_t in_elements = 0;           // smallest size of `in`
  std::uint64_t out_elements = 0;          // smallest size of `out`, displacements included
  std::uint64_t scratch_elements = 0;
  std::uint32_t tag_count = 0;  // the same on all ranks

  std::span<const Extent> extentsOf(const FlatRegion& region) const {
    return std::span(extents).subspan(region.first_extent, region.extent_count);
  }
  std::span<const std::uint32_t> dependencesOf(const FlatOperation& operation) const {
    return std::span(dependences).subspan(operation.first_dependence, operation.dependence_count);
  }
};

/// Tags that the programs of `schedule` use: FlatProgram::tag_count, whatever the counts.
std::uint32_t tagCount(const ScheduleView& schedule);

/// The program of `rank`. `schedule` has passed `validate`. In an own-block
/// buffer (`out` of a reduce_scatter, `in` of an allgather) the block starts at
/// element 0; when `in_place` is set, `in` of an allgather is the whole vector
/// `out` and the own block lies at its place there. Errors: rank outside the
/// topology, per-rank tables of the wrong length, sizes that overflow 63 bits.
StatusOr<FlatProgram> expand(const ScheduleView& schedule, std::int32_t rank, const Counts& counts,
                             bool in_place = false);

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_EXPAND_H_
