// Memory that is never freed, as MPI may still read or write it: after a failure, an incomplete
// message may be impossible to cancel.
#ifndef TORC_RUNTIME_TRANSPORT_LEFT_TO_MPI_H_
#define TORC_RUNTIME_TRANSPORT_LEFT_TO_MPI_H_

#include <memory>

namespace torc::runtime {

/// Keeps a pointer to `memory` until the process ends, so that leak checkers accept it.
void leaveToMpi(void* memory) noexcept;

template <typename T>
void leaveToMpi(std::unique_ptr<T> memory) noexcept {
  leaveToMpi(memory.release());
}

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_LEFT_TO_MPI_H_
