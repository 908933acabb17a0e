// Lines of torc on stderr.
#include "runtime/pmpi/statistics/stderr_lines.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_set>

#include <mpi.h>

#include "support/files.h"

namespace torc::runtime::pmpi {
namespace {

std::atomic<Verbosity> verbosity{Verbosity::kHints};
std::atomic<int> world_rank{-1};  // -1: unknown

std::string rankText() {
  const int rank = world_rank.load(std::memory_order_relaxed);
  return rank < 0 ? std::string() : message("rank ", rank, ": ");
}

/// Whether the key is new, and below the limit.
bool isNew(std::string_view key) {
  // Never destroyed: threads may warn while the process ends.
  static std::mutex& mutex = *new std::mutex;
  static auto& told = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return told.size() < kMostWarnings && told.emplace(key).second;
}

}  // namespace

void configureReport(Verbosity kind, int rank) {
  verbosity.store(kind, std::memory_order_relaxed);
  world_rank.store(rank, std::memory_order_relaxed);
}

bool tells(Verbosity kind) {
  return kind <= verbosity.load(std::memory_order_relaxed);
}

void warnOnce(std::string_view key, const std::string& text) {
  if (isNew(key)) writeToStderr(message("torc: warning: ", rankText(), text, '\n'));
}

void warnOnce(int communicator_rank, std::string_view key, const std::string& text) {
  if (communicator_rank == 0 && isNew(key)) writeToStderr(message("torc: warning: ", text, '\n'));
}

void complain(const std::string& text) noexcept {
  try {
    writeToStderr(message("torc: error: ", rankText(), text, '\n'));
  } catch (const std::bad_alloc&) {
    writeToStderr("torc: error: out of memory\n");
  }
}

void letLauncherRead() {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

void complainAndAbort(const std::string& text) {
  complain(text);
  letLauncherRead();
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void say(Verbosity kind, int communicator_rank, const std::string& text) {
  if (communicator_rank != 0 || !tells(kind)) return;
  writeToStderr(message(kind == Verbosity::kHints ? "torc: hint: " : "torc: ", text, '\n'));
}

void say(const std::string& text) {
  writeToStderr(message("torc: ", rankText(), text, '\n'));
}

}  // namespace torc::runtime::pmpi
