// Schedule: a loaded schedule bound to a geometry.
#ifndef TORC_RUNTIME_JOB_BOUND_SCHEDULE_H_
#define TORC_RUNTIME_JOB_BOUND_SCHEDULE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/api/torc.h"
#include "runtime/job/geometry.h"
#include "runtime/non_copyable.h"
#include "schedules/format/file.h"
#include "schedules/schedule.h"
#include "support/status.h"

struct torc_schedule : torc::runtime::NonCopyable {
  explicit torc_schedule(torc_geometry* owner) : geometry(owner) { ++geometry->schedules; }
  ~torc_schedule() { --geometry->schedules; }

  /// Local: binds `file`, which may serve other geometries too, to `geometry`, and gives it that
  /// geometry's order of ranks (torc_geometry::topologyFor). Errors: kMismatch, another torus.
  static torc::StatusOr<std::unique_ptr<torc_schedule>> bind(
      torc_geometry* geometry, std::shared_ptr<const torc::LoadedSchedule> file);

  const torc::ScheduleView& view() const { return view_; }
  /// Scratch bytes of a call on `bytes` bytes, the same on all ranks: the schedule's share of
  /// `bytes`, plus less than an element for each slot.
  double scratchBytes(std::uint64_t bytes);
  /// ScheduleView::sumsWhole.
  bool sumsWhole();
  /// Whether the communicator's ranks are in the order in which the schedule was compiled, as
  /// prefixes require.
  bool isInRankOrder() const {
    return torc::runtime::isInRankOrder(geometry->map, view_.topology, file->view().topology);
  }

  torc_geometry* geometry;
  std::shared_ptr<const torc::LoadedSchedule> file;
  std::uint32_t tag_count = 0;  // of each call
  std::uint64_t serial = 0;     // the same on all ranks of the geometry
  // Zero-terminated copies for the C API.
  std::string name, producer, shape;
  int collectives = 0;
  // The longest vector, in bytes, for which all ranks of the geometry had enough memory.
  std::uint64_t bytes_had = 0;

 private:
  torc::ScheduleView view_;
  std::optional<double> scratch_share_;  // of the vector; computed on first use
  std::optional<bool> sums_whole_;       // likewise
};

#endif  // TORC_RUNTIME_JOB_BOUND_SCHEDULE_H_
