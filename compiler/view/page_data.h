// Data for the pages of `torc view`.
#ifndef TORC_COMPILER_VIEW_PAGE_DATA_H_
#define TORC_COMPILER_VIEW_PAGE_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>
#include <nlohmann/json.hpp>

#include "compiler/choice/choice.h"
#include "compiler/library/manifest.h"
#include "compiler/progress_line.h"
#include "compiler/spec/collective_spec.h"
#include "ir/program.h"
#include "model/machines/machine.h"
#include "schedules/expansion/expand.h"
#include "schedules/loops/unroll.h"
#include "schedules/schedule.h"

namespace torc::compiler {

// A schedule: operations, proof, and predicted runs.

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

// Its origin: the candidates, and the program after each pass.

/// The output of `torc compile --explain`, as JSON (docs/users/cli.md): the bound, the reason (null
/// where nothing can be compiled), the candidates, the chosen one first, and all that was left out.
nlohmann::ordered_json choiceData(const Choice& choice, const CollectiveSpec& spec,
                                  const model::Machine& machine, std::uint64_t bytes,
                                  const ChoiceLimits& limits);

/// The output of `torc compile --explain` for each of `sizes`; the candidate that `producer` names
/// has `is_of_file`. Errors: no candidate can be compiled.
llvm::Expected<nlohmann::ordered_json> choicesData(const CollectiveSpec& spec,
                                                   const model::Machine& machine,
                                                   llvm::ArrayRef<std::uint64_t> sizes,
                                                   llvm::StringRef producer, Progress& progress);

/// The text after each pass that the producer of `schedule` names, and before the first. Errors:
/// this torc did not make the schedule.
llvm::Expected<nlohmann::ordered_json> passesData(const ScheduleView& schedule);

/// Prints the candidates with their predicted times, all that is left out, and the reason for the
/// first.
void printChoice(const Choice& choice, const CollectiveSpec& spec, const model::Machine& machine,
                 std::uint64_t bytes, const ChoiceLimits& limits, llvm::raw_ostream& out);

// Others.

/// Its shapes, each with the schedules per collective and range of sizes, and their predicted or,
/// if tuned, measured times.
nlohmann::ordered_json libraryData(const Library& library);

/// The CSV file `path`: names of columns, and rows of numbers, texts and null for empty cells.
/// Cells are not quoted. Errors name the line: `a.csv:3:1: error: has 2 cells, and the first line
/// 5`.
llvm::Expected<nlohmann::ordered_json> tableData(llvm::StringRef path);

/// The operations of one rank, also for `torc dump --rank --json`.
nlohmann::ordered_json rankData(const FlatProgram& program);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_PAGE_DATA_H_
