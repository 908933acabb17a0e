// The part of validate.h that checks the regions of operations. The nodes that execute an operation
// form, on every axis, a cyclic range: its guard. So conditions on "all executing nodes" are
// checked axis by axis.
#ifndef TORC_SCHEDULES_VALIDATION_VALIDATE_REGIONS_H_
#define TORC_SCHEDULES_VALIDATION_VALIDATE_REGIONS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "schedules/neighbours.h"
#include "schedules/piece_search.h"
#include "schedules/schedule.h"
#include "schedules/validation/validate_operations.h"

namespace torc {

/// The base of the class that checks operations.
class RegionValidator {
 public:
  /// `schedule` must outlive it; see validateOperations().
  RegionValidator(const ScheduleView& schedule, std::uint32_t part_count, NamedBlocks named);

  /// Pieces of frames examined so far, besides those that regions name.
  std::uint64_t pieceChecks() const { return search_.checks() + reach_checks_; }

 protected:
  void checkRegions(const Operation& operation);
  /// Checks that the coordinates from `start` to before `end` of each executing node stay inside.
  void checkReach(std::uint32_t axis, std::int64_t start, std::int64_t end) const;
  std::uint32_t size(std::uint32_t axis) const { return topology_.axes[axis].size; }
  char axisName(std::uint32_t axis) const { return topology_.axes[axis].name; }

  const ScheduleView& schedule_;
  const Topology& topology_;
  Ranges guard_{};  // coordinates of the nodes that execute the current operation

 private:
  void checkRegion(const Operation& operation, const Region& region, bool wanted);
  void checkBuffer(const Operation& operation, const Region& region);
  bool isAtRoot(const Operation& operation) const;
  void checkOwnBlock(std::uint32_t box, std::uint32_t end);
  void checkNeighboursBlock(std::uint32_t box, const Way& way);
  void checkFrame(const Region& region);
  void checkIntervals(const Operation& operation, std::uint32_t box);
  void checkFrameOnMesh(std::uint32_t frame);
  void checkSameBlocks(const Region& first, const Region& second);
  void checkStaging(const Operation& operation);

  std::uint32_t slot(const Region& region) const { return schedule_.frames[region.frame].slot; }
  /// "X"; for blocks of pairs, "X of the source".
  std::string blockAxisName(std::uint32_t axis) const {
    std::string name(1, axisName(axes_.nodeAxis(axis)));
    if (axes_.ends() == 2) {
      name += axis < axes_.nodeAxes() ? " of the source" : " of the destination";
    }
    return name;
  }

  const std::uint32_t part_count_;
  NamedBlocks named_;  // so far
  PieceSearch search_;

  /// Reach of the relative intervals of a frame's pieces from a node along the axes that do not
  /// wrap: from `start` to before `end`.
  struct Reach {
    bool known = false;
    std::array<std::int64_t, kMaxAxes> start{}, end{};
  };
  const BlockAxes axes_;
  std::vector<Reach> reaches_;  // by frame, computed on first use
  std::uint64_t reach_checks_ = 0;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_VALIDATION_VALIDATE_REGIONS_H_
