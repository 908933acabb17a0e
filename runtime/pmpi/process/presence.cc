// Presence: examines the launcher's other children, in /proc.
//
// A launcher starts all ranks of a host from one process: MPICH from hydra_pmi_proxy, Open MPI from
// mpiexec itself, or orted on other hosts. A rank is one child of it: the program, or a shell
// around it. If a child or a process below it is linked to MPI, and none of them has the interposer
// loaded, that rank will never answer. Partial readings do not count, as the result turns torc off
// in the whole job.
#include "runtime/pmpi/process/presence.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "runtime/service/service_collective.h"
#include "runtime/transport/which_mpi.h"
#include "schedules/format/file.h"
#include "support/files.h"

namespace torc::runtime::pmpi {
namespace {

constexpr std::string_view kInterposer = "libtorc_pmpi.so";  // of another build, or a copy
constexpr int kMostGenerations = 8;
constexpr double kPatience = 10;  // seconds
constexpr std::chrono::milliseconds kBetweenLooks(50);

/// Device and inode of the file that contains this code, in the form of /proc/PID/maps: " 08:01 13
/// ". Empty: `maps`, of this process, could not be read.
std::string ownFile(const std::string& maps) {
  static const char here = 0;
  const auto address = reinterpret_cast<std::uintptr_t>(&here);
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    std::uintptr_t begin = 0, end = 0;
    int before = 0, behind = 0;
    std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %*s%n %*s %*s%n", &begin, &end,
                &before, &behind);
    if (behind > 0 && address >= begin && address < end) {
      return line.substr(static_cast<std::size_t>(before),
                         static_cast<std::size_t>(behind - before)) +
             ' ';
    }
  }
  return {};
}

/// State of the interposer in a rank's processes.
enum class Interposer {
  kThere,
  kMissing,   // one is linked to MPI, and none has the interposer
  kNotKnown,  // no MPI, or a file could not be read
};

/// The processes of this host.
class Processes {
 public:
  explicit Processes(std::string proc)
      : proc_(std::move(proc)), own_file_(ownFile(file(getpid(), "maps").value_or(""))) {}

  /// The launcher among the ancestors of this process; 0: there is none.
  int launcher() const {
    return nearest(getppid(), [this](int process) {
      const std::string name = file(process, "comm").value_or("");
      return std::ranges::any_of(
          kLaunchers, [&](std::string_view launcher) { return name.starts_with(launcher); });
    });
  }

  std::optional<std::vector<int>> childrenOf(int process) const {
    const auto text = file(process, "task/" + std::to_string(process) + "/children");
    if (!text) return std::nullopt;
    std::istringstream in(*text);
    return std::vector<int>(std::istream_iterator<int>(in), {});
  }

  bool isBelow(int process, int ancestor) const {
    return nearest(process, [=](int candidate) { return candidate == ancestor; }) != 0;
  }

  /// For a rank: a child of the launcher, with its descendants.
  Interposer interposer(int process) const {
    if (isPreloaded(process)) return Interposer::kThere;
    Mapped mapped;
    lookAtTree(process, 0, mapped);
    if (mapped.interposer) return Interposer::kThere;
    return mapped.mpi && mapped.all_read ? Interposer::kMissing : Interposer::kNotKnown;
  }

 private:
  struct Mapped {
    bool interposer = false, mpi = false;
    bool all_read = true;
  };

  /// Content of a file of the process, unless an error prevents that.
  std::optional<std::string> file(int process, const std::string& name) const {
    const auto bytes = readFile(proc_ + "/" + std::to_string(process) + "/" + name);
    if (!bytes.ok()) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }

  int parentOf(int process) const {
    // "PID (NAME) STATE PPID ...", where NAME may have blanks and parentheses.
    const std::string stat = file(process, "stat").value_or("");
    const std::size_t end = stat.rfind(')');
    int parent = 0;
    if (end == std::string::npos || std::sscanf(stat.c_str() + end + 1, " %*c %d", &parent) != 1) {
      return 0;
    }
    return parent;
  }

  /// The first of a process and its ancestors that is meant; 0: none.
  template <typename Is>
  int nearest(int process, Is is_meant) const {
    for (int i = 0; i < kMostGenerations && process > 1; ++i) {
      if (is_meant(process)) return process;
      process = parentOf(process);
    }
    return 0;
  }

  /// If LD_PRELOAD loaded the interposer, the process's initial environment shows that, and it is
  /// much shorter than /proc/PID/maps.
  bool isPreloaded(int process) const {
    const std::string environment = file(process, "environ").value_or("");
    const std::size_t at = environment.find(std::string_view("LD_PRELOAD="));
    return at != std::string::npos &&
           std::string_view(environment.c_str() + at).find(kInterposer) != std::string_view::npos;
  }

  void lookAtTree(int process, int generation, Mapped& mapped) const {
    const std::optional<std::string> maps = file(process, "maps");
    // A process that has ended, or is about to, has empty maps.
    if (!maps || !maps->ends_with('\n')) {
      mapped.all_read = false;
      return;
    }
    mapped.interposer = mapped.interposer || maps->find(kInterposer) != std::string::npos ||
                        (!own_file_.empty() && maps->find(own_file_) != std::string::npos);
    mapped.mpi = mapped.mpi || maps->find(kMpiLibrary) != std::string::npos;
    if (mapped.interposer) return;
    const std::optional<std::vector<int>> children = childrenOf(process);
    if (!children || (generation == kMostGenerations && !children->empty())) {
      mapped.all_read = false;
      return;
    }
    for (const int child : *children)
      lookAtTree(child, generation + 1, mapped);
  }

  const std::string proc_;
  const std::string own_file_;
};

}  // namespace

void pauseBetweenLooks() {
  std::this_thread::sleep_for(kBetweenLooks);
}

HostPresence lookAtHost(const std::string& proc, const std::function<void()>& pause) {
  HostPresence presence;
  const Processes processes(proc);
  const int proxy = processes.launcher();
  const std::vector<int> children =
      proxy == 0 ? std::vector<int>() : processes.childrenOf(proxy).value_or(std::vector<int>());
  presence.ranks = std::max(1, static_cast<int>(children.size()));
  bool first = true;
  std::vector<int> missing;
  for (const int child : children) {
    const Interposer found = processes.interposer(child);
    if (found == Interposer::kMissing) missing.push_back(child);
    if (found == Interposer::kThere && first) {
      presence.speaks = processes.isBelow(getpid(), child);
      first = false;
    }
  }
  if (missing.empty()) return presence;
  pause();
  const auto still = std::ranges::find_if(
      missing, [&](int child) { return processes.interposer(child) == Interposer::kMissing; });
  if (still != missing.end()) presence.without = *still;
  return presence;
}

void waitForRanks(MPI_Comm comm, bool speaks) {
  ServiceCollective barrier;
  barrier.barrier(comm);
  const double deadline = PMPI_Wtime() + kPatience;
  static_cast<void>(barrier.wait([&] {
    if (!speaks || PMPI_Wtime() < deadline) return;
    writeToStderr(
        "torc: warning: still waiting for ranks after 10 s: LD_PRELOAD must name libtorc_pmpi.so "
        "on all ranks of the job\n");
    speaks = false;
  }));
}

}  // namespace torc::runtime::pmpi
