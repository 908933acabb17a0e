// torc library build -o DIR: the best schedules of a machine's partitions and their sub-tori.
#include <csignal>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "compiler/commands/commands.h"
#include "compiler/library/build.h"
#include "compiler/report.h"
#include "compiler/rows.h"
#include "compiler/sizes.h"
#include "compiler/target.h"
#include "compiler/tool.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace library_build_command {

using namespace options;

int run();
Command command("library build", "compile the schedules of a machine's partitions into a folder",
                run, "torc library build --partition 4x2 -o lib");
List collectives{
    command,
    {kWhat, "collectives", "LIST", "As allreduce,allgather; default: all", "", collectiveWords},
    ','};
Word sub_tori{command,
              {kWhat, "sub-tori", "whole-axes|all", "Lines and planes; all: shorter ones, too",
               "whole-axes"}};
Integer candidates{
    command,
    {kWhat, "candidates", "N", "Schedules of a range of sizes; tuning tries them", "1"},
    1,
    kMostCandidates};
Text machine_name{
    command,
    {kMachine, "machine", "NAME", "A preset (torc machines) or a file", "generic", machineWords}};
List partitions{
    command,
    {kMachine, "partition", "SHAPES", "Shapes of jobs, as 4x4x4,8x8x8+4; default: the machine's"},
    ','};
Text order{command, kOrderRow};
List dead_links{command, kDeadLinkRow};
List dead_nodes{command, kDeadNodeRow};
Text sizes{command,
           {kMachine, "sizes", "N:N", "Smallest and largest vector that is compiled for", "1:64M"}};
Integer jobs{command, kJobsRow, 1, kMostJobs};
Text output{command, {kOutput, "output,o", "DIR", "The library's folder; an old one is replaced"}};
Flag quiet{command, kQuietRow};

struct Request {
  model::Machine machine;  // the whole one
  LibraryShapes plan;
  LibrarySettings settings;
  unsigned jobs = 1;
};

llvm::Expected<std::vector<Target>> readPartitions() {
  std::vector<std::string> shapes(partitions.begin(), partitions.end());
  if (shapes.empty()) shapes.push_back("");  // the machine's own
  std::vector<Target> targets;
  for (const std::string& shape : shapes) {
    if (shape.empty() && !partitions.empty()) return makeError("--partition: a shape is empty");
    const std::string named = machine_name.empty() ? kDefaultMachine.str() : machine_name;
    llvm::Expected<Target> target = readTarget(shape, order, named);
    if (!target) return target.takeError();
    targets.push_back(std::move(*target));
  }
  if (dead_links.empty() && dead_nodes.empty()) return targets;
  if (targets.size() > 1) return makeError("--dead-link and --dead-node are of one partition");
  if (llvm::Error error = addDamage(targets.front(), dead_links, dead_nodes)) return error;
  return targets;
}

llvm::Expected<std::vector<Collective>> readCollectives() {
  if (collectives.empty()) return allCollectives();
  std::vector<Collective> wanted;
  for (const std::string& name : collectives) {
    llvm::Expected<Collective> collective = parseCollective(name);
    if (!collective) return collective.takeError();
    wanted.push_back(*collective);
  }
  llvm::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

llvm::Expected<Request> readRequest() {
  if (output.empty()) return makeError("library build: which folder? -o DIR");
  Request request;
  if (sub_tori != "whole-axes" && sub_tori != "all") {
    return makeError("--sub-tori takes whole-axes or all, not '" + sub_tori + "'");
  }
  request.settings.order = order;
  request.settings.sub_tori = sub_tori;
  llvm::Expected<SizeRange> range = parseSizeRange(sizes, "--sizes");
  if (!range) return range.takeError();
  request.settings.sizes = *range;
  llvm::Expected<std::vector<Collective>> wanted = readCollectives();
  if (!wanted) return wanted.takeError();
  request.settings.collectives = std::move(*wanted);
  request.settings.candidates = static_cast<std::uint32_t>(candidates);
  request.jobs = threadsOf(jobs);
  llvm::Expected<model::Machine> machine = model::findMachine(machine_name);
  if (!machine) return machine.takeError();
  request.machine = std::move(*machine);
  llvm::Expected<std::vector<Target>> targets = readPartitions();
  if (!targets) return targets.takeError();
  llvm::Expected<LibraryShapes> plan =
      libraryShapes(*targets, sub_tori == "all" ? SubToriKind::kAll : SubToriKind::kWholeAxes);
  if (!plan) return plan.takeError();
  request.plan = std::move(*plan);
  return request;
}

/// A row for each shape and collective.
void printSummary(const LibraryShapes& plan, const BuiltLibrary& library, double seconds) {
  const LibraryIndex& index = library.index;
  std::vector<Record> rows;
  for (std::size_t i = 0; i < index.entries.size();) {
    const LibraryEntry& first = index.entries[i];
    std::size_t end = i;
    while (end < index.entries.size() && index.entries[end].shape == first.shape &&
           index.entries[end].collective == first.collective) {
      ++end;
    }
    if (first.highest == kNoSize) ++i;  // the same schedules as some size's
    const ScheduleRange& smallest = library.ranges[i];
    const ScheduleRange& largest = library.ranges[end - 1];
    rows.push_back(
        {{"", plan.shapes[first.shape].topology.shape(), "shape          "},
         {"", plan.shapes[first.shape].sub_tori, "sub-tori"},
         {"", rowOf(first.collective).name, "collective        "},
         {"", end - i, "ranges"},
         {"", smallest.lowest_s, "smallest us", kFixedMicros},
         {"", boundRatio(smallest.lowest_s, smallest.lowest_bound_s), "x bound", kBoundRatio},
         {"", largest.highest_s, "largest us", kFixedMicros},
         {"", boundRatio(largest.highest_s, largest.highest_bound_s), "x bound", kBoundRatio}});
    i = end;
  }
  llvm::errs() << tableText(rows) << output << ": " << librarySummary(index)
               << formatted("; proved; %.1f s\n", seconds);
}

int run() {
  llvm::Expected<Request> request = readRequest();
  if (!request) return optionFault(request.takeError());
  // A limit on the size of files is an error of writing, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  Progress progress(quiet);
  llvm::Expected<BuiltLibrary> library = buildLibrary(
      request->plan, request->machine, request->settings, output, request->jobs, progress);
  if (!library) return inputFault(library.takeError());
  if (!quiet) printSummary(request->plan, *library, progress.elapsedSeconds());
  return kSuccess;
}

}  // namespace library_build_command

options::Command& libraryBuildCommand() {
  return library_build_command::command;
}

}  // namespace torc::compiler
