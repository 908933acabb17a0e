// torc opt FILE --passes=...: runs passes on a program in text form.
#include "compiler/commands/commands.h"
#include "compiler/report.h"
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
  if (list_passes) return printReport({}, {}, listPasses);
  if (input.empty()) wrongUsage("opt: which file? - is stdin");
  std::vector<std::unique_ptr<passes::Pass>> parsed = orUsageFault(passes::parsePipeline(passes));
  ir::Program program = orInputFault(readInput(input)).takeProgram();
  passes::PassManager manager(std::move(parsed), pass_flags.options());
  orInputFault(manager.run(program));
  orInputFault(writeOutput(output, ir::programText(program)));
  return kSuccess;
}

}  // namespace opt_command

options::Command& kOptCommand = opt_command::command;

}  // namespace torc::compiler
