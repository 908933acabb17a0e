// What the page of `torc view` shows of a schedule: itself, its proof, and what it is predicted to
// do.
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

/// Operations that a page shows, at most, loops and segments written out.
inline constexpr std::uint64_t kMostViewedOperations = 200'000;

/// A schedule that has passed `validate`, and the same with its loops written out: the page counts
/// operations there.
struct ViewedSchedule {
  std::string file;  // as the user calls it
  ir::Program program;
  UnrolledLoops unrolled;  // empty where there are no loops

  ScheduleView written() const { return program.schedule.view(); }
  bool hasLoops() const { return !program.schedule.loops.empty(); }
  ScheduleView view() const { return hasLoops() ? unrolled.schedule.view() : written(); }
  /// The operation of the text.
  std::uint32_t sourceOf(std::uint32_t operation) const {
    return hasLoops() ? unrolled.operations[operation] : operation;
  }
};

/// Errors: more operations than a page shows.
llvm::Expected<ViewedSchedule> viewedSchedule(std::string file, ir::Program program);

/// Topology, colors, operations, text.
nlohmann::ordered_json scheduleData(const ViewedSchedule& schedule);

/// What the verifier says, and loads of links as exact fractions.
nlohmann::ordered_json proofData(const ViewedSchedule& schedule);

/// What operations leave in blocks, as the proof went through them, seen from the nodes that stand
/// for all in a simulation. Null where it did not: of segments, or where there is too much.
nlohmann::ordered_json writesData(const ViewedSchedule& schedule,
                                  llvm::ArrayRef<std::int32_t> ranks);

/// One simulation for each of `sizes` on `machine`. Of those that have too many events for a page,
/// only the sums. A schedule that cannot be simulated has a `fault` in their place.
nlohmann::ordered_json runsData(const ViewedSchedule& schedule, const model::Machine& machine,
                                llvm::ArrayRef<std::uint64_t> sizes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_SCHEDULE_DATA_H_
