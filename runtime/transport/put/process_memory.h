// Memory of other processes of the host, as far as the system lets one copy from and to it.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_PROCESS_MEMORY_H_
#define TORC_RUNTIME_TRANSPORT_PUT_PROCESS_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace torc::runtime {

/// What became of a copy. A part of the bytes may have been copied in any case.
enum class Copied : std::uint8_t {
  kAll,
  kNotThese,   // a page of either memory is not for the system to touch
  kForbidden,  // the system does not let this process copy
  kEnded,      // the other process has ended
};

/// Reads another process's memory into a run of the caller's; writes it from there.
Copied pull(int process, std::uint64_t address, std::byte* memory, std::size_t bytes);
Copied push(int process, std::uint64_t address, std::byte* memory, std::size_t bytes);

/// Whether a process has surely ended.
bool hasEnded(int process);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_PROCESS_MEMORY_H_
