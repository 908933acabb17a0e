// Placement: the memory layout of a region's blocks, for one rank and one call signature.
//
// Part-major buffers nest: color by weight, direction, chunk, then the axes in the color's order,
// each cut by floor division; a region that fixes the leading axes is one run. Block-major buffers
// hold rank r's block at its displacement, with the parts inside. A scratch frame packs its pieces
// contiguously, each in the color's axis order. Every region is enumerated in that order on every
// rank, so that sender and receiver agree on the elements. Consecutive parts of a piece are
// contiguous in a part-major collective; in a block-major one they are one run in every block.
#ifndef TORC_SCHEDULES_EXPANSION_PLACEMENT_H_
#define TORC_SCHEDULES_EXPANSION_PLACEMENT_H_

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedules/expansion/block_places.h"
#include "schedules/expansion/expand.h"
#include "schedules/expansion/grid.h"
#include "schedules/expansion/shares.h"
#include "schedules/expansion/strided.h"
#include "schedules/piece_search.h"
#include "schedules/root.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc {

/// Calls `visit(coordinates)` for every block of `ranges`, the axes of `order` nested, the first
/// slowest, each from its start cyclically.
template <typename Visit>
void forEachBlock(const BlockAxes& axes, std::span<const std::uint8_t> order, std::uint32_t depth,
                  const BlockRanges& ranges, Visit visit) {
  std::array<std::uint32_t, kMaxBlockAxes> step{};
  BlockCoordinates at{};
  for (std::uint32_t i = 0; i < axes.count(); ++i) {
    at[i] = static_cast<std::int32_t>(ranges[i].start);
  }
  while (true) {
    visit(at);
    std::uint32_t level = depth;
    while (level > 0) {
      const std::uint32_t axis = order[level - 1];
      if (++step[level - 1] < ranges[axis].length) {
        at[axis] = at[axis] + 1 == static_cast<std::int32_t>(axes.size(axis)) ? 0 : at[axis] + 1;
        break;
      }
      step[level - 1] = 0;
      at[axis] = static_cast<std::int32_t>(ranges[axis].start);
      --level;
    }
    if (level == 0) return;
  }
}

inline Status tooManyElements(const std::string& of) {
  return Status(StatusCode::kOverflow, "the elements " + of + " do not fit 63 bits");
}

class Placement {
 public:
  /// `rooted` and the tables of `counts` must outlive the placement. `in_place`: `in` and `out` are
  /// one buffer of all blocks; one of the two is its own block.
  Placement(const RootedSchedule& rooted, std::int32_t rank, const Counts& counts, bool in_place);

  /// Sums up the counts and assigns offsets to the scratch slots. Call first.
  Status prepare();

  /// Sets the coordinates of the peer, for regions of a loop over peers.
  void setPeer(const Coordinates& peer) { peer_at_ = peer; }
  /// Sets the segment of later regions; initially the first.
  void setSegment(std::uint32_t segment);

  /// Appends the runs of `region` to `extents`, their loops to `loops`, in the fewest extents;
  /// returns their elements. `guard` belongs to the operation (ScheduleView::guardRanges).
  std::uint64_t append(const Region& region, const Ranges& guard,
                       std::vector<StridedExtent>& extents, std::vector<RunLoop>& loops);

  /// Elements of `region` in a segment, if all ranks have one count; needs no prepare().
  std::uint64_t elementsOf(const Region& region, std::uint32_t segment);

  /// Number of non-empty blocks of `region`, if all ranks have one count.
  std::uint64_t blocksOf(const Region& region) const;
  /// Appends the elements of every non-empty block of `region`, in the order of its runs. Both ends
  /// of a message get the same list, whatever their layouts.
  void appendBlocks(const Region& region, std::vector<std::uint64_t>& elements) const;

  /// Calls `visit` for every non-empty block of pairs in a frame: its source and destination ranks,
  /// and its first element in scratch.
  void visitFrames(const std::function<void(std::int32_t source, std::int32_t destination,
                                            std::uint64_t first_element)>& visit) const;

  std::uint64_t inElements() const { return in_elements_; }
  std::uint64_t outElements() const { return out_elements_; }
  std::uint64_t scratchElements() const { return scratch_elements_; }

 private:
  /// Blocks of parts that are enumerated together.
  struct Run {
    std::uint32_t part = 0, parts = 1;
    BlockRanges ranges{};
  };
  /// Elements before each block of a run, indexed by the leading `depth` axes of its color.
  struct Prefix {
    std::uint32_t depth = 0;
    std::vector<std::uint64_t> before;
  };

  /// A subset of a packed run.
  struct Inside {
    const Run& inner;
    const Run& outer;
    std::uint64_t base;   // begin of the packed run
    bool all_parts;       // all parts of the blocks are taken
    std::uint32_t depth;  // blocks that differ only on axes behind it are contiguous
    BlockRanges ranges;   // blocks of `inner`, relative to `outer`
  };

  bool uniform() const { return blocks_.alike(); }
  bool hasGapsOfPairs() const {
    return axes_.ends() == 2 && schedule_.topology.dead_node_count > 0;
  }
  /// Of neighbours: `in` has one block for all, without displacements.
  bool sendsOneBlock() const { return row_.in == Holds::kOwn && counts_.in_per_rank.empty(); }
  // These throw a Status, which prepare() returns.
  void prepareBlocks();
  void preparePairs();
  void prepareNeighbours();
  void prepareFrames();
  void measureFrames();
  void layGrid(std::uint32_t end, Grid& grid) const;
  Extent partsOf(std::uint32_t part, std::uint32_t parts, const Extent& whole) const;
  bool isWhole(Buffer buffer) const;

  /// The block axes in the order of the part's color, the slowest first: source axes before
  /// destination axes.
  std::span<const std::uint8_t> orderOf(std::uint32_t part) const {
    return std::span(orders_[parts_.index(part).color]).first(axes_.count());
  }
  /// Axes of the part's color up to the last one that `ranges` restrict.
  std::uint32_t restrictedDepth(std::uint32_t part, const BlockRanges& ranges) const;
  /// The extent of the blocks at `at` within `extent`, the part's share of the vector; `at` indexes
  /// `depth` axes.
  Extent partMajorBlock(Extent extent, std::uint32_t part, const BlockCoordinates& at,
                        std::uint32_t depth) const;
  /// Elements of all parts of the block at `at`, of a block-major collective.
  std::uint64_t blockCount(const BlockCoordinates& at) const;
  std::uint64_t blockElements(const Run& run, const BlockCoordinates& at,
                              std::uint32_t depth) const;
  std::uint64_t elementsOf(const Run& run) const;
  const Prefix& prefixOf(std::uint64_t place, const Run& run, std::uint32_t depth);
  std::uint64_t partOffset(std::uint32_t piece, const Run& outer, std::uint32_t part);

  /// Calls `visit(run)` for the runs of a piece.
  template <typename Visit>
  void forEachRun(const Piece& piece, Visit visit) const;
  /// Number of blocks over the axes of `order`.
  std::uint64_t sitesOf(std::span<const std::uint8_t> order) const;
  void appendPartMajor(const Run& run, ExtentWriter& out) const;
  BlockRanges rangesOfSites(BlockRanges ranges) const;
  void appendBlockMajor(Buffer buffer, const Run& run, ExtentWriter& out) const;
  void appendNeighbours(Buffer buffer, const Run& run, ExtentWriter& out) const;
  void appendScratch(const Region& region, const Ranges& guard, ExtentWriter& out);
  void appendInside(const Run& inner, const Run& outer, std::uint64_t place, std::uint64_t base,
                    ExtentWriter& out);
  std::uint32_t stepsInto(const Run& outer, std::uint32_t axis, std::int64_t at) const;
  void appendEqualRows(const Inside& inside, ExtentWriter& out) const;
  void appendEqualBlocks(const Inside& inside, ExtentWriter& out) const;
  void appendByPrefix(const Inside& inside, std::uint64_t place, ExtentWriter& out);

  const RootedSchedule& rooted_;
  const ScheduleView& schedule_;
  const Counts counts_;
  const std::int32_t rank_;
  const bool in_place_;
  const CollectiveRow& row_;
  const BlockAxes axes_;
  Coordinates at_{};
  Coordinates peer_at_{};
  PartTable parts_;
  std::vector<std::array<std::uint8_t, kMaxBlockAxes>> orders_;  // by color
  // Positions are sites: blocks are in the order of ranks; of pairs, by the other node.
  Grid in_sites_, out_sites_;
  PieceSearch search_;
  BlockPlaces blocks_;     // of all ranks; of pairs and neighbours, the blocks in `out`
  BlockPlaces in_blocks_;  // of pairs and neighbours, the blocks in `in`
  std::uint32_t segment_ = 0;
  std::vector<std::uint64_t> slot_offsets_;  // in the first copy of the window
  std::uint64_t window_elements_ = 0;        // of one copy
  std::vector<std::uint64_t> frame_offsets_, frame_elements_;
  /// Elements of the pieces in frames before each piece of the schedule's table, then their sum;
  /// empty if frames have no lists.
  std::vector<unsigned __int128> piece_offsets_;
  // Made on first use; keyed by piece and part number, or by frame.
  std::unordered_map<std::uint64_t, Prefix> prefixes_;
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> part_offsets_;
  std::uint64_t in_elements_ = 0, out_elements_ = 0, scratch_elements_ = 0;
};

template <typename Visit>
void Placement::forEachRun(const Piece& piece, Visit visit) const {
  Run run{piece.part, piece.parts, schedule_.blocksOf(piece.box, at_, peer_at_)};
  if (row_.layout == Layout::kBlockMajor) return visit(run);
  run.parts = 1;
  for (; run.part < piece.part + piece.parts; ++run.part)
    visit(run);
}

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_PLACEMENT_H_
