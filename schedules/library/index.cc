// Reads, writes and searches a library's index. It checks every length before it dereferences
// anything, and the index passes `validate` before anyone uses it.
#include "schedules/library/index.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "schedules/faults/reject.h"
#include "schedules/format/field_reader.h"
#include "schedules/format/table_writer.h"
#include "schedules/library/index_layout.h"

namespace torc {
namespace {

constexpr FileKind kIndexFile{std::to_array(kIndexMagic),
                              "not the index of a torc library",
                              "index version",
                              kIndexVersion,
                              "build the library again",
                              sizeof(IndexHeader)};

/// Takes strings from the text, one after the other.
class TextReader {
 public:
  explicit TextReader(std::span<const std::byte> text) : text_(text) {}

  template <typename... Owner>
  void take(std::uint32_t length, std::string& value, const Owner&... owner) {
    rejectIf(length > text_.size(), owner..., " has ", length, " bytes, of which the text has ",
             text_.size());
    value.assign(reinterpret_cast<const char*>(text_.data()), length);
    text_ = text_.subspan(length);
  }

  void finish() const { rejectIf(!text_.empty(), "text: ", text_.size(), " bytes are left over"); }

 private:
  std::span<const std::byte> text_;
};

/// Visits the members of a stored record and its bytes.
class RecordReader {
 public:
  explicit RecordReader(const std::byte* bytes) : next_(bytes) {}

  template <std::size_t Size>
  void visit(Reserved<Size>) {
    for (std::size_t i = 0; i < Size; ++i)
      is_sound_ &= *next_++ == std::byte{};
  }
  template <typename T>
  void visit(T& value) {
    std::memcpy(static_cast<void*>(&value), next_, sizeof(T));
    next_ += sizeof(T);
  }
  void visit(std::string& value) {
    string_ = &value;
    visit(length_);
  }
  /// `name` is the record's string.
  void finish(TextReader& text, const char* what, std::size_t number, const char* name) const {
    rejectIf(!is_sound_, what, ' ', number, ": reserved is not 0");
    if (string_ == nullptr) return;
    text.take(length_, *string_, what, ' ', number, ": ", name);
  }

 private:
  const std::byte* next_;
  bool is_sound_ = true;
  std::string* string_ = nullptr;
  std::uint32_t length_ = 0;
};

class RecordWriter {
 public:
  RecordWriter(std::vector<std::byte>& bytes, std::string& text) : bytes_(bytes), text_(text) {}

  template <std::size_t Size>
  void visit(Reserved<Size>) {
    bytes_.resize(bytes_.size() + Size);
  }
  template <typename T>
  void visit(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void visit(const std::string& value) {
    visit(static_cast<std::uint32_t>(value.size()));
    text_ += value;
  }

 private:
  std::vector<std::byte>& bytes_;
  std::string& text_;
};

template <typename Visitor, typename Record>
void visitMembers(Visitor& visitor, Record& record) {
  const auto visit = [&](auto stored) {
    if constexpr (std::is_member_pointer_v<decltype(stored)>) {
      visitor.visit(record.*stored);
    } else {
      visitor.visit(stored);
    }
  };
  std::apply([&](auto... stored) { (visit(stored), ...); }, kStored<std::remove_const_t<Record>>);
}

using RecordSizes = std::array<std::size_t, kIndexTableCount>;

/// Bytes of a record of each table.
RecordSizes recordSizes() {
  RecordSizes sizes{1};
  const auto measure = [&]<typename Record>(const IndexTableOf<Record>& table) {
    std::vector<std::byte> bytes;
    std::string text;
    RecordWriter writer(bytes, text);
    const Record record{};
    visitMembers(writer, record);
    sizes[static_cast<std::size_t>(table.table)] = bytes.size();
  };
  std::apply([&](const auto&... tables) { (measure(tables), ...); }, kIndexTables);
  return sizes;
}

template <typename Record>
void takeRecords(const IndexTableOf<Record>& table, std::size_t record_size,
                 std::span<const std::byte> bytes, TextReader& text, LibraryIndex& index) {
  for (std::size_t i = 0; i < bytes.size() / record_size; ++i) {
    RecordReader reader(bytes.data() + i * record_size);
    visitMembers(reader, (index.*table.records).emplace_back());
    reader.finish(text, table.what, i, table.string);
  }
}

void readIndex(std::span<const std::byte> bytes, LibraryIndex& index) {
  FieldReader reader(bytes);
  std::uint32_t machine_length = 0, version_length = 0, tuned_on_length = 0;
  const std::uint32_t reserved = 0;
  readPreamble(reader, kIndexFile);
  reader.read(index.manifest_checksum, "manifest checksum");
  reader.read(machine_length, "length of machine");
  reader.read(version_length, "length of version");
  reader.read(tuned_on_length, "length of the job of tuning");
  reader.expect(reserved, "reserved");
  TableReader directory(reader, sizeof(IndexHeader));
  const RecordSizes sizes = recordSizes();
  std::array<std::span<const std::byte>, kIndexTableCount> tables;
  for (std::uint32_t i = 0; i < kIndexTableCount; ++i)
    directory.read(i, kIndexTableNames[i], sizes[i], tables[i]);
  directory.finish();
  TextReader text(tables[0]);
  text.take(machine_length, index.machine, "machine");
  text.take(version_length, index.version, "version");
  text.take(tuned_on_length, index.tuned_on, "job of tuning");
  const auto take = [&](const auto& table) {
    const auto number = static_cast<std::size_t>(table.table);
    takeRecords(table, sizes[number], tables[number], text, index);
  };
  std::apply([&](const auto&... all) { (take(all), ...); }, kIndexTables);
  text.finish();
  orReject(validate(index));
}

}  // namespace

std::string indexPath(const std::string& library) {
  return library + '/' + std::string(kIndexName);
}

std::string manifestPath(const std::string& library) {
  return library + '/' + std::string(kManifestName);
}

std::string libraryFilePath(const std::string& library, const std::string& name) {
  return library + '/' + std::string(kLibraryFilesFolder) + '/' + name;
}

std::uint64_t checksumOf(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

const LibrarySubTorus* LibraryIndex::findSubTorus(std::uint32_t partition,
                                                  const Extents& extents) const {
  const auto key = [](const LibrarySubTorus& one) { return std::pair(one.partition, one.extents); };
  const auto found = std::ranges::lower_bound(sub_tori, std::pair(partition, extents), {}, key);
  const bool is_it = found != sub_tori.end() && key(*found) == std::pair(partition, extents);
  return is_it ? &*found : nullptr;
}

const LibraryEntry* LibraryIndex::findEntry(std::uint32_t shape, Collective collective,
                                            std::uint64_t bytes) const {
  for (const std::vector<LibraryEntry>* list : {&tuned, &entries}) {
    // The last range that begins at `bytes` or below.
    const auto after = std::ranges::upper_bound(
        *list, std::tuple(shape, collective, bytes), {}, [](const LibraryEntry& entry) {
          return std::tuple(entry.shape, entry.collective, entry.lowest);
        });
    if (after == list->begin()) continue;
    const LibraryEntry& entry = *std::prev(after);
    if (entry.shape == shape && entry.collective == collective && bytes <= entry.highest) {
      return &entry;
    }
  }
  return nullptr;
}

StatusOr<LibraryIndex> readLibraryIndex(std::span<const std::byte> bytes,
                                        const std::string& origin) {
  LibraryIndex index;
  const Status status = statusOf([&] { readIndex(bytes, index); });
  if (!status.ok()) return status.annotated(origin);
  return index;
}

std::vector<std::byte> writeLibraryIndex(const LibraryIndex& index) {
  std::string text = index.machine + index.version + index.tuned_on;
  std::array<std::vector<std::byte>, kIndexTableCount> tables;
  const auto write = [&](const auto& table) {
    RecordWriter records(tables[static_cast<std::size_t>(table.table)], text);
    for (const auto& record : index.*table.records)
      visitMembers(records, record);
  };
  std::apply([&](const auto&... all) { (write(all), ...); }, kIndexTables);
  IndexHeader header;
  header.magic = std::to_array(kIndexMagic);
  header.version = kIndexVersion;
  header.manifest_checksum = index.manifest_checksum;
  header.machine_length = static_cast<std::uint32_t>(index.machine.size());
  header.version_length = static_cast<std::uint32_t>(index.version.size());
  header.tuned_on_length = static_cast<std::uint32_t>(index.tuned_on.size());
  TableWriter<IndexHeader> writer(header);
  writer.append(IndexTable::kText, text);
  const RecordSizes sizes = recordSizes();
  for (std::uint32_t i = 1; i < kIndexTableCount; ++i)
    writer.append(i, sizes[i], tables[i]);
  return writer.take();
}

}  // namespace torc
