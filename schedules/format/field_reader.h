// Reads the fields and tables of a binary file in order. It checks every length before it
// dereferences anything; errors have the name of the field and its offset. Shared by the readers of
// schedule files and of library indices.
#ifndef TORC_SCHEDULES_FORMAT_FIELD_READER_H_
#define TORC_SCHEDULES_FORMAT_FIELD_READER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>

#include <xxhash.h>

#include "schedules/faults/reject.h"
#include "schedules/format/file_layout.h"
#include "support/message.h"

namespace torc {

class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> file) : file_(file) {}

  template <typename T>
  void read(T& value, std::string_view field) {
    static_assert(std::is_trivially_copyable_v<T>);
    field_ = field;
    field_offset_ = offset_;
    if (sizeof(T) > file_.size() - offset_)
      fault("ends at ", offset_ + sizeof(T), ", file has ", file_.size(), " bytes");
    std::memcpy(static_cast<void*>(&value), file_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
  }

  /// A field with exactly one valid value.
  template <typename T>
  void expect(T wanted, std::string_view field) {
    T value{};
    read(value, field);
    if (value != wanted) fault("is ", value, ", expected ", wanted);
  }

  /// Rejects the field read last: `0000000c: header size: is 480, expected 472`.
  template <typename... Pieces>
  [[noreturn]] void fault(const Pieces&... pieces) const {
    faultAt(field_offset_, field_, ": ", pieces...);
  }
  template <typename... Pieces>
  [[noreturn]] void faultAt(std::uint64_t offset, const Pieces&... pieces) const {
    reject(std::hex, std::setw(8), std::setfill('0'), offset, std::dec, ": ", pieces...);
  }

  std::span<const std::byte> file() const { return file_; }

 private:
  std::span<const std::byte> file_;
  std::uint64_t offset_ = 0;
  std::string_view field_;
  std::uint64_t field_offset_ = 0;
};

/// File size and checksum, adjacent and at the same place in every header.
inline void readChecksum(FieldReader& reader) {
  std::uint64_t file_size = 0;
  reader.read(file_size, "file size");
  if (file_size != reader.file().size())
    reader.fault("file has ", reader.file().size(), " bytes, header says ", file_size);
  std::uint64_t checksum = 0;
  reader.read(checksum, "checksum");
  const auto content = reader.file().subspan(kChecksummedFrom);
  if (const std::uint64_t actual = XXH3_64bits(content.data(), content.size()); actual != checksum)
    reader.fault(std::hex, std::setfill('0'), "header says ", std::setw(16), checksum, ", content ",
                 std::setw(16), actual, ": damaged");
}

/// A kind of file, by the first bytes of all its versions.
struct FileKind {
  std::array<char, 8> magic;
  const char* foreign;  // "not a torc schedule file"
  const char* version_field;
  std::uint32_t version;
  const char* if_older;  // advice for a file of an earlier version
  std::uint32_t header_size;
};

/// The first letters, which no text-mode transfer changes.
inline bool hasLettersOf(const FileKind& kind, std::span<const std::byte> file) {
  constexpr std::size_t kLetters = 4;
  return file.size() >= kLetters && std::memcmp(file.data(), kind.magic.data(), kLetters) == 0;
}

/// Reads the fields that all versions share, so that later versions are distinguished from damage.
inline void readPreamble(FieldReader& reader, const FileKind& kind) {
  rejectIf(reader.file().empty(), "file is empty");
  rejectIf(!hasLettersOf(kind, reader.file()), kind.foreign);
  std::array<char, 8> magic{};
  reader.read(magic, "magic");
  if (magic != kind.magic) reader.fault("is damaged, as by a transfer that rewrites line ends");
  std::uint32_t version = 0;
  reader.read(version, kind.version_field);
  if (version != kind.version)
    reader.faultAt(sizeof(kind.magic), kind.version_field, " ", version, ", this torc reads ",
                   kind.version, ": ",
                   version < kind.version ? kind.if_older : "it needs a later torc");
  reader.expect(kind.header_size, "header size");
  readChecksum(reader);
}

/// Reads the entries of the directory, and with each the place of its table. Tables are contiguous,
/// so that they cannot overlap or leave unread bytes.
class TableReader {
 public:
  /// The first table starts at `next`.
  TableReader(FieldReader& reader, std::uint64_t next) : reader_(reader), next_(next) {}

  /// `Kind` is an enumeration of the tables.
  template <typename Kind, typename Record>
  void read(Kind table, std::string_view name, std::span<const Record>& records) {
    static_assert(std::is_trivially_copyable_v<Record> && alignof(Record) <= kTableAlignment);
    std::span<const std::byte> bytes;
    read(table, name, sizeof(Record), bytes);
    // The bytes are an array of std::byte, in which the records that were copied there are objects
    // (C++20, [intro.object]).
    records = {std::launder(reinterpret_cast<const Record*>(bytes.data())),
               bytes.size() / sizeof(Record)};
    if (bytes.empty()) records = {};
  }
  /// The bytes of a table whose records have `record_size`.
  template <typename Kind>
  void read(Kind table, std::string_view name, std::size_t record_size,
            std::span<const std::byte>& bytes) {
    TableEntry entry;
    const auto kind = static_cast<std::uint32_t>(table);
    reader_.read(entry, name);
    check(entry, kind, name, record_size);
    bytes = reader_.file().subspan(entry.offset, entry.count * record_size);
  }

  void finish() const {
    if (next_ != reader_.file().size())
      reader_.faultAt(next_, "tables end at ", next_, ", file has ", reader_.file().size(),
                      " bytes");
  }

 private:
  void check(const TableEntry& entry, std::uint32_t kind, std::string_view name,
             std::size_t record_size) {
    const std::uint64_t file_size = reader_.file().size();
    if (entry.kind != kind) reader_.fault("table kind is ", entry.kind, ", expected ", kind);
    if (entry.record_size != record_size)
      reader_.fault("records have ", entry.record_size, " bytes, expected ", record_size);
    if (entry.offset != next_)
      reader_.fault("table starts at ", entry.offset, ", expected ", next_);
    if (entry.count > kNone)  // to rule out overflow below
      reader_.fault("table has ", entry.count, " records, at most ", kNone);
    const std::uint64_t end = entry.offset + entry.count * record_size;
    next_ = alignedUp(end);
    if (next_ > file_size)
      reader_.fault("table of ", entry.count, " records ends at ", next_, ", file has ", file_size,
                    " bytes");
    const auto padding = reader_.file().subspan(end, next_ - end);
    if (std::ranges::any_of(padding, [](std::byte byte) { return byte != std::byte{}; }))
      reader_.faultAt(end, name, ": padding is not 0");
  }

  FieldReader& reader_;
  std::uint64_t next_;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_FORMAT_FIELD_READER_H_
