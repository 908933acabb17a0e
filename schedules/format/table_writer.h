// Writes a binary file of tables: its header, then each table at the next multiple of eight.
#ifndef TORC_SCHEDULES_FORMAT_TABLE_WRITER_H_
#define TORC_SCHEDULES_FORMAT_TABLE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <xxhash.h>

#include "schedules/format/file_layout.h"

namespace torc {

/// `Header` begins like FileHeader and has `tables`. The caller sets all fields but sizes, checksum
/// and table entries, which are filled in here.
template <typename Header>
class TableWriter {
 public:
  explicit TableWriter(const Header& header) : header_(header), bytes_(sizeof(Header)) {
    header_.header_size = sizeof(Header);
  }

  /// `table` is an enumerator, the table's place. Each table is appended once, in order.
  template <typename Table, typename Records>
  void append(Table table, const Records& records) {
    append(table, sizeof(*records.data()),
           std::as_bytes(std::span(records.data(), records.size())));
  }
  /// The same for raw bytes of records of `record_size`.
  template <typename Table>
  void append(Table table, std::size_t record_size, std::span<const std::byte> content) {
    header_.tables[static_cast<std::size_t>(table)] = {
        .kind = static_cast<std::uint32_t>(table),
        .record_size = static_cast<std::uint32_t>(record_size),
        .offset = bytes_.size(),
        .count = content.size() / record_size,
    };
    bytes_.insert(bytes_.end(), content.begin(), content.end());
    bytes_.resize(alignedUp(bytes_.size()));
  }

  /// The file, with its size and checksum.
  std::vector<std::byte> take() {
    header_.file_size = bytes_.size();
    std::memcpy(bytes_.data(), &header_, sizeof(header_));
    header_.checksum =
        XXH3_64bits(bytes_.data() + kChecksummedFrom, bytes_.size() - kChecksummedFrom);
    std::memcpy(bytes_.data(), &header_, sizeof(header_));
    return std::move(bytes_);
  }

 private:
  Header header_;
  std::vector<std::byte> bytes_;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_FORMAT_TABLE_WRITER_H_
