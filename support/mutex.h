// A mutex whose use Clang checks (thread_annotations.h), unlike the standard library's.
#ifndef TORC_SUPPORT_MUTEX_H_
#define TORC_SUPPORT_MUTEX_H_

#include <mutex>

#include "support/thread_annotations.h"

namespace torc {

class TORC_CAPABILITY("mutex") Mutex : public std::mutex {};

/// Locks the mutex for its lifetime.
class TORC_SCOPED_CAPABILITY MutexLock : std::lock_guard<std::mutex> {
 public:
  explicit MutexLock(Mutex& mutex) TORC_ACQUIRE(mutex) : std::lock_guard<std::mutex>(mutex) {}
  ~MutexLock() TORC_RELEASE() {}
};

}  // namespace torc

#endif  // TORC_SUPPORT_MUTEX_H_
