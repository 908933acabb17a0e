// Reads a schedule from the bytes of its file. Every length is checked before anything is
// dereferenced, every byte of the file is either given a meaning or required to be zero, and the
// schedule passes `validate` before anyone sees it.
#include <algorithm>
#include <cstring>
#include <iomanip>

#include <xxhash.h>

#include "schedules/file.h"
#include "schedules/file_layout.h"
#include "schedules/message.h"
#include "schedules/validate.h"

namespace torc {
namespace {

constexpr char kTableNames[kTableCount][12] = {"name",       "producer",   "colors", "streams",
                                               "boxes",      "pieces",     "shifts", "frames",
                                               "operations", "dependences"};

/// Reads fields one after the other; errors have the name and the offset of the field.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> file) : file_(file) {}

  template <typename T>
  Status read(T& value, const char* field) {
    static_assert(std::is_trivially_copyable_v<T>);
    field_ = field;
    field_offset_ = offset_;
    if (sizeof(T) > file_.size() - offset_) {
      return fault("ends at ", offset_ + sizeof(T), ", file has ", file_.size(), " bytes");
    }
    std::memcpy(static_cast<void*>(&value), file_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return {};
  }

  /// A field with one value that is right.
  template <typename T>
  Status expect(T wanted, const char* field) {
    T value{};
    if (Status status = read(value, field); !status.ok()) return status;
    return value == wanted ? Status() : fault("is ", value, ", expected ", wanted);
  }

  /// A fault of the field read last: `0000000c: header size: is 480, expected 472`.
  template <typename... Pieces>
  Status fault(const Pieces&... pieces) const {
    return faultAt(field_offset_, field_, ": ", pieces...);
  }
  template <typename... Pieces>
  Status faultAt(std::uint64_t offset, const Pieces&... pieces) const {
    return malformed(std::hex, std::setw(8), std::setfill('0'), offset, std::dec, ": ", pieces...);
  }

  std::span<const std::byte> file() const { return file_; }

 private:
  std::span<const std::byte> file_;
  std::uint64_t offset_ = 0;
  const char* field_ = "";
  std::uint64_t field_offset_ = 0;
};

Status readMagic(FieldReader& reader) {
  const auto file = reader.file();
  if (file.empty()) return malformed("file is empty");
  if (!isScheduleFile(file)) return malformed("not a torc schedule file");
  std::array<char, sizeof(kFileMagic)> magic{};
  if (Status status = reader.read(magic, "magic"); !status.ok()) return status;
  if (magic != std::to_array(kFileMagic)) {
    return reader.fault("is damaged, as by a transfer that rewrites line ends");
  }
  return {};
}

/// Fields whose meaning no version changes, so that later versions are told from damage.
Status readPreamble(FieldReader& reader) {
  std::uint32_t version = 0;
  if (Status status = reader.read(version, "format version"); !status.ok()) return status;
  if (version != kFormatVersion) {
    return reader.faultAt(offsetof(FileHeader, version), "format version ", version,
                          ", this torc reads ", kFormatVersion);
  }
  const std::uint32_t header_size = sizeof(FileHeader);
  if (Status status = reader.expect(header_size, "header size"); !status.ok()) return status;
  std::uint64_t file_size = 0;
  if (Status status = reader.read(file_size, "file size"); !status.ok()) return status;
  if (file_size != reader.file().size()) {
    return reader.fault("file has ", reader.file().size(), " bytes, header says ", file_size);
  }
  std::uint64_t checksum = 0;
  if (Status status = reader.read(checksum, "checksum"); !status.ok()) return status;
  const auto content = reader.file().subspan(kChecksummedFrom);
  if (const std::uint64_t actual = XXH3_64bits(content.data(), content.size());
      actual != checksum) {
    return reader.fault(std::hex, std::setfill('0'), "header says ", std::setw(16), checksum,
                        ", content has ", std::setw(16), actual, ": the file is damaged");
  }
  return {};
}

Status readFacts(FieldReader& reader, ScheduleView& schedule) {
  std::array<std::uint8_t, 3> reserved{};
  if (Status status = reader.read(schedule.collective, "collective"); !status.ok()) return status;
  if (Status status = reader.read(reserved, "reserved"); !status.ok()) return status;
  if (reserved != std::array<std::uint8_t, 3>{}) return reader.fault("is not 0");
  if (Status status = reader.read(schedule.flags, "flags"); !status.ok()) return status;
  if (Status status = reader.read(schedule.slot_count, "slot count"); !status.ok()) return status;
  if (Status status = reader.expect(kTableCount, "table count"); !status.ok()) return status;
  return reader.read(schedule.topology, "topology");
}

/// Reads the entries of the directory, and with each the place of its table. Tables lie one after
/// the other, so that they cannot overlap and leave no byte unread.
class TableReader {
 public:
  explicit TableReader(FieldReader& reader) : reader_(reader) {}

  template <typename Record>
  Status read(TableKind kind, std::span<const Record>& records) {
    static_assert(std::is_trivially_copyable_v<Record> && alignof(Record) <= kTableAlignment);
    TableEntry entry;
    const char* name = kTableNames[static_cast<std::size_t>(kind)];
    if (Status status = reader_.read(entry, name); !status.ok()) return status;
    if (Status status = check(entry, kind, sizeof(Record)); !status.ok()) return status;
    records = {reinterpret_cast<const Record*>(reader_.file().data() + entry.offset),
               static_cast<std::size_t>(entry.count)};
    return {};
  }

  Status finish() const {
    if (next_ == reader_.file().size()) return {};
    return reader_.faultAt(next_, "tables end at ", next_, ", file has ", reader_.file().size(),
                           " bytes");
  }

 private:
  Status check(const TableEntry& entry, TableKind kind, std::size_t record_size) {
    const std::uint64_t file_size = reader_.file().size();
    if (entry.kind != static_cast<std::uint32_t>(kind)) {
      return reader_.fault("table kind is ", entry.kind, ", expected ",
                           static_cast<std::uint32_t>(kind));
    }
    if (entry.record_size != record_size) {
      return reader_.fault("records have ", entry.record_size, " bytes, expected ", record_size);
    }
    if (entry.offset != next_) {
      return reader_.fault("table starts at ", entry.offset, ", expected ", next_);
    }
    if (entry.count > kNone) {  // so that what follows cannot overflow
      return reader_.fault("table has ", entry.count, " records, at most ", kNone);
    }
    const std::uint64_t end = entry.offset + entry.count * record_size;
    next_ = alignedUp(end);
    if (next_ > file_size) {
      return reader_.fault("table of ", entry.count, " records ends at ", next_, ", file has ",
                           file_size, " bytes");
    }
    const auto padding = reader_.file().subspan(end, next_ - end);
    if (std::ranges::any_of(padding, [](std::byte byte) { return byte != std::byte{}; })) {
      return reader_.faultAt(end, kTableNames[entry.kind], ": padding is not 0");
    }
    return {};
  }

  FieldReader& reader_;
  std::uint64_t next_ = sizeof(FileHeader);
};

Status readTables(FieldReader& reader, ScheduleView& schedule) {
  TableReader tables(reader);
  std::span<const char> name, producer;
  Status status = tables.read(TableKind::kName, name);
  if (status.ok()) status = tables.read(TableKind::kProducer, producer);
  if (status.ok()) status = tables.read(TableKind::kColors, schedule.colors);
  if (status.ok()) status = tables.read(TableKind::kStreams, schedule.streams);
  if (status.ok()) status = tables.read(TableKind::kBoxes, schedule.boxes);
  if (status.ok()) status = tables.read(TableKind::kPieces, schedule.pieces);
  if (status.ok()) status = tables.read(TableKind::kShifts, schedule.shifts);
  if (status.ok()) status = tables.read(TableKind::kFrames, schedule.frames);
  if (status.ok()) status = tables.read(TableKind::kOperations, schedule.operations);
  if (status.ok()) status = tables.read(TableKind::kDependences, schedule.dependences);
  if (status.ok()) status = tables.finish();
  schedule.name = {name.data(), name.size()};
  schedule.producer = {producer.data(), producer.size()};
  return status;
}

/// `file` is aligned for every record; the view refers to it.
Status readView(std::span<const std::byte> file, ScheduleView& schedule) {
  FieldReader reader(file);
  Status status = readMagic(reader);
  if (status.ok()) status = readPreamble(reader);
  if (status.ok()) status = readFacts(reader, schedule);
  if (status.ok()) status = readTables(reader, schedule);
  if (status.ok()) status = validate(schedule);
  return status;
}

}  // namespace

bool isScheduleFile(std::span<const std::byte> bytes) {
  constexpr std::size_t kLetters = 4;  // what no transfer rewrites
  return bytes.size() >= kLetters && std::memcmp(bytes.data(), kFileMagic, kLetters) == 0;
}

StatusOr<LoadedSchedule> readSchedule(std::span<const std::byte> file, const std::string& origin) {
  LoadedSchedule loaded;
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  loaded.storage_.resize(file.size() / kWord + (file.size() % kWord != 0));
  if (!file.empty()) std::memcpy(loaded.storage_.data(), file.data(), file.size());
  const auto copy = std::as_bytes(std::span(loaded.storage_)).first(file.size());
  if (Status status = readView(copy, loaded.view_); !status.ok()) return status.annotated(origin);
  return loaded;
}

StatusOr<LoadedSchedule> loadSchedule(const std::string& path) {
  StatusOr<std::vector<std::byte>> file = readFile(path);
  if (!file.ok()) return file.status();
  return readSchedule(*file, path);
}

}  // namespace torc
