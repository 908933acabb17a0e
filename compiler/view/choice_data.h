// Data for the page of `torc view` on the origin of a schedule: the candidates, and the program
// after each pass.
#ifndef TORC_COMPILER_VIEW_CHOICE_DATA_H_
#define TORC_COMPILER_VIEW_CHOICE_DATA_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>
#include <nlohmann/json.hpp>

#include "compiler/choice/choice.h"
#include "compiler/progress_line.h"
#include "compiler/spec/collective_spec.h"
#include "model/machines/machine.h"
#include "schedules/schedule.h"

namespace torc::compiler {

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

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_CHOICE_DATA_H_
