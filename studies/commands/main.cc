// torc-model: predicts collectives and dense linear algebra by the models of the papers.
#include "compiler/command_line.h"
#include "studies/commands/model_commands.h"

int main(int argc, char** argv) {
  using namespace torc;
  return compiler::runProgram("torc-model", [&] {
    return compiler::runCommand(
        {&studies::kBroadcastCommand, &studies::kReduceCommand, &studies::kAlltoallCommand,
         &studies::kGemmCommand, &studies::kLuCommand},
        "predictions of the models of papers, beside torc's schedules",
        llvm::ArrayRef(argv + 1, argv + argc));
  });
}
