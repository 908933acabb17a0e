// Progress thread: moves operations on while the program cannot: while one of its threads waits
// inside MPI (TORC_PROGRESS=wait), or always (TORC_PROGRESS=thread). MPI has been initialised with
// MPI_THREAD_MULTIPLE for it. It is started when it is needed for the first time, and sleeps while
// there is nothing for it to do.
#ifndef TORC_RUNTIME_PMPI_ENGINE_PROGRESS_THREAD_H_
#define TORC_RUNTIME_PMPI_ENGINE_PROGRESS_THREAD_H_

#include <atomic>

namespace torc::runtime::pmpi {

/// When the thread is to move operations on.
enum class ThreadUse {
  kNever,   // there is none, and none can be
  kInside,  // while a thread of the program is inside MPI
  kAlways,
};

/// Set before torc is on; kNever from when a thread could not be made.
inline std::atomic<ThreadUse> thread_use{ThreadUse::kNever};

/// Threads of the program that are in a call that waits inside MPI.
inline std::atomic<int> threads_inside{0};

/// Makes sure that the thread runs and is awake. False: there is none.
bool wakeProgressThread();

/// After an operation has begun.
inline void tellProgressThread() {
  const ThreadUse use = thread_use.load(std::memory_order_relaxed);
  if (use == ThreadUse::kAlways || (use == ThreadUse::kInside && threads_inside.load() > 0)) {
    wakeProgressThread();
  }
}

/// No-op where there is none. No operation is under way.
void stopProgressThread();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_PROGRESS_THREAD_H_
