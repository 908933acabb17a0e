// Writes a schedule as the bytes of its file, without time or path, so that equal schedules give
// equal files.
#include <array>

#include "schedules/fields.h"
#include "schedules/format/file.h"
#include "schedules/format/file_layout.h"
#include "schedules/format/table_writer.h"

namespace torc {
namespace {

template <std::uint32_t Tables>
std::vector<std::byte> writeTables(const ScheduleView& schedule, std::uint32_t version) {
  FileHeaderOf<Tables> header;
  header.magic = std::to_array(kFileMagic);
  header.version = version;
  header.collective = schedule.collective;
  header.flags = schedule.flags;
  header.slot_count = schedule.slot_count;
  header.segments = schedule.segments;
  header.window = schedule.window;
  header.table_count = Tables;
  header.topology = schedule.topology;
  TableWriter writer(header);
  writer.append(TableKind::kName, schedule.name);
  writer.append(TableKind::kProducer, schedule.producer);
  auto kind = static_cast<std::uint32_t>(TableKind::kColors);
  forEachTable([&](std::string_view, const auto& records) { writer.append(kind++, records); },
               schedule);
  if constexpr (Tables == kGraphTableCount) writer.append(TableKind::kGraphLinks, schedule.links);
  return writer.take();
}

}  // namespace

std::vector<std::byte> writeSchedule(const ScheduleView& schedule) {
  return schedule.isOnGraph() ? writeTables<kGraphTableCount>(schedule, kGraphFormatVersion)
                              : writeTables<kTableCount>(schedule, kFormatVersion);
}

}  // namespace torc
