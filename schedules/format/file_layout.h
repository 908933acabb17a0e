// Records of a schedule file that are not records of a schedule, shared by reader and writer.
// docs/developers/format.md explains the layout.
#ifndef TORC_SCHEDULES_FORMAT_FILE_LAYOUT_H_
#define TORC_SCHEDULES_FORMAT_FILE_LAYOUT_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "schedules/schedule.h"

namespace torc {

// Records are stored as in memory.
static_assert(std::endian::native == std::endian::little);

/// The tables, in the order in which they follow one another in a file.
enum class TableKind : std::uint32_t {
  kName = 0,  // bytes
  kProducer,  // bytes
  kColors,
  kStreams,
  kBoxes,
  kPairs,
  kPieces,
  kShifts,
  kPeerLoops,
  kFrames,
  kLoops,
  kIterations,
  kOperations,
  kDependences,
  kGraphLinks,  // of a graph alone
};
inline constexpr std::uint32_t kTableCount = 14;
inline constexpr std::uint32_t kGraphTableCount = 15;

/// Place of a table.
struct TableEntry {
  std::uint32_t kind = 0;         // TableKind
  std::uint32_t record_size = 0;  // bytes
  std::uint64_t offset = 0;       // bytes from the start of the file
  std::uint64_t count = 0;        // records
};
static_assert(sizeof(TableEntry) == 24);

template <std::uint32_t Tables>
struct FileHeaderOf {
  std::array<char, 8> magic{};
  std::uint32_t version = 0;
  std::uint32_t header_size = 0;  // own size: the first table starts here
  std::uint64_t file_size = 0;    // bytes
  std::uint64_t checksum = 0;     // XXH3-64 of all bytes after this field
  Collective collective{};
  std::array<std::uint8_t, 3> reserved{};
  std::uint32_t flags = 0;
  std::uint32_t slot_count = 0;
  std::uint32_t segments = 0;
  std::uint32_t window = 0;
  std::uint32_t table_count = 0;
  Topology topology;
  std::array<TableEntry, Tables> tables{};
};
using FileHeader = FileHeaderOf<kTableCount>;
using GraphFileHeader = FileHeaderOf<kGraphTableCount>;
static_assert(sizeof(Topology) == 1296);
static_assert(sizeof(FileHeader) == 1688);
static_assert(sizeof(GraphFileHeader) == 1712);
static_assert(std::is_trivially_copyable_v<FileHeader>);

/// The checksum covers the file from here; each field before it has one valid value.
inline constexpr std::size_t kChecksummedFrom = 32;
static_assert(offsetof(FileHeader, checksum) + sizeof(std::uint64_t) == kChecksummedFrom);
static_assert(offsetof(FileHeader, topology) == 56);
static_assert(offsetof(FileHeader, tables) == 1352);

/// Tables start at multiples of this; padding bytes are 0.
inline constexpr std::uint64_t kTableAlignment = 8;
inline constexpr std::uint64_t alignedUp(std::uint64_t offset) {
  return (offset + kTableAlignment - 1) / kTableAlignment * kTableAlignment;
}

// Records without hidden padding: equal values are equal bytes. (Topology, its axes and links hold
// floating-point numbers; `validate` refuses numbers with two representations.)
static_assert(std::has_unique_object_representations_v<Color>);
static_assert(std::has_unique_object_representations_v<Stream>);
static_assert(std::has_unique_object_representations_v<Box>);
static_assert(std::has_unique_object_representations_v<BoxPair>);
static_assert(std::has_unique_object_representations_v<Piece>);
static_assert(std::has_unique_object_representations_v<Shift>);
static_assert(std::has_unique_object_representations_v<PeerLoop>);
static_assert(std::has_unique_object_representations_v<Frame>);
static_assert(std::has_unique_object_representations_v<Loop>);
static_assert(std::has_unique_object_representations_v<Iterations>);
static_assert(std::has_unique_object_representations_v<Operation>);
static_assert(std::has_unique_object_representations_v<TableEntry>);

}  // namespace torc

#endif  // TORC_SCHEDULES_FORMAT_FILE_LAYOUT_H_
