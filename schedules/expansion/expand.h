// Expansion: the flat program of one rank. Peers become ranks, regions become
// runs of elements, dependences become indices. Used by the runtime, by `torc dump --rank`, by
// `torc verify --count`, by the simulator where it goes rank by rank, and by the tests that run on
// numbers what the verifier has proved of blocks.
//
// Bounds. With one count for all ranks a program is as large as its schedule:
// a box is one strided run, whatever the number of nodes. (Not so where blocks
// differ in size by the rounding of a vector's shares, or where dead nodes
// interrupt a box: there what is apart is listed.) Dependences are at most
// kMostPassed times those of the schedule. Of a schedule in segments all this is
// the size of one, times the segments.
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

/// How many elements a call moves. Either `count` alone, or one entry per rank; of neighbours, one
/// for each of them, as MPI orders them.
struct Counts {
  /// Elements of the vector or, where ranks have blocks, of every block; of a neighbor_allgather
  /// those of the one block in `in`, where that has no list.
  std::uint64_t count = 0;
  /// Where ranks have blocks, in place of `count`: elements of rank r's block; of pairs, of the one
  /// from rank r.
  std::span<const std::uint64_t> per_rank;
  /// Where rank r's block starts in the buffer of all blocks (of pairs, in `out`), in elements;
  /// empty: blocks follow one another.
  std::span<const std::uint64_t> displacements;
  /// The same of the pairs' other buffer, `in`: the block to rank r. What a rank is told of pairs
  /// is this and that, its own row and its own column: a direct schedule needs no more.
  std::span<const std::uint64_t> in_per_rank{};
  std::span<const std::uint64_t> in_displacements{};
  /// Of pairs whose counts differ, where others forward blocks: those that pass through the rank
  /// (schedules/expansion/count_exchange.h).
  const PairCounts* passing = nullptr;
};

/// A region as runs of elements.
struct FlatRegion {
  Buffer buffer = Buffer::kNone;
  std::uint32_t first_extent = 0;  // into FlatProgram::extents
  std::uint32_t extent_count = 0;
  std::uint64_t elements = 0;  // sum of the extents' lengths, repeats counted
};

/// An operation of one rank; dst, a, b as in `Operation`, all of equal length. One that moves
/// nothing is a join: a copy without regions, complete when what it depends on is.
struct FlatOperation {
  OperationKind kind = OperationKind::kSend;
  std::uint16_t phase = 0;
  std::uint32_t stream = 0;
  std::int32_t peer = -1;      // rank
  std::uint32_t tag = 0;       // unique among the messages of a pair of ranks; < tag_count
  std::uint32_t source = 0;    // index of the operation in the schedule
  std::uint32_t unrolled = 0;  // the same in the schedule with its loops written out
  std::uint32_t segment = 0;
  FlatRegion dst, a, b;
  std::uint32_t first_dependence = 0;  // into FlatProgram::dependences
  std::uint32_t dependence_count = 0;

  bool isJoin() const { return kind == OperationKind::kCopy && dst.elements == 0; }
};

/// An operation that is gone is replaced, in the lists of those that depend on it, by what it
/// depended on, up to this many operations; one that depended on more stays as a join.
inline constexpr std::size_t kMostPassed = 8;

/// What one rank executes for one call signature. Operations that its guard
/// excludes or that move nothing are gone; dependences through them are drawn
/// through, or join.
struct FlatProgram {
  std::int32_t rank = 0;
  std::int32_t root = 0;                   // of the collective; 0 where it has none
  std::vector<FlatOperation> operations;   // every dependence names an earlier one
  std::vector<StridedExtent> extents;      // of all regions
  std::vector<RunLoop> loops;              // of all extents, which share them; strides in elements
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

/// Whether `schedule`, which is of pairs, can be expanded for counts that differ by what a rank is
/// told alone: kUnsupported where it is not direct.
Status checkServesLists(const ScheduleView& schedule);

/// The program of `rank` for a collective whose root is the rank `root` (0 where it has none).
/// `schedule` has passed `validate`. In an own-block
/// buffer (`out` of a reduce_scatter, `in` of an allgather) the block starts at
/// element 0; when `in_place` is set, which counts for ranks that may be in place (a rooted
/// collective's root), the own block lies at its place in the other buffer where the collective
/// says so, and both are one: `in` of an allgather is the whole vector `out`. Errors: rank or root
/// outside the topology, per-rank tables of the wrong length, sizes that overflow 63 bits; counts
/// of pairs that differ, a schedule that is not direct and no counts of what passes, or an own
/// block that is not as long in `in` as in `out`.
StatusOr<FlatProgram> expand(const ScheduleView& schedule, std::int32_t rank, const Counts& counts,
                             bool in_place = false, std::int32_t root = 0);

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_EXPAND_H_
