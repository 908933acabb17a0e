// Memory share: getrlimit, /proc/meminfo, the files of cgroups.
#include "runtime/transport/put/memory_share.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace torc::runtime {
namespace {

constexpr std::uint64_t kShares = 16;

/// The number behind `key` in a file of lines "KEY NUMBER"; without a key, the file's first number.
std::optional<std::uint64_t> numberIn(const std::string& path, std::string_view key = {}) {
  std::ifstream file(path);
  std::string word;
  std::uint64_t number = 0;
  while (!key.empty() && file >> word) {
    if (word == key) break;
  }
  if (file >> number) return number;
  return std::nullopt;
}

/// Bytes left below the limit of a cgroup's folder; none: it has no limit. The names are those of
/// its files, and of the lines with the size of the kernel's file cache.
struct CgroupFiles {
  const char *limit, *usage, *inactive, *active;
};
constexpr CgroupFiles kVersion1{"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                "total_inactive_file", "total_active_file"};
constexpr CgroupFiles kVersion2{"/memory.max", "/memory.current", "inactive_file", "active_file"};

std::optional<std::uint64_t> leftIn(const std::string& folder, const CgroupFiles& files) {
  const auto limit = numberIn(folder + files.limit), usage = numberIn(folder + files.usage);
  if (!limit || !usage) return std::nullopt;
  const std::string statistics = folder + "/memory.stat";
  const std::uint64_t cached = numberIn(statistics, files.inactive).value_or(0) +
                               numberIn(statistics, files.active).value_or(0);
  const std::uint64_t used = *usage - std::min(*usage, cached);
  return *limit - std::min(*limit, used);
}

/// Calls `visit` with the bytes left in each memory cgroup of this process.
template <typename Visit>
void forEachCgroup(const std::string& root, Visit visit) {
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // NUMBER:CONTROLLERS:PATH; version 2 has no controllers.
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_version2 = controllers == ",,";
    if (!is_version2 && controllers.find(",memory,") == std::string::npos) continue;
    const std::string mount = root + "/sys/fs/cgroup" + (is_version2 ? "" : "/memory");
    // In a container the upper part of the path, or all of it, may be invisible.
    for (std::string path = line.substr(second + 1);;) {
      const auto left = leftIn(mount + path, is_version2 ? kVersion2 : kVersion1);
      if (left) visit(*left);
      if (path.empty()) break;
      path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
    }
  }
}

}  // namespace

const char* nameOf(MemoryLeft::Limit limit) {
  switch (limit) {
    case MemoryLeft::Limit::kAddressSpace:
      return "the address space (ulimit -v)";
    case MemoryLeft::Limit::kMemory:
      return "the host's memory";
    case MemoryLeft::Limit::kCgroup:
      return "the memory of the cgroup";
  }
  return "";
}

MemoryLeft shareOfLimits(int processes, const std::string& root) {
  using Limit = MemoryLeft::Limit;
  MemoryLeft least{std::numeric_limits<std::int64_t>::max(), Limit::kMemory};
  const auto consider = [&](std::uint64_t left, std::uint64_t shares, Limit limit) {
    if (left / shares < least.bytes) least = {left / shares, limit};
  };
  const std::uint64_t of_host = kShares * static_cast<std::uint64_t>(std::max(1, processes));
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    const std::uint64_t mapped = numberIn(root + "/proc/self/statm").value_or(0) *
                                 static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    consider(address_space.rlim_cur - std::min<std::uint64_t>(address_space.rlim_cur, mapped),
             kShares, Limit::kAddressSpace);
  }
  if (const auto kilobytes = numberIn(root + "/proc/meminfo", "MemAvailable:")) {
    consider(*kilobytes * 1024, of_host, Limit::kMemory);
  }
  forEachCgroup(root, [&](std::uint64_t left) { consider(left, of_host, Limit::kCgroup); });
  return least;
}

}  // namespace torc::runtime
