// Records of a library's index. docs/sites/library.md says what each field is for. Shared by reader
// and writer.
#ifndef TORC_SCHEDULES_LIBRARY_INDEX_LAYOUT_H_
#define TORC_SCHEDULES_LIBRARY_INDEX_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "schedules/format/file_layout.h"
#include "schedules/library/index.h"

namespace torc {

/// The tables, in the order in which they follow one another.
enum class IndexTable : std::uint32_t {
  kText = 0,  // bytes: machine, version, the job of tuning, reasons of entries and tuned ones,
              // names of files, one after the other
  kPartitions,
  kShapes,
  kSubTori,
  kEntries,
  kFiles,
  kCandidates,
  kTuned,
  kMeasurements,
};
inline constexpr std::uint32_t kIndexTableCount = 9;
inline constexpr const char* kIndexTableNames[kIndexTableCount] = {
    "text",  "partitions", "shapes", "sub-tori",    "entries",
    "files", "candidates", "tuned",  "measurements"};

struct IndexHeader {
  std::array<char, 8> magic{};
  std::uint32_t version = 0;
  std::uint32_t header_size = 0;  // sizeof(IndexHeader): where the first table starts
  std::uint64_t file_size = 0;    // bytes
  std::uint64_t checksum = 0;     // XXH3-64 of all that follows this field
  std::uint64_t manifest_checksum = 0;
  std::uint32_t machine_length = 0;  // bytes of the text
  std::uint32_t version_length = 0;
  std::uint32_t tuned_on_length = 0;
  std::uint32_t reserved = 0;
  std::array<TableEntry, kIndexTableCount> tables{};
};
static_assert(sizeof(IndexHeader) == 272);
static_assert(offsetof(IndexHeader, checksum) + sizeof(std::uint64_t) == kChecksummedFrom);
static_assert(std::has_unique_object_representations_v<IndexHeader>);

struct SubTorusRecord {
  std::uint32_t partition = 0;
  std::uint32_t shape = 0;
  Extents extents{};
  SubTorusAxes axes{};
};
static_assert(sizeof(SubTorusRecord) == 48);
static_assert(std::has_unique_object_representations_v<SubTorusRecord>);

struct EntryRecord {
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;
  std::uint64_t predicted_to = 0;
  double lowest_s = 0;
  double highest_s = 0;
  std::uint32_t shape = 0;
  std::uint32_t file = 0;
  std::uint32_t reason_length = 0;
  Collective collective{};
  std::array<std::uint8_t, 3> reserved{};
};
static_assert(sizeof(EntryRecord) == 56);

struct CandidateRecord {
  std::uint32_t shape = 0;
  std::uint32_t file = 0;
  Collective collective{};
  std::array<std::uint8_t, 7> reserved{};
};
static_assert(sizeof(CandidateRecord) == 16);
static_assert(std::has_unique_object_representations_v<CandidateRecord>);

struct MeasurementRecord {
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::uint32_t shape = 0;
  std::uint32_t file = 0;
  Collective collective{};
  std::array<std::uint8_t, 7> reserved{};
};
static_assert(sizeof(MeasurementRecord) == 32);

struct FileRecord {
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
  std::uint32_t name_length = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(FileRecord) == 24);
static_assert(std::has_unique_object_representations_v<FileRecord>);

}  // namespace torc

#endif  // TORC_SCHEDULES_LIBRARY_INDEX_LAYOUT_H_
