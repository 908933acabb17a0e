// Reads a schedule from the bytes of its file. It checks every length before it dereferences
// anything. Every byte of the file has a meaning or must be zero, and the schedule passes
// `validate` before anyone uses it.
#include <cstddef>
#include <cstring>

#include "schedules/fields.h"
#include "schedules/format/field_reader.h"
#include "schedules/format/file.h"
#include "schedules/format/file_layout.h"
#include "schedules/validation/validate.h"

namespace torc {
namespace {

constexpr FileKind kScheduleFile{std::to_array(kFileMagic), "not a torc schedule file",
                                 "format version",          kFormatVersion,
                                 "compile it again",        sizeof(FileHeader)};
constexpr FileKind kGraphFile{std::to_array(kFileMagic), "not a torc schedule file",
                              "format version",          kGraphFormatVersion,
                              "compile it again",        sizeof(GraphFileHeader)};

bool hasGraphVersion(std::span<const std::byte> file) {
  std::uint32_t version = 0;
  constexpr std::size_t kOffset = offsetof(FileHeader, version);
  if (file.size() < kOffset + sizeof(version)) return false;
  std::memcpy(&version, file.data() + kOffset, sizeof(version));
  return version >= kGraphFormatVersion;
}

void readFacts(FieldReader& reader, bool has_graph, ScheduleView& schedule) {
  std::array<std::uint8_t, 3> reserved{};
  reader.read(schedule.collective, "collective");
  reader.read(reserved, "reserved");
  if (reserved != std::array<std::uint8_t, 3>{}) reader.fault("is not 0");
  reader.read(schedule.flags, "flags");
  reader.read(schedule.slot_count, "slot count");
  reader.read(schedule.segments, "segments");
  reader.read(schedule.window, "window");
  const std::uint32_t tables = has_graph ? kGraphTableCount : kTableCount;
  reader.expect(tables, "table count");
  reader.read(schedule.topology, "topology");
}

void readTables(FieldReader& reader, bool has_graph, ScheduleView& schedule) {
  TableReader tables(reader, has_graph ? sizeof(GraphFileHeader) : sizeof(FileHeader));
  std::span<const char> name, producer;
  tables.read(TableKind::kName, "name", name);
  tables.read(TableKind::kProducer, "producer", producer);
  auto kind = static_cast<std::uint32_t>(TableKind::kColors);
  forEachTable([&](std::string_view key, auto& records) { tables.read(kind++, key, records); },
               schedule);
  if (has_graph) {
    tables.read(TableKind::kGraphLinks, "links", schedule.links);
    if (schedule.links.empty()) reader.fault("a graph has links");
  }
  tables.finish();
  schedule.name = {name.data(), name.size()};
  schedule.producer = {producer.data(), producer.size()};
}

/// `file` is aligned for every record; the view refers to it.
void readView(std::span<const std::byte> file, ScheduleView& schedule) {
  FieldReader reader(file);
  const bool has_graph = hasGraphVersion(file);
  readPreamble(reader, has_graph ? kGraphFile : kScheduleFile);
  readFacts(reader, has_graph, schedule);
  readTables(reader, has_graph, schedule);
  orReject(validate(schedule));
}

}  // namespace

bool isScheduleFile(std::span<const std::byte> bytes) {
  return hasLettersOf(kScheduleFile, bytes);
}

StatusOr<LoadedSchedule> readSchedule(std::span<const std::byte> file, const std::string& origin) {
  LoadedSchedule loaded;
  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= kTableAlignment);
  loaded.storage_.reset(new std::byte[file.size()]);
  loaded.size_ = file.size();
  if (!file.empty()) std::memcpy(loaded.storage_.get(), file.data(), file.size());
  const std::span<const std::byte> copy(loaded.storage_.get(), file.size());
  const Status status = statusOf([&] { readView(copy, loaded.view_); });
  if (!status.ok()) return status.annotated(origin);
  return loaded;
}

}  // namespace torc
