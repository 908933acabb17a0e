// Progress thread: moves operations on while the program cannot: while one of its threads waits
// inside MPI (TORC_PROGRESS=wait), or always (TORC_PROGRESS=thread). MPI has been initialised with
// MPI_THREAD_MULTIPLE for it. It starts at its first use, and sleeps while no progress is needed.
//
// Progress hook: a function that MPI calls while it waits, in the waiting thread. Open MPI has one
// for its own components, such as nonblocking collectives. torc's operations use it, too, unless
// several threads of the program may call MPI at a time.
#ifndef TORC_RUNTIME_PMPI_ENGINE_PROGRESS_THREAD_H_
#define TORC_RUNTIME_PMPI_ENGINE_PROGRESS_THREAD_H_

#include <atomic>

namespace torc::runtime::pmpi {

/// When the thread makes progress.
enum class ThreadUse {
  kNever,   // the thread does not exist, and cannot
  kInside,  // while a thread of the program is inside MPI
  kAlways,
};

/// Set before torc starts; kNever once the thread could not be created.
inline std::atomic<ThreadUse> thread_use{ThreadUse::kNever};

/// Threads of the program in calls that wait inside MPI.
inline std::atomic<int> threads_inside{0};

/// Makes sure that the thread runs and is awake. False: it does not exist.
bool wakeProgressThread();

/// After an operation has begun.
inline void tellProgressThread() {
  const ThreadUse use = thread_use.load(std::memory_order_relaxed);
  if (use == ThreadUse::kAlways || (use == ThreadUse::kInside && threads_inside.load() > 0)) {
    wakeProgressThread();
  }
}

/// No-op without a thread. Precondition: no operation is under way.
void stopProgressThread();

/// Whether this process's MPI has a progress hook.
bool hasProgressHook();

/// False: MPI refuses the function.
bool addProgressHook();

/// No-op without a hook.
void removeProgressHook();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_PROGRESS_THREAD_H_
