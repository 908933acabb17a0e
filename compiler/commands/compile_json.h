// What `torc compile --json` prints: docs/users/cli.md has the keys.
#ifndef TORC_COMPILER_COMMANDS_COMPILE_JSON_H_
#define TORC_COMPILER_COMMANDS_COMPILE_JSON_H_

#include <cstdint>
#include <string>

#include <llvm/ADT/StringRef.h>
#include <nlohmann/json.hpp>

#include "compiler/choice/choice.h"
#include "compiler/compile.h"
#include "compiler/spec/collective_spec.h"
#include "model/machines/machine.h"
#include "schedules/schedule.h"

namespace torc::compiler {

/// Every key is there from the beginning, null until something is added; only candidates and what
/// was left out are there where they are asked for.
class CompileResult {
 public:
  CompileResult(const CollectiveSpec& spec, const model::Machine& machine);

  /// What was chosen for a vector of `bytes`; with `explain`, from what, which may be nothing that
  /// can be compiled.
  void addChoice(const Choice& choice, const CollectiveSpec& spec, const model::Machine& machine,
                 std::uint64_t bytes, const ChoiceLimits& limits, bool explain);
  void addAlgorithm(const Algorithm& algorithm, const PipelineOptions& options);
  /// The file of the schedule, in a form as --emit calls them.
  void addFile(const ScheduleView& schedule, llvm::StringRef name, llvm::StringRef form,
               llvm::StringRef bytes);

  std::string text() const;

 private:
  nlohmann::ordered_json document_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMANDS_COMPILE_JSON_H_
