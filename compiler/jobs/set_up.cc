#include "compiler/jobs/set_up.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "compiler/jobs/job_library.h"
#include "compiler/jobs/mpi_program.h"
#include "compiler/library/manifest.h"
#include "ir/make_error.h"
#include "model/machines/machine.h"
#include "schedules/format/file.h"
#include "support/columns.h"
#include "support/version.h"

namespace torc::compiler {
namespace {

/// Bytes that a rank needs: of torc's shared memory, and of MPI's in /dev/shm.
constexpr std::uint64_t kSharedMemory = 1 << 20, kMpisMemory = 4 << 20;

class Checks {
 public:
  explicit Checks(const SetUp& set_up)
      : set_up_(set_up),
        ranks_(std::max<std::uint64_t>(set_up.ranks, 2)),
        reading_(readSettings(SettingTexts(environ))),
        settings_(reading_.settings) {
    const char* preload = std::getenv("LD_PRELOAD");
    if (preload != nullptr) preload_ = preload;
    if (!set_up.library.empty()) settings_.library = set_up.library;
  }

  std::vector<Finding> run() {
    checkSettings();
    checkLibrary();
    checkMapping();
    checkMachine();
    checkProgram();
    checkSharedMemory();
    checkLimits();
    llvm::Expected<std::string> cache = cacheFolder();
    if (cache) {
      add("cache", *cache);
    } else {
      add("cache", toString(cache.takeError()), "torc launch keeps libraries there");
    }
    return std::move(findings_);
  }

 private:
  void add(const char* check, const std::string& found, const std::string& remedy = "") {
    findings_.push_back({check, found, remedy});
  }
  bool isTorcPreloaded() const { return llvm::StringRef(preload_).contains("libtorc_pmpi"); }
  std::string box() const { return set_up_.ranks > 0 ? mostCubicBox(set_up_.ranks) : "SHAPE"; }

  void checkSettings() {
    std::vector<std::string> faults = reading_.errors;
    llvm::append_range(faults, reading_.warnings);
    if (settings_.disable) faults.emplace_back("TORC_DISABLE=1: torc does nothing");
    if (faults.empty()) return add("settings", "all variables TORC_ are well formed");
    add("settings", llvm::join(faults, "; "), "torc info has what they may be");
  }

  void checkLibrary() {
    const std::string& path = settings_.library;
    if (path.empty() && isTorcPreloaded())
      return add("library", "none", "torc launch makes one; or set TORC_LIBRARY to its folder");
    if (path.empty()) return add("library", "none: torc launch makes one");
    llvm::Expected<Library> library = loadLibrary(path);
    std::string fault = library ? "" : toString(library.takeError());
    for (std::size_t i = 0; fault.empty() && i < library->index.files.size(); ++i) {
      const LibraryFile& file = library->index.files[i];
      const auto bytes = readFile(libraryFilePath(path, file.name));
      fault = bytes.ok() ? bytesFault(path, file, *bytes) : bytes.status().message();
    }
    if (!fault.empty())
      return add("library", fault, "torc library build --partition " + box() + " -o " + path);
    index_ = std::move(library->index);
    add("library",
        path + ": " + librarySummary(*index_) + "; this is torc " + std::string(kVersion));
  }

  void checkMapping() {
    const std::string& mapping = settings_.mapping;
    std::string fault = pathFault("TORC_MAPPING", mapping);
    const bool is_open = set_up_.ranks == 0 && settings_.torus.empty();
    if (index_ && is_open && index_->partitions.size() > 1) {
      add("partition", "the library has several: --ranks N looks for one");
    } else if (index_ && fault.empty()) {
      llvm::Expected<JobMapping> job = mappingOf(settings_, "", set_up_.ranks);
      if (job) {
        const Topology& topology = job->topology;
        add("partition", topology.shape() + ", " + std::to_string(topology.ranks()) + " ranks, " +
                             (mapping.empty() ? "order " + topology.orderString() : "mapped"));
      } else {
        fault = toString(job.takeError());
        if (mapping.empty() || !llvm::StringRef(fault).contains(mapping))
          return add("partition", fault,
                     "TORC_TORUS, or torc library build --partition " + box() + " -o DIR");
      }
    }
    if (mapping.empty()) return;
    if (fault.empty()) return add("mapping", mapping);
    add("mapping", fault, "a line of coordinates for each rank (docs/sites/job-start.md)");
  }

  void checkMachine() {
    if (set_up_.machine.empty()) return;
    llvm::Expected<model::Machine> machine = model::findMachine(set_up_.machine);
    if (!machine)
      return add("machine", toString(machine.takeError()), "torc machines lists presets");
    if (!index_ || index_->machine == machine->name)
      return add("machine", machine->name + ": " + model::shapeOf(*machine));
    add("machine", "the library is for machine " + index_->machine + ", not " + machine->name,
        "build a library with --machine " + set_up_.machine);
  }

  void checkProgram() {
    if (set_up_.program.empty()) return;
    const std::string path = findProgram(set_up_.program);
    if (path.empty())
      return add("program", "there is no program '" + set_up_.program + "'", "name another file");
    llvm::Expected<MpiProgram> program = readProgram(path);
    if (!program)
      return add("program", toString(program.takeError()), "name the program that it starts");
    if (!program->fault.empty())
      return add("program", path + " " + program->fault, program->remedy);
    const Mpi mpi = program->mpi;
    if (mpi == Mpi::kNone) {
      return add("program", path + " is not linked to MPICH or Open MPI",
                 "name the program that is; what loads MPI by dlopen is not served");
    }
    add("program", path + ": " + nameOf(mpi));
    llvm::Expected<std::string> found = findPreload(mpi);
    if (!found)
      return add("preload", toString(found.takeError()),
                 "tools/install.sh --mpi mpich|openmpi, or LD_PRELOAD=FILE");
    if (isTorcPreloaded() && !llvm::StringRef(preload_).contains(*found)) {
      return add("preload",
                 "LD_PRELOAD names a libtorc_pmpi.so that is not for " + std::string(nameOf(mpi)),
                 "LD_PRELOAD=" + *found);
    }
    add("preload", *found + ": for " + nameOf(mpi));
  }

  void checkSharedMemory() {
    const int file = ::memfd_create("torc", MFD_CLOEXEC);
    if (file < 0)
      return add("shared memory", "memfd_create is refused", "allow it, or messages go by MPI");
    ::close(file);
    const std::string& folder = set_up_.shared_memory;
    struct statvfs facts {};
    if (::statvfs(folder.c_str(), &facts) != 0 || ::access(folder.c_str(), W_OK | X_OK) != 0) {
      return add("shared memory", folder + ": " + std::strerror(errno),
                 "mount a tmpfs there that all may write: MPI needs it");
    }
    const std::uint64_t left = std::uint64_t{facts.f_bavail} * facts.f_frsize;
    add("shared memory", folder + " has " + shortBytes(left) + " left",
        left >= ranks_ * kMpisMemory ? ""
                                     : "remove files there: MPI needs some 4 MiB of each rank");
  }

  void checkLimits() {
    const std::tuple<decltype(RLIMIT_AS), const char*, std::uint64_t> limits[] = {
        {RLIMIT_FSIZE, "length of files and shared memory (ulimit -f)", ranks_ * kSharedMemory},
        {RLIMIT_AS, "address space (ulimit -v)", std::uint64_t{1} << 30},
        {RLIMIT_NOFILE, "open files (ulimit -n)", 64}};
    for (const auto& [resource, text, least] : limits) {
      rlimit now{};
      if (::getrlimit(resource, &now) != 0 || now.rlim_cur >= least) continue;
      return add("limits", text + (": " + std::to_string(now.rlim_cur)),
                 "at least " + std::to_string(least));
    }
    add("limits", "length of files, address space and open files suffice");
  }

  const SetUp& set_up_;
  const std::uint64_t ranks_;
  SettingsReading reading_;
  Settings& settings_;
  std::string preload_;
  std::optional<LibraryIndex> index_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> checkSetUp(const SetUp& set_up) {
  return Checks(set_up).run();
}

std::string pathFault(std::string_view variable, std::string_view value) {
  const std::string path(value);
  if (path.empty()) return {};
  if (variable == "TORC_LIBRARY") {
    llvm::Expected<Library> library = loadLibrary(path);
    return library ? std::string() : toString(library.takeError());
  }
  if (variable != "TORC_MAPPING") return {};
  const auto bytes = readFile(path);
  return bytes.ok() ? std::string() : bytes.status().message();
}

}  // namespace torc::compiler
