// torc library build -o DIR: the best schedules of a machine's partitions and their sub-tori.
#include <csignal>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>

#include "compiler/commands/commands.h"
#include "compiler/library/build.h"
#include "compiler/sizes.h"
#include "compiler/target.h"
#include "compiler/tool.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace library_build_command {

using namespace llvm::cl;

SubCommand command("library build",
                   "Compile the schedules of a machine's partitions into a folder");
OptionCategory category("Options of library build");

opt<std::string> machine_name("machine", value_desc("name"), sub(command), cat(category),
                              desc("A preset (torc machines) or a file (default generic)"));
list<std::string> partitions("partition", value_desc("shapes"), CommaSeparated, sub(command),
                             cat(category),
                             desc("Shapes that jobs get, as 4x4x4,8x8x8,4x4x4+4 (default: the "
                                  "machine's own)"));
opt<std::string> order("order", value_desc("axes"), sub(command), cat(category),
                       desc("Order of ranks in a partition, fastest axis first (default XYZ...T)"));
opt<std::string> sub_tori(
    "sub-tori", value_desc("kind"), init("whole-axes"), sub(command), cat(category),
    desc("whole-axes (default: lines, planes, ..., the whole) or all (those of "
         "shorter extents too)"));
list<std::string> collectives("collectives", value_desc("list"), CommaSeparated, sub(command),
                              cat(category), desc("As allreduce,allgather (default: all)"));
opt<std::string> sizes("sizes", value_desc("N:N"), init("1:64M"), sub(command), cat(category),
                       desc("Smallest and largest whole vector that is looked at, bytes (default "
                            "1:64M); larger ones get the schedule of the largest"));
opt<std::string> candidates("candidates", value_desc("N"), init("1"), sub(command), cat(category),
                            desc("Schedules of a range of sizes, 1 to 16 (default 1: only what "
                                 "serves); tuning tries the others too"));
list<std::string> dead_links(
    "dead-link", value_desc("x,y,z:axis"), sub(command), cat(category),
    desc("A cable of the partition that is out of order; may be repeated"));
list<std::string> dead_nodes("dead-node", value_desc("x,y,z"), sub(command), cat(category),
                             desc("A node of the partition that is out of order; may be repeated"));
opt<std::string> output("o", value_desc("dir"), sub(command), cat(category),
                        desc("The library's folder; one that is there is replaced"));
opt<std::string> jobs("jobs", value_desc("N"), sub(command), cat(category),
                      desc("Threads (default: one for each core); they change nothing but the "
                           "time"));
opt<bool> quiet("quiet", sub(command), cat(category), desc("No progress and no summary on stderr"));

struct Request {
  model::Machine machine;  // the whole one
  LibraryPlan plan;
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
  std::vector<Collective> wanted;
  for (const std::string& name : collectives) {
    llvm::Expected<Collective> collective = parseCollective(name);
    if (!collective) return collective.takeError();
    wanted.push_back(*collective);
  }
  for (int i = 0; collectives.empty() && i < kCollectiveCount; ++i) {
    if (rowOf(static_cast<Collective>(i)).isIntercepted()) {
      wanted.push_back(static_cast<Collective>(i));
    }
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
  if (llvm::StringRef(candidates).getAsInteger(10, request.settings.candidates) ||
      request.settings.candidates < 1 || request.settings.candidates > kMostCandidates) {
    return makeError("--candidates takes an integer from 1 to " + llvm::Twine(kMostCandidates) +
                     ", not '" + candidates + "'");
  }
  llvm::Expected<unsigned> threads = readJobs(jobs);
  if (!threads) return threads.takeError();
  request.jobs = *threads;
  llvm::Expected<model::Machine> machine =
      model::findMachine(machine_name.empty() ? kDefaultMachine : llvm::StringRef(machine_name));
  if (!machine) return machine.takeError();
  request.machine = std::move(*machine);
  llvm::Expected<std::vector<Target>> targets = readPartitions();
  if (!targets) return targets.takeError();
  llvm::Expected<LibraryPlan> plan =
      planLibrary(*targets, sub_tori == "all" ? SubToriKind::kAll : SubToriKind::kWholeAxes);
  if (!plan) return plan.takeError();
  request.plan = std::move(*plan);
  return request;
}

/// A row for each shape and collective.
void printSummary(const LibraryPlan& plan, const BuiltLibrary& library, double seconds) {
  llvm::raw_ostream& out = llvm::errs();
  const LibraryIndex& index = library.index;
  out << "shape           sub-tori  collective          ranges  smallest us  x bound   largest us  "
         "x "
         "bound\n";
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
    out << llvm::left_justify(plan.shapes[first.shape].topology.shape(), 15)
        << llvm::format("%9u  ", plan.shapes[first.shape].sub_tori)
        << llvm::left_justify(rowOf(first.collective).name, 18)
        << llvm::format("%8u", static_cast<unsigned>(end - i))
        << llvm::format("%13.2f %8.3f", 1e6 * smallest.lowest_s,
                        boundRatio(smallest.lowest_s, smallest.lowest_bound_s))
        << llvm::format("%13.2f %8.3f\n", 1e6 * largest.highest_s,
                        boundRatio(largest.highest_s, largest.highest_bound_s));
    i = end;
  }
  out << output << ": " << librarySummary(index) << llvm::format("; proved; %.1f s\n", seconds);
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

Command libraryBuildCommand() {
  return {&library_build_command::command, &library_build_command::category,
          library_build_command::run};
}

}  // namespace torc::compiler
