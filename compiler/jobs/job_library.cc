#include "compiler/jobs/job_library.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <unistd.h>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>

#include "compiler/jobs/child_process.h"
#include "compiler/library/build.h"
#include "compiler/library/folder.h"
#include "compiler/target.h"
#include "compiler/tool.h"
#include "ir/make_error.h"
#include "model/machines/slurm_machine.h"
#include "schedules/topology/topology.h"
#include "support/hostlist.h"
#include "support/version.h"

namespace torc::compiler {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The place of the hosts that Slurm has given the job, if a file has their places.
std::optional<JobPlace> slurmPlace(std::uint64_t ranks, llvm::StringRef machine) {
  const std::string hosts = variable("SLURM_JOB_NODELIST");
  const auto list = expandHostlist(hosts, model::kMostSlurmHosts);
  if (hosts.empty() || !list.ok() || list->empty() || ranks % list->size() != 0) return {};
  const llvm::StringRef file =
      llvm::sys::fs::is_regular_file(machine) ? machine : "/etc/slurm/topology.yaml";
  llvm::Expected<std::string> text = readBytes(file);
  auto tori = text ? model::readSlurmTori(*text, file) : text.takeError();
  llvm::Expected<std::string> mapping =
      tori ? model::mappingOfHosts(*tori, hosts, static_cast<std::uint32_t>(ranks / list->size()))
           : tori.takeError();
  if (!mapping) {
    consumeError(mapping.takeError());  // a machine of another form, or of other hosts
    return {};
  }
  const std::string torus = llvm::StringRef(*mapping).split('=').second.split(':').first.str();
  return JobPlace{torus, "the hosts of the job in " + file.str(), *mapping};
}

/// The library's name in the cache. Where the machine is from a file, or has damage, the name has a
/// checksum of all its numbers.
std::string libraryName(const Target& target, llvm::StringRef machine) {
  const std::string shape = target.topology.shape() + "-";
  if (llvm::is_contained(model::machinePresets(), machine) && !target.machine.damaged())
    return shape + machine.str();
  const std::string json = model::machineJson(target.machine);
  return shape + llvm::utohexstr(checksumOf(std::as_bytes(std::span(json))), true, 16);
}

/// Returns the exit code, after a line where it fails.
int build(const Target& target, const model::Machine& machine, llvm::StringRef folder, bool quiet) {
  llvm::Expected<LibraryShapes> plan = libraryShapes(target, SubToriKind::kWholeAxes);
  if (!plan) return optionFault(plan.takeError());
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of files is an error of writing
  Progress progress(quiet);
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  auto library = buildLibrary(*plan, machine, LibrarySettings(), folder, threads, progress);
  return library ? kSuccess : inputFault(library.takeError());
}

}  // namespace

llvm::Expected<JobMapping> mappingOf(const Settings& settings, llvm::StringRef torus,
                                     std::uint64_t ranks) {
  llvm::Expected<LibraryIndex> index = loadIndex(settings.library);
  if (!index) return index.takeError();
  const PlacementOptions options{torus.empty() ? settings.torus : torus.str(), settings.order,
                                 settings.mapping, settings.machine};
  std::string text;
  if (!options.mapping.empty()) {
    llvm::Expected<std::string> bytes = readBytes(options.mapping);
    if (!bytes) return bytes.takeError();
    text = *bytes;
  }
  if (const auto given = parseTopology(options.torus); ranks == 0 && given.ok()) {
    ranks = given->ranks();
  } else if (ranks == 0 && !index->partitions.empty()) {
    ranks = index->partitions.front().topology.ranks();
  }
  const StatusOr<JobMapping> job = mapJob(*index, options, ranks, text);
  if (!job.ok()) return toError(job.status());
  return *job;
}

std::string mostCubicBox(std::uint64_t ranks) {
  std::uint64_t a = 1, b = 1;
  for (std::uint64_t i = 1; i * i * i <= ranks; ++i)
    a = ranks % i == 0 ? i : a;
  for (std::uint64_t i = 1; i * i <= ranks / a; ++i)
    b = ranks / a % i == 0 ? i : b;
  std::uint64_t sizes[] = {a, b, ranks / a / b};
  llvm::sort(sizes, std::greater());
  std::string shape = std::to_string(sizes[0]);
  for (const std::uint64_t size : {sizes[1], sizes[2]}) {
    if (size > 1) shape += 'x' + std::to_string(size);
  }
  return shape;
}

llvm::Expected<JobPlace> placeOfJob(std::uint64_t ranks, llvm::StringRef torus,
                                    llvm::StringRef machine) {
  const Settings settings = readSettings(SettingTexts(environ)).settings;
  if (!settings.library.empty()) {
    llvm::Expected<JobMapping> mapped = mappingOf(settings, torus, ranks);
    if (!mapped) return mapped.takeError();
    return JobPlace{mapped->topology.shape(), "of " + settings.library, "", settings.library};
  }
  if (!torus.empty()) {
    llvm::Expected<Target> target = readTarget(torus, "", machine);
    if (!target) return target.takeError();
    const std::uint64_t nodes = target->topology.ranks();
    if (ranks == 0 || nodes == ranks) return JobPlace{torus.str(), "as --torus says"};
    return makeError("torus " + torus + " has " + llvm::Twine(nodes) + " nodes, and the command " +
                     "starts " + llvm::Twine(ranks) + " ranks");
  }
  if (ranks == 0) llvm::StringRef(variable("SLURM_NTASKS")).getAsInteger(10, ranks);
  if (ranks == 0) return makeError("how many ranks? mpiexec -n 8, or --torus 4x2");
  if (std::optional<JobPlace> place = slurmPlace(ranks, machine)) return *place;
  llvm::Expected<model::Machine> whole =
      model::findMachine(machine.empty() ? kDefaultMachine : machine);
  if (!whole) return whole.takeError();
  const std::uint64_t nodes = whole->nodes(), cores = std::max(1u, whole->cores);
  if (!machine.empty() && (ranks == nodes || ranks == nodes * cores)) {
    std::string shape = model::shapeOf(*whole);
    if (ranks > nodes) shape = shape.substr(0, shape.find('+')) + "+" + std::to_string(cores);
    return JobPlace{shape, "the shape of machine " + whole->name};
  }
  return JobPlace{mostCubicBox(ranks), "the most cubic box of " + std::to_string(ranks) + " ranks"};
}

llvm::Expected<std::string> cacheFolder() {
  namespace fs = llvm::sys::fs;
  std::string folder = variable("XDG_CACHE_HOME");
  if (folder.empty()) folder = variable("HOME") + "/.cache";
  folder += "/torc/" + std::string(kVersion);
  std::error_code error = fs::create_directories(folder);
  if (!error) error = fs::access(folder, fs::AccessMode::Write);
  if (!error) return folder;
  return makeError("cannot write '" + folder + "': " + error.message() + "; set XDG_CACHE_HOME");
}

int cachedLibrary(llvm::StringRef torus, llvm::StringRef machine_name, bool quiet,
                  std::string& folder) {
  const llvm::StringRef name = machine_name.empty() ? kDefaultMachine : machine_name;
  const model::Machine machine = orOptionFault(model::findMachine(name));
  const Target target = orOptionFault(readTarget(torus, "", name));
  const std::string cache = orInputFault(cacheFolder());
  folder = cache + "/" + libraryName(target, name);
  llvm::Expected<LibraryIndex> index = loadIndex(folder);
  if (index) return kSuccess;
  consumeError(index.takeError());
  if (!quiet) llvm::errs() << "torc: building its library, once: " << folder << '\n';
  const int code = runChild([&] { return build(target, machine, folder, quiet); });
  if (code == kSuccess) return code;
  // Removes the files of a build that a signal has ended.
  if (auto rest = LibraryFolder::create(folder); !rest) consumeError(rest.takeError());
  if (code > 128) (void)inputFault(makeError("cancelled: nothing of the library is left"));
  return code;
}

}  // namespace torc::compiler
