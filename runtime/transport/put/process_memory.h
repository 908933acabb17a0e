// Memory of other processes of the host, as far as the system lets one copy from and to it.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_PROCESS_MEMORY_H_
#define TORC_RUNTIME_TRANSPORT_PUT_PROCESS_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "support/status.h"

namespace torc::runtime {

/// Reads another process's memory into a run of the caller's; writes it from there. Errors:
/// kUnsupported, the system does not allow it; kTransport, the process or its memory is not there.
Status pull(int process, std::uint64_t address, std::byte* memory, std::size_t bytes);
Status push(int process, std::uint64_t address, std::byte* memory, std::size_t bytes);

/// Whether a process has surely ended.
bool hasEnded(int process);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_PROCESS_MEMORY_H_
