// Progress thread.
#include "runtime/pmpi/job/progress_thread.h"

#include <atomic>
#include <csignal>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <thread>

#include "runtime/pmpi/job/progress.h"

namespace torc::pmpi {
namespace {

std::thread worker;
std::atomic<bool> stopping{false};

void work() {
  while (!stopping.load(std::memory_order_relaxed)) {
    const int seen = attention.load(std::memory_order_relaxed);
    if (seen <= kIdleWithThreads) {
      attention.wait(seen, std::memory_order_relaxed);
      continue;
    }
    advance();
    // The program may need the core.
    sched_yield();
  }
}

}  // namespace

bool startProgressThread() {
  stopping.store(false);
  // Signals are the program's, and its threads' to handle.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    worker = std::thread(work);
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void stopProgressThread() {
  if (!worker.joinable()) return;
  stopping.store(true);
  attention.fetch_add(1);
  attention.notify_all();
  worker.join();
  attention.fetch_sub(1);
}

}  // namespace torc::pmpi
