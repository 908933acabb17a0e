// torc opt FILE --passes=...: runs passes on a program in text form.
#include "compiler/commands/commands.h"
#include "compiler/rows.h"
#include "compiler/tool.h"
#include "ir/text/text.h"
#include "passes/registry/pipeline_text.h"
#include "passes/registry/registry.h"

namespace torc::compiler {
namespace opt_command {

using namespace options;

int run();
Command command("opt", "run passes on a schedule or plan, and print it", run,
                "torc opt a.txt --passes=roll-loops -o rolled.txt");
Text input{command, kFileRow};
Text passes{command, {kWhat, "passes", "PIPELINE", "As 'expand-rings,pipeline{chunks=16}'"}};
Flag list_passes{command, {kWhat, "list-passes", "", "List all passes and their options"}};
Text output{command, {kOutput, "output,o", "FILE", "The text", "-"}};
PassFlags pass_flags(command, /*verify_each=*/true);

/// Prints every pass with its description, and its options with their values.
void listPasses(llvm::raw_ostream& out) {
  for (const auto& pass : passes::createAllPasses()) {
    out << pass->text() << "\n    " << pass->description() << " ("
        << (pass->level() == passes::PassLevel::kPlan ? "on a plan" : "on step operations")
        << ")\n";
    for (const passes::PassOption* option : pass->options()) {
      out << "    " << option->name() << ": " << option->description() << "; " << option->accepted()
          << '\n';
    }
  }
}

int run() {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (list_passes) {
    listPasses(out);
    if (llvm::Error error = writeOutput("-", text)) return inputFault(std::move(error));
    return kSuccess;
  }
  if (input.empty()) return wrongUsage("opt: which file? - is stdin");
  llvm::Expected<std::vector<std::unique_ptr<passes::Pass>>> parsed = passes::parsePipeline(passes);
  if (!parsed) return wrongUsage(toString(parsed.takeError()));
  llvm::Expected<Input> read = readInput(input);
  if (!read) return inputFault(read.takeError());
  ir::Program program = read->takeProgram();
  passes::PassManager manager(std::move(*parsed), pass_flags.options());
  if (llvm::Error error = manager.run(program)) return inputFault(std::move(error));
  ir::printProgram(program, out);
  if (llvm::Error error = writeOutput(output, text)) return inputFault(std::move(error));
  return kSuccess;
}

}  // namespace opt_command

options::Command& optCommand() {
  return opt_command::command;
}

}  // namespace torc::compiler
