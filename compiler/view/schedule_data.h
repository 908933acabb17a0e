// Data of a schedule for the page of `torc view`: operations, proof, and predicted runs.
#ifndef TORC_COMPILER_VIEW_SCHEDULE_DATA_H_
#define TORC_COMPILER_VIEW_SCHEDULE_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>
#include <nlohmann/json.hpp>

#include "ir/program.h"
#include "model/machines/machine.h"
#include "schedules/loops/unroll.h"
#include "schedules/schedule.h"

namespace torc::compiler {

/// Limit of operations that a page shows, with loops and segments unrolled.
inline constexpr std::uint64_t kMostViewedOperations = 200'000;

/// A schedule that has passed `validate`, and its form with unrolled loops, whose operations the
/// page counts.
struct ViewedSchedule {
  std::string file;  // as the user wrote it
  ir::Program program;
  UnrolledLoops unrolled;  // empty without loops
  std::string text;        // the author's; empty: the page has the printed one

  ScheduleView written() const { return program.schedule.view(); }
  bool hasLoops() const { return !program.schedule.loops.empty(); }
  ScheduleView view() const { return hasLoops() ? unrolled.schedule.view() : written(); }
  /// The corresponding operation of the text.
  std::uint32_t sourceOf(std::uint32_t operation) const {
    return hasLoops() ? unrolled.operations[operation] : operation;
  }
};

/// An error if there are more operations than a page shows.
llvm::Expected<ViewedSchedule> viewedSchedule(std::string file, ir::Program program,
                                              std::string text = {});

/// Topology, colors, operations, text.
nlohmann::ordered_json scheduleData(const ViewedSchedule& schedule);

/// The verifier's result, and loads of links as exact fractions.
nlohmann::ordered_json proofData(const ViewedSchedule& schedule);

/// The results of operations in blocks, from the proof, at the representative nodes of a
/// simulation. Null for segments, or beyond the limits.
nlohmann::ordered_json writesData(const ViewedSchedule& schedule,
                                  llvm::ArrayRef<std::int32_t> ranks);

/// One simulation for each of `sizes` on `machine`. Runs with too many events for a page have only
/// the sums. A schedule without a simulation has a `fault` instead.
nlohmann::ordered_json runsData(const ViewedSchedule& schedule, const model::Machine& machine,
                                llvm::ArrayRef<std::uint64_t> sizes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_SCHEDULE_DATA_H_
