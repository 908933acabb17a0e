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

/// Of a record, or of a list of records: they have no padding (schedules/format/file_layout.h).
struct BytesHash {
  template <typename Record>
  std::size_t operator()(const Record& record) const {
    return hashBytes(std::as_bytes(std::span(&record, 1)));
  }
  template <typename Record>
  std::size_t operator()(const std::vector<Record>& list) const {
    return hashBytes(std::as_bytes(std::span(list)));
  }
};

/// Records of a table by their value.
template <typename Record>
using RecordIndex = std::unordered_map<Record, std::uint32_t, BytesHash>;

/// Index of `value` in `table`, appended now if it is new.
template <typename Record>
std::uint32_t intern(const Record& value, std::vector<Record>& table, RecordIndex<Record>& index) {
  const auto [entry, is_new] = index.try_emplace(value, static_cast<std::uint32_t>(table.size()));
  if (is_new) table.push_back(value);
  return entry->second;
}

}  // namespace torc

#endif  // TORC_SCHEDULES_INTERNING_H_
