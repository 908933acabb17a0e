// torc import FILE: proves another system's schedule and makes a schedule file of it.
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <llvm/Support/raw_ostream.h>

#include "compiler/commands/commands.h"
#include "compiler/proved_file.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/target.h"
#include "ir/exchange/import.h"
#include "ir/exchange/readers/readers.h"
#include "ir/make_error.h"
#include "ir/text/text.h"
#include "ir/verifier/verifier.h"
#include "model/bounds/twisted.h"
#include "passes/allocate_scratch.h"
#include "passes/loops/roll_loops.h"

namespace torc::compiler {
namespace import_command {

using namespace options;

int run();
Command command("import", "prove a schedule of another system, and write it as a file", run,
                "torc import ring.xml --torus 4x4 -o ring.torc");
Text input{command, kFileRow};
Text collective{command,
                {kWhat, "collective", "NAME", "The collective of MSCCL XML that names none"}};
Text torus{command,
           {kMachine, "torus", "SHAPE", "Torus of its ranks, as 4x4 or 4x4x8t; default: a ring"}};
Text order{command,
           {kMachine, "order", "AXES", "Order of ranks, fastest axis first; default: XYZ..."}};
Text graph{command,
           {kMachine, "graph", "FILE", "Links of a table (docs/users/exchange.md), no torus"}};
Text output{command, {kOutput, "output,o", "FILE", "The schedule file; default: FILE with .torc"}};
Flag quiet{command, kQuietRow};

/// The faults of a proof, each at its operation's source step; others at `whole`.
llvm::Error faultsOf(const ir::ImportedSchedule& imported, const ir::VerifyResult& proof,
                     llvm::StringRef whole) {
  std::string text;
  for (const ir::Fault& fault : proof.faults) {
    if (!text.empty()) text += '\n';
    text += fault.operation < imported.sources.size() ? imported.sources[fault.operation] + ": "
                                                      : whole.str();
    text += (ir::name(fault.rule) + ": " + fault.message).str();
    if (fault.operation < imported.sources.size()) {
      text += "\n  " + ir::operationText(imported.schedule.view(), fault.operation);
    }
  }
  return makeError(text);
}

/// The same schedule with less scratch and text, if it is proved too.
Schedule shortened(const Schedule& schedule) {
  ir::Program program;
  program.schedule = schedule;
  for (const auto& pass : {passes::makePass(passes::AllocateScratchPass{}),
                           passes::makePass(passes::RollLoopsPass{})}) {
    if (llvm::Expected<passes::PassResult> result = pass->run(program); !result) {
      consumeError(result.takeError());
      return schedule;
    }
  }
  if (!ir::verify(program.schedule.view()).ok()) return schedule;
  return std::move(program.schedule);
}

/// The collective of --collective, if given.
std::optional<Collective> readCollective() {
  if (collective.empty()) return std::nullopt;
  const Collective named = orUsageFault(parseCollective(collective));
  if (!ir::foreignCollective(rowOf(named).name))
    wrongUsage("--collective " + collective + ": " + ir::kForeignCollectives);
  return named;
}

/// Sets the links of --graph, if given.
void readGraph(ir::RankPrograms& programs) {
  if (graph.empty()) return;
  ir::Graph read = orInputFault(ir::readGraph(orInputFault(readBytes(graph)), graph));
  if (read.ranks != programs.rankCount()) {
    orInputFault(makeError(graph + ": has " + llvm::Twine(read.ranks) + " NPUs; " +
                           programs.origin + " has " + llvm::Twine(programs.rankCount()) +
                           " gpus"));
  }
  programs.links = std::move(read.links);
}

/// The places of ranks. Sets the links of a twisted torus.
Topology readPlaces(ir::RankPrograms& programs) {
  const std::string shape = torus.empty() ? std::to_string(programs.ranks.size()) : torus;
  model::Machine machine = orOptionFault(readPartition(shape, /*machine=*/{}));
  const bool is_twisted = std::exchange(machine.twisted, false);
  if (is_twisted && !graph.empty()) wrongUsage("--graph: " + shape + " has links of its own");
  Topology topology = orOptionFault(model::topologyOf(machine, order));
  if (is_twisted) {
    programs.links =
        model::twistedLinks(topology, machine.linkBandwidth(0), machine.dimensions[0].latency);
  }
  for (Axis& axis : topology.axes) {
    if (programs.links.empty()) break;
    axis.bandwidth = Axis().bandwidth;
    axis.latency = Axis().latency;
  }
  return topology;
}

int run() {
  if (input.empty()) wrongUsage("import: which file? - is stdin");
  if (output.empty() && input == "-") {
    wrongUsage("import: where to? -o FILE names the file to write");
  }
  const auto start = std::chrono::steady_clock::now();
  const std::string origin = input == "-" ? "<stdin>" : std::string(input);
  std::string text = orInputFault(readBytes(input));
  const std::optional<Collective> named = readCollective();
  ir::RankPrograms programs = orInputFault(ir::readForeign(text, origin, named));
  for (const std::string& warning : programs.warnings)
    llvm::errs() << warning << '\n';
  if (named && programs.collective != *named) {
    return inputFault(makeError(programs.at() + "the collective is " +
                                llvm::StringRef(rowOf(programs.collective).name) +
                                "; --collective says " + llvm::StringRef(rowOf(*named).name)));
  }
  text = std::string();
  readGraph(programs);
  const Topology places = readPlaces(programs);
  const ir::ImportedSchedule imported = orInputFault(ir::importPrograms(programs, places));
  programs.ranks.clear();
  const ir::VerifyResult proof = ir::verify(imported.schedule.view());
  if (!proof.ok()) return inputFault(faultsOf(imported, proof, programs.at()));
  const Schedule schedule = shortened(imported.schedule);
  const ProvedFile file = orInputFault(provedFile(schedule.view()));
  const std::string path = output.empty() ? besideInput(input, "torc") : output;
  orInputFault(writeOutput(path, file.text()));
  if (quiet) return kSuccess;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  llvm::errs() << imported.steps << " steps of " << places.ranks() << " ranks; ";
  if (imported.classes == 1) {
    llvm::errs() << "all ranks do the same\n";
  } else {
    llvm::errs() << imported.classes << " that differ\n";
  }
  printSummary(schedule.view(), file.bytes.size(), elapsed.count());
  return kSuccess;
}

}  // namespace import_command

options::Command& kImportCommand = import_command::command;

}  // namespace torc::compiler
