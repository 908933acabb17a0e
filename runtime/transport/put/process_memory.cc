// Memory of other processes: process_vm_readv, process_vm_writev, and a test whether a process has
// ended.
#include "runtime/transport/put/process_memory.h"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace torc::runtime {
namespace {

template <typename Call>
Copied copyMemory(Call call, int process, std::uint64_t address, std::byte* memory,
                  std::size_t bytes) {
  while (bytes > 0) {
    const iovec mine{memory, bytes};
    const iovec theirs{reinterpret_cast<void*>(address), bytes};
    const ssize_t copied = call(process, &mine, 1, &theirs, 1, 0);
    if (copied > 0) {
      memory += copied;
      address += static_cast<std::uint64_t>(copied);
      bytes -= static_cast<std::size_t>(copied);
      continue;
    }
    if (copied < 0 && errno == EINTR) continue;
    if (copied < 0 && errno == ESRCH) return Copied::kEnded;
    return copied < 0 && (errno == EPERM || errno == ENOSYS) ? Copied::kForbidden
                                                             : Copied::kNotThese;
  }
  return Copied::kAll;
}

}  // namespace

Copied pull(int process, std::uint64_t address, std::byte* memory, std::size_t bytes) {
  return copyMemory(process_vm_readv, process, address, memory, bytes);
}

Copied push(int process, std::uint64_t address, std::byte* memory, std::size_t bytes) {
  return copyMemory(process_vm_writev, process, address, memory, bytes);
}

bool hasEnded(int process) {
  // A process without a wait() by its parent keeps its number.
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (descriptor < 0) return errno == ESRCH || (kill(process, 0) != 0 && errno == ESRCH);
  pollfd asked{descriptor, POLLIN, 0};
  const bool ended = ::poll(&asked, 1, 0) > 0;
  close(descriptor);
  return ended;
}

}  // namespace torc::runtime
