// Progress thread, and progress hook.
//
// A thread of the program that waits inside MPI spins. If the progress thread shares its core, and
// spins too or yields, it runs only for some milliseconds now and then; but at once when it wakes
// up. So it polls, and sleeps some microseconds. (Polls per second on one core beside a blocking
// receive, with MPICH 4.0.2 and Open MPI 4.1.4: about 100 with yielding, 1200 and 5300 with
// sleeping.)
#include "runtime/pmpi/engine/progress_thread.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "support/mutex.h"

namespace torc::runtime::pmpi {
namespace {

constexpr long kShortestNap = 20'000;  // nanoseconds
constexpr long kLongestNap = 500'000;
// Naps in a row without need: about 10 ms. To wake the thread up takes a system call, a cost that a
// program with frequent waits inside MPI should not have each time.
constexpr int kNapsBeforeSleep = 24;

Mutex starting;  // and stopping
std::atomic<bool> is_running{false};
std::atomic<bool> stopping{false};
std::atomic<int> asleep{0};  // 1 from its last poll before it sleeps
pthread_t thread;
pid_t process = 0;  // owner of the thread

bool isNeeded() {
  return attention.load() > idle_attention.load(std::memory_order_relaxed) &&
         (thread_use.load(std::memory_order_relaxed) == ThreadUse::kAlways ||
          threads_inside.load() > 0);
}

void nap(long nanoseconds) {
  const timespec time = {0, nanoseconds};
  nanosleep(&time, nullptr);
}

/// A thread that needs progress says so first, then checks whether this one is asleep.
void sleepUntilNeeded() {
  asleep.store(1);
  if (isNeeded() || stopping.load()) {
    asleep.store(0);
  } else {
    asleep.wait(1);
  }
}

void* work(void*) {
  prctl(PR_SET_TIMERSLACK, 1UL);
  int idle = 0;
  while (!stopping.load(std::memory_order_relaxed)) {
    if (isNeeded()) {
      idle = 0;
      advance();
      if (threads_inside.load(std::memory_order_relaxed) > 0) {
        nap(kShortestNap);
      } else {
        sched_yield();  // the program, if it computes, may need the core
      }
    } else if (++idle < kNapsBeforeSleep) {
      nap(std::min(kShortestNap << std::min(idle, 8), kLongestNap));
    } else {
      sleepUntilNeeded();
    }
  }
  return nullptr;
}

/// For a process that ends without MPI_Finalize: MPI and its libraries are shut down after this.
/// The thread may wait for a lock that the ending thread holds, for example in MPI's abort, so that
/// this waits for it only a short time. A child of fork has no such thread.
void stopAtExit() {
  if (!is_running.load() || getpid() != process) return;
  stopping.store(true);
  if (asleep.exchange(0) != 0) asleep.notify_one();
  timespec end{};
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += 100'000'000;
  end.tv_sec += end.tv_nsec / 1'000'000'000;
  end.tv_nsec %= 1'000'000'000;
  pthread_timedjoin_np(thread, nullptr, &end);
}

bool start() TORC_REQUIRES(starting) {
  stopping.store(false);
  process = getpid();
  std::atexit(stopAtExit);
  // From now on there are two threads.
  has_threads.store(true);
  // Only the program and its threads handle signals.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&thread, nullptr, work, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  is_running.store(started);
  if (!started) {
    thread_use.store(ThreadUse::kNever);
    warnOnce("progress thread",
             "no thread can be started: torc makes progress in the program's MPI calls only");
  }
  return started;
}

}  // namespace

bool wakeProgressThread() {
  if (!is_running.load(std::memory_order_acquire)) {
    const MutexLock lock(starting);
    if (thread_use.load() == ThreadUse::kNever) return false;
    // Without a lock the calling thread would no longer have the engine for itself.
    if (inside_torc && !has_threads.load()) return false;
    if (!is_running.load() && !start()) return false;
  }
  if (asleep.load() != 0 && asleep.exchange(0) != 0) asleep.notify_one();
  return true;
}

void stopProgressThread() {
  const MutexLock lock(starting);
  thread_use.store(ThreadUse::kNever);
  if (!is_running.exchange(false)) return;
  stopping.store(true);
  if (asleep.exchange(0) != 0) asleep.notify_one();
  pthread_join(thread, nullptr);
}

// ---- Progress hook of Open MPI: no public header declares it, but libopen-pal.so has had it since
// long before 4.1. MPICH has none.

namespace {

using Hook = int (*)();

int change(const char* how, Hook hook) {
  const auto function = reinterpret_cast<int (*)(Hook)>(dlsym(RTLD_DEFAULT, how));
  return function == nullptr ? -1 : function(hook);
}

/// Open MPI expects the number of completed events; torc reports none.
int advanceBesideMpi() {
  if (underWay() > 0) advance();
  return 0;
}

bool is_added = false;

}  // namespace

bool hasProgressHook() {
  return dlsym(RTLD_DEFAULT, "opal_progress_register") != nullptr;
}

bool addProgressHook() {
  is_added = change("opal_progress_register", &advanceBesideMpi) == 0;
  return is_added;
}

void removeProgressHook() {
  if (is_added) change("opal_progress_unregister", &advanceBesideMpi);
  is_added = false;
}

}  // namespace torc::runtime::pmpi
