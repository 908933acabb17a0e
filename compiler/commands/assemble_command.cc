// torc assemble FILE: makes a proved file of a user's schedule in text or JSON.
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include <llvm/Support/raw_ostream.h>

#include "compiler/commands/commands.h"
#include "compiler/proved_file.h"
#include "compiler/rows.h"
#include "compiler/tool.h"
#include "ir/json/json.h"
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

/// A parsed text, with the places of its operations.
struct Source {
  std::string text;
  ir::Program program;
  std::vector<std::size_t> operations;  // offsets; empty for JSON
};

llvm::Expected<Source> readSource(llvm::StringRef origin) {
  Source source;
  llvm::Expected<std::string> bytes = readBytes(input);
  if (!bytes) return bytes.takeError();
  source.text = std::move(*bytes);
  const auto refuse = [&](const llvm::Twine& what) { return makeError(origin + ": " + what); };
  if (isScheduleFile(std::as_bytes(std::span(source.text)))) {
    return refuse("is a schedule file already (torc verify proves it again)");
  }
  if (llvm::StringRef(source.text).ltrim().starts_with("{")) {
    llvm::Expected<Schedule> schedule = ir::readJson(source.text, origin);
    if (!schedule) return schedule.takeError();
    source.program.schedule = std::move(*schedule);
  } else {
    llvm::Expected<ir::Program> program = ir::parseProgram(source.text, origin, &source.operations);
    if (!program) return program.takeError();
    source.program = std::move(*program);
  }
  if (source.program.isPlan()) {
    return refuse("is a plan, not steps (torc opt --passes=" +
                  std::string(source.program.expander()) + " makes steps of it)");
  }
  return source;
}

/// The faults of a schedule, each with its operation.
llvm::Error faultsOf(const Source& source, const ir::VerifyResult& proof, llvm::StringRef origin) {
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
  if (input.empty()) return wrongUsage("assemble: which file? - is stdin");
  if (output.empty() && input == "-") {
    return wrongUsage("assemble: where to? -o FILE names the file to write");
  }
  const auto start = std::chrono::steady_clock::now();
  const std::string origin = input == "-" ? "<stdin>" : std::string(input);
  llvm::Expected<Source> source = readSource(origin);
  if (!source) return inputFault(source.takeError());
  const ScheduleView schedule = source->program.schedule.view();
  if (const ir::VerifyResult proof = ir::verify(schedule); !proof.ok()) {
    return inputFault(faultsOf(*source, proof, origin));
  }
  llvm::Expected<ProvedFile> file = provedFile(schedule);
  if (!file) return inputFault(file.takeError());
  const std::string path = output.empty() ? besideInput(input, "torc") : output;
  const llvm::StringRef bytes(reinterpret_cast<const char*>(file->bytes.data()),
                              file->bytes.size());
  if (llvm::Error error = writeOutput(path, bytes)) return inputFault(std::move(error));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (!quiet) printSummary(schedule, bytes.size(), elapsed.count());
  return kSuccess;
}

}  // namespace assemble_command

options::Command& assembleCommand() {
  return assemble_command::command;
}

}  // namespace torc::compiler
