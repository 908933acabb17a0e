// Memory of other processes of the host, as far as the system allows copies from and to it.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_PROCESS_MEMORY_H_
#define TORC_RUNTIME_TRANSPORT_PUT_PROCESS_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace torc::runtime {

/// Result of a copy. A part of the bytes may have been copied in any case.
enum class Copied : std::uint8_t {
  kAll,
  kNotThese,   // the system cannot access a page of either memory
  kForbidden,  // the system does not allow this process to copy
  kEnded,      // the other process has ended
};

/// Reads another process's memory into a run of the caller's; `push` writes it from there.
Copied pull(int process, std::uint64_t address, std::byte* memory, std::size_t bytes);
Copied push(int process, std::uint64_t address, std::byte* memory, std::size_t bytes);

/// Whether a process has certainly ended.
bool hasEnded(int process);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_PROCESS_MEMORY_H_
