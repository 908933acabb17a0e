// torc library build -o DIR: the best schedules of a machine's partitions and their sub-tori.
#include <csignal>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "compiler/commands/commands.h"
#include "compiler/library/build.h"
#include "compiler/report.h"
#include "compiler/sizes.h"
#include "compiler/target.h"
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

std::vector<Target> readPartitions() {
  std::vector<std::string> shapes(partitions.begin(), partitions.end());
  if (shapes.empty()) shapes.push_back("");  // the machine's own
  std::vector<Target> targets;
  for (const std::string& shape : shapes) {
    if (shape.empty() && !partitions.empty()) wrongUsage("--partition: a shape is empty");
    const std::string named = machine_name.empty() ? kDefaultMachine.str() : machine_name;
    targets.push_back(orOptionFault(readTarget(shape, order, named)));
  }
  if (dead_links.empty() && dead_nodes.empty()) return targets;
  if (targets.size() > 1) wrongUsage("--dead-link and --dead-node are of one partition");
  orUsageFault(addDamage(targets.front(), dead_links, dead_nodes));
  return targets;
}

std::vector<Collective> readCollectives() {
  if (collectives.empty()) return allCollectives();
  std::vector<Collective> wanted;
  for (const std::string& name : collectives)
    wanted.push_back(orUsageFault(parseCollective(name)));
  llvm::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

Request readRequest() {
  if (output.empty()) wrongUsage("library build: which folder? -o DIR");
  Request request;
  request.settings.order = order;
  request.settings.sub_tori = sub_tori;
  request.settings.sizes = orUsageFault(parseSizeRange(sizes, "--sizes"));
  request.settings.collectives = readCollectives();
  request.settings.candidates = static_cast<std::uint32_t>(candidates);
  request.jobs = threadsOf(jobs);
  request.machine = orOptionFault(model::findMachine(machine_name));
  request.plan = orUsageFault(libraryShapes(
      readPartitions(), sub_tori == "all" ? SubToriKind::kAll : SubToriKind::kWholeAxes));
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
  const Request request = readRequest();
  // A limit on the size of files is an error of writing, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  Progress progress(quiet);
  const BuiltLibrary library = orInputFault(buildLibrary(
      request.plan, request.machine, request.settings, output, request.jobs, progress));
  if (!quiet) printSummary(request.plan, library, progress.elapsedSeconds());
  return kSuccess;
}

}  // namespace library_build_command

options::Command& kLibraryBuildCommand = library_build_command::command;

}  // namespace torc::compiler
