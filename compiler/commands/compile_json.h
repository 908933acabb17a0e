// The output of `torc compile --json`: docs/users/cli.md lists the keys.
#ifndef TORC_COMPILER_COMMANDS_COMPILE_JSON_H_
#define TORC_COMPILER_COMMANDS_COMPILE_JSON_H_

#include <cstdint>

#include <llvm/ADT/StringRef.h>

#include "compiler/choice/choice.h"
#include "compiler/compile.h"
#include "compiler/report.h"
#include "compiler/spec/collective_spec.h"
#include "model/machines/machine.h"
#include "schedules/schedule.h"

namespace torc::compiler {

/// All keys, null until their value is added; candidates and left-out options exist only on
/// request.
Json compileResult(const CollectiveSpec& spec, const model::Machine& machine);
/// Adds the choice for a vector of `bytes`; with `explain`, also the candidates, perhaps none that
/// can be compiled.
void addChoice(Json& result, const Choice& choice, const CollectiveSpec& spec,
               const model::Machine& machine, std::uint64_t bytes, const ChoiceLimits& limits,
               bool explain);
void addAlgorithm(Json& result, const Algorithm& algorithm, const PipelineOptions& options);
/// Adds the file of the schedule; `form` is a value of --emit.
void addFile(Json& result, const ScheduleView& schedule, llvm::StringRef name, llvm::StringRef form,
             llvm::StringRef bytes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMANDS_COMPILE_JSON_H_
