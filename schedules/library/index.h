// Schedule library: a folder with the schedules of a machine's partitions, made once by `torc
// library build` and read when a job starts. Here is its index, `index.torc`: which file serves
// which sub-torus, collective and size. docs/sites/library.md has the folder.
#ifndef TORC_SCHEDULES_LIBRARY_INDEX_H_
#define TORC_SCHEDULES_LIBRARY_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/schedule.h"
#include "schedules/sub_torus/sub_torus_topology.h"
#include "schedules/topology/topology.h"
#include "support/status.h"

namespace torc {

/// What is in a library's folder.
inline constexpr std::string_view kIndexName = "index.torc";
inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kLibraryFilesFolder = "files";

std::string indexPath(const std::string& library);
std::string manifestPath(const std::string& library);
/// Of a file by its name in the index.
std::string libraryFilePath(const std::string& library, const std::string& name);

inline constexpr std::uint32_t kIndexVersion = 4;
/// Unlike a schedule file's in its fourth letter.
inline constexpr char kIndexMagic[8] = {'T', 'O', 'R', 'I', '\r', '\n', '\x1a', '\n'};

/// A partition of the machine, as jobs get it.
struct LibraryPartition {
  Topology topology;

  bool operator==(const LibraryPartition&) const = default;
};

/// What schedules are compiled for: the topology that equal sub-tori share. X varies fastest.
struct LibraryShape {
  Topology topology;

  bool operator==(const LibraryShape&) const = default;
};

/// Sub-tori of a partition that have the same extents, wherever they lie.
struct LibrarySubTorus {
  std::uint32_t partition = 0;
  Extents extents{};
  std::uint32_t shape = 0;
  SubTorusAxes axes{};  // axis i of the shape is axis axes[i] of the partition

  bool operator==(const LibrarySubTorus&) const = default;
};

/// The size of a call for which schedules are not chosen by size. Of pairs whose counts differ, for
/// which no rank knows it: what is for this size alone is a direct schedule
/// (ScheduleView::isDirect). Of an allreduce by an operation that does not commute: what is for
/// this size alone promises ordered sums (kOrderedSums).
inline constexpr std::uint64_t kNoSize = 0;

inline constexpr std::uint64_t kOpenEnd = std::numeric_limits<std::uint64_t>::max();

/// In the place of a file: MPI's own collective.
inline constexpr std::uint32_t kMpisOwn = std::numeric_limits<std::uint32_t>::max();

/// The schedule of a collective on a shape, for a range of sizes. Bytes are those of the whole
/// vector: of an allgather and a reduce_scatter, all blocks together. Of a tuned entry, times are
/// measured ones.
struct LibraryEntry {
  std::uint32_t shape = 0;
  Collective collective = Collective::kAllreduce;
  std::uint64_t lowest = 0;        // bytes, both included
  std::uint64_t highest = 0;       // kOpenEnd: no limit
  std::uint32_t file = 0;          // of a tuned entry, it may be kMpisOwn
  std::uint64_t predicted_to = 0;  // bytes: `highest`; where that is open, the largest size that
                                   // was looked at
  double lowest_s = 0;             // predicted time of `lowest`, seconds
  double highest_s = 0;            // predicted time of `predicted_to`
  std::string reason;              // why this schedule, in a sentence

  bool operator==(const LibraryEntry&) const = default;
};

/// A file that may serve a collective on a shape in the place of those of its entries: tuning tries
/// it too.
struct LibraryCandidate {
  std::uint32_t shape = 0;
  Collective collective = Collective::kAllreduce;
  std::uint32_t file = 0;

  auto operator<=>(const LibraryCandidate&) const = default;
};

/// What a call took on the ranks of a job.
struct LibraryMeasurement {
  std::uint32_t shape = 0;
  Collective collective = Collective::kAllreduce;
  std::uint64_t bytes = 0;
  std::uint32_t file = 0;  // or kMpisOwn
  double seconds = 0;      // of a call: the lower quartile, as long as on its slowest rank

  bool operator==(const LibraryMeasurement&) const = default;
};

struct LibraryFile {
  std::string name;            // in the folder kLibraryFilesFolder
  std::uint64_t bytes = 0;     // its length
  std::uint64_t checksum = 0;  // XXH3-64 of all its bytes

  bool operator==(const LibraryFile&) const = default;
};

struct LibraryIndex {
  std::string machine;                  // its name
  std::string version;                  // of the torc that made it
  std::uint64_t manifest_checksum = 0;  // XXH3-64 of manifest.json
  std::vector<LibraryPartition> partitions;
  std::vector<LibraryShape> shapes;
  std::vector<LibrarySubTorus> sub_tori;  // by partition, then extents; each once
  std::vector<LibraryEntry> entries;  // by shape, then collective, then size; ranges are disjoint
  std::vector<LibraryFile> files;     // by name; each once
  std::vector<LibraryCandidate> candidates;  // by shape, collective and file; each once

  // A tuned copy has: what was fastest on a job's ranks, in the order of entries, which it goes
  // before.
  std::string tuned_on;                          // that job, for people
  std::vector<LibraryEntry> tuned;               // for sizes of 1 byte or more
  std::vector<LibraryMeasurement> measurements;  // by shape, collective, bytes and file; each once

  /// nullptr where there is none.
  const LibrarySubTorus* findSubTorus(std::uint32_t partition, const Extents& extents) const;
  /// A tuned entry where there is one.
  const LibraryEntry* findEntry(std::uint32_t shape, Collective collective,
                                std::uint64_t bytes) const;

  bool operator==(const LibraryIndex&) const = default;
};

/// XXH3-64, as `LibraryFile::checksum` and `manifest_checksum` are.
std::uint64_t checksumOf(std::span<const std::byte> bytes);

/// Whether an index makes sense: indices, order, ranges, names, topologies, and that the topology
/// of each sub-torus is the one of its shape. The first fault: `sub-torus 3: shape 9 does not exist
/// (there are 4)`.
Status validate(const LibraryIndex& index);

/// Whether a schedule is of the entry's collective, or its rootless form, and of its shape, and,
/// where the entry serves calls whose size no rank knows, direct. The fault: `is one for allgather
/// on 4x4, the index says alltoall on 4x4`.
Status checkServes(const LibraryIndex& index, const LibraryEntry& entry,
                   const ScheduleView& schedule);

/// Reads and validates an index. `origin` names it in errors, which say where:
/// `lib/index.torc: 00000018: checksum: ...`, `lib/index.torc: entry 3: ...`. What is accepted
/// gives the same bytes when it is written again.
StatusOr<LibraryIndex> readLibraryIndex(std::span<const std::byte> bytes,
                                        const std::string& origin);

/// The bytes of an index that has passed `validate`: the same index always gives the same bytes.
std::vector<std::byte> writeLibraryIndex(const LibraryIndex& index);

}  // namespace torc

#endif  // TORC_SCHEDULES_LIBRARY_INDEX_H_
