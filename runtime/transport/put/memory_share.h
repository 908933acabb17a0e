// Memory share: how much a process may take of its own limits for shared memory. The limits are the
// program's: shared memory has a sixteenth of the part that nobody has taken yet.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_MEMORY_SHARE_H_
#define TORC_RUNTIME_TRANSPORT_PUT_MEMORY_SHARE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace torc::runtime {

/// Bytes of address space that all segments of a context take, and may take.
struct MemoryShare {
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  std::size_t used = 0;

  /// False: there is not so much.
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

/// The share of the limit of which this process, one of `processes` of the host that are alike,
/// may take the least: of RLIMIT_AS; of the memory that is available, which is what a memfd takes;
/// of the cgroup's and those above it, version 1 or 2, where the files that the kernel caches do
/// not count. `root`: the folder that has /proc and /sys.
MemoryLeft shareOfLimits(int processes, const std::string& root = "");

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_MEMORY_SHARE_H_
