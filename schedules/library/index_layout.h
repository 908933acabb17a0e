// The file of a library's index: its header, and the fields of each record in the order of their
// bytes. Reader and writer visit these lists; index.h documents the fields.
#ifndef TORC_SCHEDULES_LIBRARY_INDEX_LAYOUT_H_
#define TORC_SCHEDULES_LIBRARY_INDEX_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

#include "schedules/format/file_layout.h"
#include "schedules/library/index.h"

namespace torc {

/// The tables, in the order in which they follow one another.
enum class IndexTable : std::uint32_t {
  kText = 0,  // bytes: machine, version, tuning job, reasons, names of files, concatenated
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
  std::uint32_t header_size = 0;  // sizeof(IndexHeader): the first table starts here
  std::uint64_t file_size = 0;    // bytes
  std::uint64_t checksum = 0;     // XXH3-64 of all bytes after this field
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

/// Zero bytes.
template <std::size_t Size>
struct Reserved {};

/// The members of a record in the order of their bytes, without padding. A string is stored as its
/// length, 4 bytes; its letters are in the text.
template <typename Record>
inline constexpr auto kStored = std::tuple{&Record::topology};  // of partitions and shapes

template <>
inline constexpr auto kStored<LibrarySubTorus> =
    std::tuple{&LibrarySubTorus::partition, &LibrarySubTorus::shape, &LibrarySubTorus::extents,
               &LibrarySubTorus::axes};
template <>
inline constexpr auto kStored<LibraryEntry> =
    std::tuple{&LibraryEntry::lowest,       &LibraryEntry::highest,
               &LibraryEntry::predicted_to, &LibraryEntry::lowest_s,
               &LibraryEntry::highest_s,    &LibraryEntry::shape,
               &LibraryEntry::file,         &LibraryEntry::reason,
               &LibraryEntry::collective,   Reserved<3>()};
template <>
inline constexpr auto kStored<LibraryCandidate> =
    std::tuple{&LibraryCandidate::shape, &LibraryCandidate::file, &LibraryCandidate::collective,
               Reserved<7>()};
template <>
inline constexpr auto kStored<LibraryMeasurement> = std::tuple{
    &LibraryMeasurement::bytes, &LibraryMeasurement::seconds,    &LibraryMeasurement::shape,
    &LibraryMeasurement::file,  &LibraryMeasurement::collective, Reserved<7>()};
template <>
inline constexpr auto kStored<LibraryFile> =
    std::tuple{&LibraryFile::bytes, &LibraryFile::checksum, &LibraryFile::name, Reserved<4>()};

/// A table and its list of objects.
template <typename Record>
struct IndexTableOf {
  IndexTable table;
  std::vector<Record> LibraryIndex::*records;
  const char* what;         // name of a record in messages
  const char* string = "";  // name of its string in messages
};
// clang before 17 deduces none for an aggregate.
template <typename Record>
IndexTableOf(IndexTable, std::vector<Record> LibraryIndex::*, const char*, const char* = "")
    -> IndexTableOf<Record>;

/// All tables but the text, in the order of their strings there.
inline constexpr auto kIndexTables =
    std::tuple{IndexTableOf{IndexTable::kPartitions, &LibraryIndex::partitions, "partition"},
               IndexTableOf{IndexTable::kShapes, &LibraryIndex::shapes, "shape"},
               IndexTableOf{IndexTable::kSubTori, &LibraryIndex::sub_tori, "sub-torus"},
               IndexTableOf{IndexTable::kEntries, &LibraryIndex::entries, "entry", "reason"},
               IndexTableOf{IndexTable::kTuned, &LibraryIndex::tuned, "tuned entry", "reason"},
               IndexTableOf{IndexTable::kCandidates, &LibraryIndex::candidates, "candidate"},
               IndexTableOf{IndexTable::kMeasurements, &LibraryIndex::measurements, "measurement"},
               IndexTableOf{IndexTable::kFiles, &LibraryIndex::files, "file", "name"}};

}  // namespace torc

#endif  // TORC_SCHEDULES_LIBRARY_INDEX_LAYOUT_H_
