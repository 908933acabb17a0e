// Memory share: the part of a process's own limits that shared memory may use. The limits are for
// the program: shared memory gets a sixteenth of the unused part.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_MEMORY_SHARE_H_
#define TORC_RUNTIME_TRANSPORT_PUT_MEMORY_SHARE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace torc::runtime {

/// Bytes of address space that all segments of a context use, and may use.
struct MemoryShare {
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  std::size_t used = 0;

  /// False: too little is left.
  bool take(std::size_t bytes) {
    if (used > limit || bytes > limit - used) return false;
    used += bytes;
    return true;
  }
  void giveBack(std::size_t bytes) { used -= bytes; }
};

/// A limit of the process, by the bytes that are left below it.
struct MemoryLeft {
  enum class Limit : std::uint64_t { kAddressSpace, kMemory, kCgroup };
  std::uint64_t bytes = 0;
  Limit limit = Limit::kMemory;
};
const char* nameOf(MemoryLeft::Limit limit);

/// The smallest share of the limits, for one of `processes` equal processes of the host. Limits are
/// RLIMIT_AS; the available memory, which a memfd uses; and those of the cgroup and its ancestors,
/// version 1 or 2, without the kernel's file cache. `root`: the folder that has /proc and /sys.
MemoryLeft shareOfLimits(int processes, const std::string& root = "");

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_MEMORY_SHARE_H_
