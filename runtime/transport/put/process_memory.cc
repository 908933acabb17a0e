// Memory of other processes: process_vm_readv and process_vm_writev, and processes that are gone.
#include "runtime/transport/put/process_memory.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "support/message.h"

namespace torc::runtime {
namespace {

template <typename Call>
Status copyMemory(const char* name, Call call, int process, std::uint64_t address,
                  std::byte* memory, std::size_t bytes) {
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
    if (copied < 0 && errno == ESRCH) {
      return {StatusCode::kTransport, message("process ", process, " of this host has ended")};
    }
    const bool forbidden = copied < 0 && (errno == EPERM || errno == ENOSYS);
    return {forbidden ? StatusCode::kUnsupported : StatusCode::kTransport,
            message(name, " of process ", process, ": ",
                    copied < 0 ? std::strerror(errno) : "nothing is there")};
  }
  return {};
}

}  // namespace

Status pull(int process, std::uint64_t address, std::byte* memory, std::size_t bytes) {
  return copyMemory("process_vm_readv", process_vm_readv, process, address, memory, bytes);
}

Status push(int process, std::uint64_t address, std::byte* memory, std::size_t bytes) {
  return copyMemory("process_vm_writev", process_vm_writev, process, address, memory, bytes);
}

bool hasEnded(int process) {
  // One that nobody has waited for has its number still.
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (descriptor < 0) return errno == ESRCH || (kill(process, 0) != 0 && errno == ESRCH);
  pollfd asked{descriptor, POLLIN, 0};
  const bool ended = ::poll(&asked, 1, 0) > 0;
  close(descriptor);
  return ended;
}

}  // namespace torc::runtime
