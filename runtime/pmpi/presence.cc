// Presence: a look at the launcher's other children, by /proc.
//
// mpiexec.hydra starts all ranks of a host from one process, hydra_pmi_proxy. A rank is one child
// of it: the program, or a shell around it. Where a child or a process below it is linked to MPICH
// and none there has this library loaded, that rank will never answer.
#include "runtime/pmpi/presence.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace torc::pmpi {
namespace {

constexpr std::string_view kLauncher = "hydra_pmi_proxy";
constexpr std::string_view kThisLibrary = "libtorc_pmpi.so";
constexpr std::string_view kMpi = "libmpich.so";
constexpr int kMostGenerations = 8;
constexpr double kPatience = 10;  // seconds

/// A file of /proc/PID; empty where it cannot be read.
std::string read(int process, const char* file) {
  std::ifstream in("/proc/" + std::to_string(process) + "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int parentOf(int process) {
  // "PID (NAME) STATE PPID ...", where NAME may have blanks and parentheses.
  const std::string stat = read(process, "stat");
  const std::size_t end = stat.rfind(')');
  int parent = 0;
  if (end == std::string::npos || std::sscanf(stat.c_str() + end + 1, " %*c %d", &parent) != 1) {
    return 0;
  }
  return parent;
}

std::vector<int> childrenOf(int process) {
  const std::string id = std::to_string(process);
  std::ifstream in("/proc/" + id + "/task/" + id + "/children");
  return {std::istream_iterator<int>(in), {}};
}

int launcher() {
  int process = getppid();
  for (int i = 0; i < kMostGenerations && process > 1; ++i) {
    if (read(process, "comm").starts_with(kLauncher)) return process;
    process = parentOf(process);
  }
  return 0;
}

/// Where LD_PRELOAD gave a process the library, that shows in its first environment, which is much
/// shorter than the list of what is mapped.
bool isPreloaded(int process) {
  const std::string environment = read(process, "environ");
  const std::size_t at = environment.find(std::string_view("LD_PRELOAD="));
  return at != std::string::npos &&
         std::string_view(environment.c_str() + at).find(kThisLibrary) != std::string_view::npos;
}

struct Mapped {
  bool library = false, mpi = false;
};

void lookAtTree(int process, int generation, Mapped& mapped) {
  const std::string maps = read(process, "maps");
  mapped.library = mapped.library || maps.find(kThisLibrary) != std::string::npos;
  mapped.mpi = mapped.mpi || maps.find(kMpi) != std::string::npos;
  if (mapped.library || generation == kMostGenerations) return;
  for (const int child : childrenOf(process))
    lookAtTree(child, generation + 1, mapped);
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool isBelow(int process, int ancestor) {
  for (int i = 0; i < kMostGenerations && process > 1; ++i) {
    if (process == ancestor) return true;
    process = parentOf(process);
  }
  return false;
}

}  // namespace

HostPresence lookAtHost() {
  HostPresence presence;
  const int proxy = launcher();
  if (proxy == 0) return presence;
  bool first = true;
  const std::vector<int> children = childrenOf(proxy);
  presence.ranks = std::max(1, static_cast<int>(children.size()));
  for (const int child : children) {
    Mapped mapped;
    mapped.library = isPreloaded(child);
    if (!mapped.library) lookAtTree(child, 0, mapped);
    if (mapped.library && first) {
      presence.speaks = isBelow(getpid(), child);
      first = false;
    }
    if (mapped.mpi && !mapped.library && presence.without == 0) presence.without = child;
  }
  return presence;
}

void waitForRanks(MPI_Comm comm, bool speaks) {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibarrier(comm, &request);
  const double deadline = now() + kPatience;
  for (int done = 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;) {
    sched_yield();
    if (!speaks || now() < deadline) continue;
    std::fprintf(stderr,
                 "torc: warning: still waiting for ranks after 10 s: LD_PRELOAD must name "
                 "libtorc_pmpi.so on all ranks of the job\n");
    speaks = false;
  }
}

}  // namespace torc::pmpi
