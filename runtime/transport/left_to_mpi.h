// Memory that is never given back, as MPI may still read or write it: after a failure, when a
// message that nobody will complete cannot be cancelled either.
#ifndef TORC_RUNTIME_TRANSPORT_LEFT_TO_MPI_H_
#define TORC_RUNTIME_TRANSPORT_LEFT_TO_MPI_H_

#include <memory>

namespace torc::runtime {

/// Remembers `memory` until the process ends, so that checkers of leaks see that it is meant.
void leaveToMpi(void* memory) noexcept;

template <typename T>
void leaveToMpi(std::unique_ptr<T> memory) noexcept {
  leaveToMpi(memory.release());
}

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_LEFT_TO_MPI_H_
