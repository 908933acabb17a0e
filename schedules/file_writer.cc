// Writes a schedule as the bytes of its file: header, then each table at the next multiple of
// eight. Nothing but the schedule goes in (no time, no path), so equal schedules are equal files.
#include <cstring>

#include <xxhash.h>

#include "schedules/file.h"
#include "schedules/file_layout.h"

namespace torc {
namespace {

class FileWriter {
 public:
  explicit FileWriter(const ScheduleView& schedule) {
    header_.magic = std::to_array(kFileMagic);
    header_.version = kFormatVersion;
    header_.header_size = sizeof(FileHeader);
    header_.collective = schedule.collective;
    header_.flags = schedule.flags;
    header_.slot_count = schedule.slot_count;
    header_.table_count = kTableCount;
    header_.topology = schedule.topology;
    bytes_.resize(sizeof(FileHeader));
  }

  template <typename Records>
  void append(TableKind kind, const Records& records) {
    const auto content = std::as_bytes(std::span(records.data(), records.size()));
    header_.tables[static_cast<std::size_t>(kind)] = {
        .kind = static_cast<std::uint32_t>(kind),
        .record_size = static_cast<std::uint32_t>(sizeof(*records.data())),
        .offset = bytes_.size(),
        .count = records.size(),
    };
    bytes_.insert(bytes_.end(), content.begin(), content.end());
    bytes_.resize(alignedUp(bytes_.size()));
  }

  std::vector<std::byte> take() {
    header_.file_size = bytes_.size();
    std::memcpy(bytes_.data(), &header_, sizeof(header_));
    header_.checksum =
        XXH3_64bits(bytes_.data() + kChecksummedFrom, bytes_.size() - kChecksummedFrom);
    std::memcpy(bytes_.data(), &header_, sizeof(header_));
    return std::move(bytes_);
  }

 private:
  FileHeader header_;
  std::vector<std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> writeSchedule(const ScheduleView& schedule) {
  FileWriter writer(schedule);
  writer.append(TableKind::kName, schedule.name);
  writer.append(TableKind::kProducer, schedule.producer);
  writer.append(TableKind::kColors, schedule.colors);
  writer.append(TableKind::kStreams, schedule.streams);
  writer.append(TableKind::kBoxes, schedule.boxes);
  writer.append(TableKind::kPieces, schedule.pieces);
  writer.append(TableKind::kShifts, schedule.shifts);
  writer.append(TableKind::kFrames, schedule.frames);
  writer.append(TableKind::kOperations, schedule.operations);
  writer.append(TableKind::kDependences, schedule.dependences);
  return writer.take();
}

}  // namespace torc
