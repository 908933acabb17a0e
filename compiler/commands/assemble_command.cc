// torc assemble FILE: makes a proved file of a user's schedule in text or JSON.
#include <chrono>
#include <string>

#include <llvm/Support/raw_ostream.h>

#include "compiler/commands/commands.h"
#include "compiler/proved_file.h"
#include "ir/make_error.h"
#include "ir/text/text.h"
#include "ir/verifier/verifier.h"

namespace torc::compiler {
namespace assemble_command {

using namespace options;

int run();
Command command("assemble", "prove a schedule in text form or JSON, and write its file", run,
                "torc assemble a.txt -o b.torc");
Text input{command, kFileRow};
Text output{command, {kOutput, "output,o", "FILE", "The schedule file; default: FILE with .torc"}};
Flag quiet{command, kQuietRow};

/// The faults of a schedule, each with its operation.
llvm::Error faultsOf(const Input& source, const ir::VerifyResult& proof, llvm::StringRef origin) {
  std::string text;
  for (const ir::Fault& fault : proof.faults) {
    if (!text.empty()) text += '\n';
    const std::string what = (ir::name(fault.rule) + ": " + fault.message).str();
    if (fault.operation < source.operations.size()) {
      text += ir::located(source.text, origin, source.operations[fault.operation],
                          "op %" + std::to_string(fault.operation) + ": " + what);
    } else if (fault.operation != kNone) {
      text += (origin + ": /operations/" + llvm::Twine(fault.operation) + ": " + what).str();
    } else {
      text += (origin + ": error: ").str() + what;
    }
  }
  return makeError(text);
}

int run() {
  if (input.empty()) wrongUsage("assemble: which file? - is stdin");
  if (output.empty() && input == "-") {
    wrongUsage("assemble: where to? -o FILE names the file to write");
  }
  const auto start = std::chrono::steady_clock::now();
  const std::string origin = input == "-" ? "<stdin>" : std::string(input);
  const Input source = orInputFault(readInput(input));
  if (source.kind == InputKind::kFile) {
    return inputFault(
        makeError(origin + ": is a schedule file already (torc verify proves it again)"));
  }
  if (source.isPlan()) {
    return inputFault(makeError(origin + ": is a plan, not steps (torc opt --passes=" +
                                std::string(source.program.expander()) + " makes steps of it)"));
  }
  const ScheduleView schedule = source.view();
  if (const ir::VerifyResult proof = ir::verify(schedule); !proof.ok()) {
    return inputFault(faultsOf(source, proof, origin));
  }
  const ProvedFile file = orInputFault(provedFile(schedule));
  const std::string path = output.empty() ? besideInput(input, "torc") : output;
  orInputFault(writeOutput(path, file.text()));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (!quiet) printSummary(schedule, file.bytes.size(), elapsed.count());
  return kSuccess;
}

}  // namespace assemble_command

options::Command& kAssembleCommand = assemble_command::command;

}  // namespace torc::compiler
