// Progress thread.
#include "runtime/pmpi/job/progress_thread.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "runtime/pmpi/job/progress.h"

namespace torc::pmpi {
namespace {

// A process may end while the thread is there, and a child that it forks has none: what is known of
// it needs no destructor, and says in which process it runs.
pthread_t worker;
std::atomic<pid_t> process{0};  // 0: there is none
std::atomic<bool> stopping{false};

// At exit the thread may be inside MPI, behind a lock of the thread that ends the process.
constexpr long kMostNanosecondsAtExit = 200'000'000;

void* work(void*) {
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
  return nullptr;
}

bool isRunning() {
  return process.load() == getpid();
}

/// The thread ends soon; `attention` is to be given back when it has.
void tellToStop() {
  stopping.store(true);
  attention.fetch_add(1);
  attention.notify_all();
}

/// By exit() without MPI_Finalize: MPI's libraries are taken down next, and the thread must not be
/// in them.
void stopAtExit() {
  if (!isRunning() || pthread_equal(pthread_self(), worker)) return;
  tellToStop();
  timespec deadline{};
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_nsec += kMostNanosecondsAtExit;
  deadline.tv_sec += deadline.tv_nsec / 1'000'000'000;
  deadline.tv_nsec %= 1'000'000'000;
  if (pthread_timedjoin_np(worker, nullptr, &deadline) == 0) process.store(0);
}

}  // namespace

bool startProgressThread() {
  stopping.store(false);
  // Signals are the program's, and its threads' to handle.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&worker, nullptr, work, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) {
    process.store(getpid());
    std::atexit(stopAtExit);  // once per process: MPI starts once
  }
  return started;
}

void stopProgressThread() {
  if (!isRunning()) return;
  tellToStop();
  pthread_join(worker, nullptr);
  attention.fetch_sub(1);
  process.store(0);
}

}  // namespace torc::pmpi
