// Interning: stores equal records of a table once.
#ifndef TORC_SCHEDULES_INTERNING_H_
#define TORC_SCHEDULES_INTERNING_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_map>
#include <vector>

#include "support/hash.h"

namespace torc {

/// The bytes of a record, or of a list of records: they have no padding
/// (schedules/format/file_layout.h).
template <typename Record>
std::span<const std::byte> rawBytes(const Record& record) {
  return std::as_bytes(std::span(&record, 1));
}
template <typename Record>
std::span<const std::byte> rawBytes(const std::vector<Record>& list) {
  return std::as_bytes(std::span(list));
}
struct BytesHash {
  std::size_t operator()(const auto& key) const { return hashBytes(rawBytes(key)); }
};
struct SameBytes {
  bool operator()(const auto& a, const auto& b) const {
    const auto x = rawBytes(a), y = rawBytes(b);
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size()) == 0;
  }
};

/// Records of a table by their value.
template <typename Record>
using RecordIndex = std::unordered_map<Record, std::uint32_t, BytesHash, SameBytes>;

/// Index of `value` in `table`, appended now if it is new.
template <typename Record>
std::uint32_t intern(const Record& value, std::vector<Record>& table, RecordIndex<Record>& index) {
  const auto [entry, is_new] = index.try_emplace(value, static_cast<std::uint32_t>(table.size()));
  if (is_new) table.push_back(value);
  return entry->second;
}

}  // namespace torc

#endif  // TORC_SCHEDULES_INTERNING_H_
