// Expansion: the flat program of one rank. Peers become ranks, regions become runs of elements,
// dependences become indices. Used by the runtime, `torc dump --rank`, `torc verify --count`, the
// simulator when it goes rank by rank, and the tests that check the verifier's proofs on numbers.
//
// Bounds. With one count for all ranks a program is as large as its schedule: a box is one strided
// run, whatever the number of nodes. (Exceptions: blocks that differ in size by rounding, and boxes
// interrupted by dead nodes, are listed run by run.) Dependences are at most kMostPassed times
// those of the schedule. For a schedule in segments all this is multiplied by the number of
// segments.
#ifndef TORC_SCHEDULES_EXPANSION_EXPAND_H_
#define TORC_SCHEDULES_EXPANSION_EXPAND_H_

#include <cstdint>
#include <span>
#include <vector>

#include "schedules/expansion/pair_counts.h"
#include "schedules/expansion/shares.h"
#include "schedules/expansion/strided.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc {

/// Number of elements that a call moves: either one `count`, or one entry per rank or per neighbour
/// (in MPI's order).
struct Counts {
  /// Elements of the vector or, if ranks have blocks, of every block; for neighbor_allgather,
  /// elements of the one block in `in`.
  std::uint64_t count = 0;
  /// In place of `count` if ranks have blocks: elements of rank r's block; of pairs, of the block
  /// from rank r.
  std::span<const std::uint64_t> per_rank;
  /// Start of rank r's block in the buffer of all blocks (of pairs, in `out`), in elements; empty:
  /// blocks are contiguous.
  std::span<const std::uint64_t> displacements;
  /// The same for the pairs' other buffer, `in`: the block to rank r. A rank thus knows its own row
  /// and column of the counts, which is enough for a direct schedule.
  std::span<const std::uint64_t> in_per_rank{};
  std::span<const std::uint64_t> in_displacements{};
  /// Counts of the pairs whose blocks pass through the rank, if counts differ and the schedule is
  /// not direct (schedules/expansion/count_exchange.h).
  const PairCounts* passing = nullptr;
};

/// A region as runs of elements.
struct FlatRegion {
  Buffer buffer = Buffer::kNone;
  std::uint32_t first_extent = 0;  // into FlatProgram::extents
  std::uint32_t extent_count = 0;
  std::uint64_t elements = 0;  // sum of the extents' lengths with repeats
};

/// An operation of one rank; dst, a, b as in `Operation`, all of equal length. A copy without
/// regions is a join: it is complete when its dependences are.
struct FlatOperation {
  OperationKind kind = OperationKind::kSend;
  std::uint16_t phase = 0;
  std::uint32_t stream = 0;
  std::int32_t peer = -1;      // rank
  std::uint32_t tag = 0;       // unique among the messages of a pair of ranks; < tag_count
  std::uint32_t source = 0;    // index of the operation in the schedule
  std::uint32_t unrolled = 0;  // its index in the schedule with its loops unrolled
  std::uint32_t segment = 0;
  FlatRegion dst, a, b;
  std::uint32_t first_dependence = 0;  // into FlatProgram::dependences
  std::uint32_t dependence_count = 0;

  bool isJoin() const { return kind == OperationKind::kCopy && dst.elements == 0; }
};

/// A dropped operation is replaced, in the lists of its dependants, by its own dependences if there
/// are at most this many; with more it stays as a join.
inline constexpr std::size_t kMostPassed = 8;

/// The program of one rank for one call signature. Operations that are excluded by their guard or
/// that move nothing are dropped; dependences pass through them, or join.
struct FlatProgram {
  std::int32_t rank = 0;
  std::int32_t root = 0;                   // of the collective; 0 if it has none
  std::vector<FlatOperation> operations;   // dependences name earlier ones only
  std::vector<StridedExtent> extents;      // of all regions
  std::vector<RunLoop> loops;              // of all extents, shared; strides in elements
  std::vector<std::uint32_t> dependences;  // indices of operations
  std::uint64_t in_elements = 0;           // smallest size of `in`
  std::uint64_t out_elements = 0;          // smallest size of `out`, displacements included
  std::uint64_t scratch_elements = 0;
  std::uint32_t tag_count = 0;     // the same on all ranks
  bool synchronous_sends = false;  // kSynchronousSends

  /// The runs of a region one by one.
  ExtentRange extentsOf(const FlatRegion& region) const {
    return ExtentRange(stridedExtentsOf(region), loops);
  }
  std::span<const StridedExtent> stridedExtentsOf(const FlatRegion& region) const {
    return std::span(extents).subspan(region.first_extent, region.extent_count);
  }
  std::span<const RunLoop> loopsOf(const StridedExtent& extent) const {
    return std::span(loops).subspan(extent.first_loop, extent.loop_count);
  }
  std::span<const std::uint32_t> dependencesOf(const FlatOperation& operation) const {
    return std::span(dependences).subspan(operation.first_dependence, operation.dependence_count);
  }
};

/// Tags that the programs of `schedule` use: FlatProgram::tag_count, whatever the counts.
std::uint32_t tagCount(const ScheduleView& schedule);

/// kUnsupported unless `schedule`, whose blocks are of pairs, is direct: only such schedules can be
/// expanded for unequal counts from a rank's own counts.
Status checkServesLists(const ScheduleView& schedule);

/// The program of `rank` for a collective with the root `root` (0 if it has none). `schedule` has
/// passed `validate`. In an own-block buffer (`out` of a reduce_scatter, `in` of an allgather) the
/// block starts at element 0. With `in_place` (of ranks that may be in place, such as a rooted
/// collective's root) the own block has its place in the other buffer, and both buffers are one:
/// `in` of an allgather is the whole vector `out`. Errors: rank or root outside the topology;
/// per-rank tables of the wrong length; sizes that overflow 63 bits; unequal counts of pairs for a
/// schedule that is not direct without counts of the passing blocks; an own block with different
/// lengths in `in` and `out`.
StatusOr<FlatProgram> expand(const ScheduleView& schedule, std::int32_t rank, const Counts& counts,
                             bool in_place = false, std::int32_t root = 0);

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_EXPAND_H_
