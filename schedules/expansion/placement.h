// Placement: where the blocks of a region lie in memory, for one rank and one
// call signature.
//
// Part-major buffers nest: color by weight, direction, chunk, then the axes in
// the color's order, each cut by floor partition; a region that fixes the
// leading axes is one run. Block-major buffers hold rank r's block at its
// displacement, with the parts inside. A scratch frame packs its pieces one after
// the other, each in the color's axis order. Every region is enumerated in that
// order, on every rank alike, so that sender and receiver mean the same elements.
// Parts in a row that a piece has lie one after the other in a part-major
// collective; in a block-major one they are one run in every block.
#ifndef TORC_SCHEDULES_EXPANSION_PLACEMENT_H_
#define TORC_SCHEDULES_EXPANSION_PLACEMENT_H_

#include <cstdint>
#include <vector>

#include "schedules/expansion/expand.h"
#include "schedules/expansion/partition.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc {

class Placement {
 public:
  /// `schedule` and the tables of `counts` must outlive the placement.
  Placement(const ScheduleView& schedule, std::int32_t rank, const Counts& counts, bool in_place);

  /// Sums up the counts and lays the scratch slots out. Call first.
  Status prepare();

  /// Appends the runs of `region` to `extents`, adjacent ones merged, empty
  /// ones left out; returns their elements.
  std::uint64_t append(const Region& region, std::vector<Extent>& extents);

  /// Appends the elements of every block of `region` that has any, in the order of its runs: the
  /// same list for the regions at both ends of a message, however they lie in memory.
  void appendBlocks(const Region& region, std::vector<std::uint64_t>& elements) const;

  std::uint64_t inElements() const { return in_elements_; }
  std::uint64_t outElements() const { return out_elements_; }
  std::uint64_t scratchElements() const { return scratch_elements_; }

 private:
  /// What lies in one go in a frame: blocks of parts that lie together in every block.
  struct PlacedPiece {
    std::uint32_t part = 0, parts = 1;
    Ranges ranges{};
    std::uint64_t offset = 0;  // elements, within the frame
    std::uint64_t elements = 0;
    std::vector<std::uint64_t> prefix{};  // elements before each block; made when first needed
  };
  struct PlacedFrame {
    std::vector<PlacedPiece> pieces;
    std::uint64_t offset = 0;  // elements, of the slot within scratch
    std::uint64_t elements = 0;
    std::size_t last = 0;  // piece found last
  };

  bool uniform() const { return counts_.per_rank.empty(); }
  Status prepareBlocks();
  Status prepareFrames();
  std::uint64_t blockCount(std::int32_t rank) const;
  std::uint64_t blockOffset(std::int32_t rank) const;
  bool isWhole(Buffer buffer) const;

  Extent partMajorBlock(std::uint32_t part, const Coordinates& at) const;
  std::uint64_t blockElements(const PlacedPiece& piece, const Coordinates& at) const;
  void placePiece(PlacedFrame& frame, PlacedPiece piece);
  void makePrefix(PlacedPiece& piece) const;

  /// Calls `visit(part, parts, ranges)` for what of `blocks` (a region or a frame) is enumerated
  /// in one go.
  template <typename Blocks, typename Visit>
  void forEachRun(const Blocks& blocks, Visit visit) const;
  // Extents from index `first` on are of the same region: what touches is joined.
  void appendPartMajor(std::uint32_t part, const Ranges& ranges, std::size_t first,
                       std::vector<Extent>& out) const;
  void appendBlockMajor(Buffer buffer, std::uint32_t part, std::uint32_t parts,
                        const Ranges& ranges, std::size_t first, std::vector<Extent>& out) const;
  void appendScratch(std::uint32_t frame, std::uint32_t part, std::uint32_t parts,
                     const Ranges& ranges, std::size_t first, std::vector<Extent>& out);

  const ScheduleView& schedule_;
  const Counts counts_;
  const std::int32_t rank_;
  const bool in_place_;
  const CollectiveRow& row_;
  Coordinates at_{};
  PartTable parts_;
  std::vector<std::uint64_t> displacements_;  // per-rank counts without displacements
  std::vector<PlacedFrame> frames_;
  std::uint64_t in_elements_ = 0, out_elements_ = 0, scratch_elements_ = 0;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_PLACEMENT_H_
