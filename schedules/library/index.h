// Schedule library: a folder with the schedules of a machine's partitions, made once by `torc
// library build` and read when a job starts. This file has its index, `index.torc`: the schedule
// file for each sub-torus, collective and size. docs/sites/library.md describes the folder.
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

/// The entries of a library's folder.
inline constexpr std::string_view kIndexName = "index.torc";
inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kLibraryFilesFolder = "files";

std::string indexPath(const std::string& library);
std::string manifestPath(const std::string& library);
/// Path of a schedule file, by its name in the index.
std::string libraryFilePath(const std::string& library, const std::string& name);

inline constexpr std::uint32_t kIndexVersion = 4;
/// Differs from the schedule file's magic in the fourth letter.
inline constexpr char kIndexMagic[8] = {'T', 'O', 'R', 'I', '\r', '\n', '\x1a', '\n'};

/// A partition of the machine.
struct LibraryPartition {
  Topology topology;

  bool operator==(const LibraryPartition&) const = default;
};

/// The topology that schedules are compiled for, shared by equal sub-tori. X varies fastest.
struct LibraryShape {
  Topology topology;

  bool operator==(const LibraryShape&) const = default;
};

/// Sub-tori of a partition with the same extents, at any place.
struct LibrarySubTorus {
  std::uint32_t partition = 0;
  Extents extents{};
  std::uint32_t shape = 0;
  SubTorusAxes axes{};  // axis i of the shape is axis axes[i] of the partition

  bool operator==(const LibrarySubTorus&) const = default;
};

/// The size in place of unknown sizes. For pairs with unequal counts, which no rank knows in full:
/// an entry for this size alone is a direct schedule (ScheduleView::isDirect). For an allreduce by
/// a non-commutative operation: an entry for this size alone promises ordered sums (kOrderedSums).
inline constexpr std::uint64_t kNoSize = 0;

inline constexpr std::uint64_t kOpenEnd = std::numeric_limits<std::uint64_t>::max();

/// In place of a file: the collective falls back to MPI.
inline constexpr std::uint32_t kMpisOwn = std::numeric_limits<std::uint32_t>::max();

/// The schedule of a collective on a shape, for a range of sizes. Bytes count the whole vector: of
/// an allgather and a reduce_scatter, all blocks together. Tuned entries have measured times.
struct LibraryEntry {
  std::uint32_t shape = 0;
  Collective collective = Collective::kAllreduce;
  std::uint64_t lowest = 0;        // bytes, both included
  std::uint64_t highest = 0;       // kOpenEnd: no limit
  std::uint32_t file = 0;          // kMpisOwn in tuned entries only
  std::uint64_t predicted_to = 0;  // bytes: `highest`; if open, the largest predicted size
  double lowest_s = 0;             // predicted time of `lowest`, seconds
  double highest_s = 0;            // predicted time of `predicted_to`
  std::string reason;              // reason for this schedule, one sentence

  bool operator==(const LibraryEntry&) const = default;
};

/// Another file that may serve a collective on a shape: autotuning tries it too.
struct LibraryCandidate {
  std::uint32_t shape = 0;
  Collective collective = Collective::kAllreduce;
  std::uint32_t file = 0;

  auto operator<=>(const LibraryCandidate&) const = default;
};

/// A measured time of a call on the ranks of a job.
struct LibraryMeasurement {
  std::uint32_t shape = 0;
  Collective collective = Collective::kAllreduce;
  std::uint64_t bytes = 0;
  std::uint32_t file = 0;  // or kMpisOwn
  double seconds = 0;      // of a call: lower quartile over repetitions of the slowest rank's time

  bool operator==(const LibraryMeasurement&) const = default;
};

struct LibraryFile {
  std::string name;            // in the folder kLibraryFilesFolder
  std::uint64_t bytes = 0;     // its length
  std::uint64_t checksum = 0;  // XXH3-64 of the file

  bool operator==(const LibraryFile&) const = default;
};

struct LibraryIndex {
  std::string machine;                  // name of the machine
  std::string version;                  // version of torc that made it
  std::uint64_t manifest_checksum = 0;  // XXH3-64 of manifest.json
  std::vector<LibraryPartition> partitions;
  std::vector<LibraryShape> shapes;
  std::vector<LibrarySubTorus> sub_tori;  // by partition, then extents; each once
  std::vector<LibraryEntry> entries;  // by shape, then collective, then size; ranges are disjoint
  std::vector<LibraryFile> files;     // by name; each once
  std::vector<LibraryCandidate> candidates;  // by shape, collective and file; each once

  // Only in a tuned copy: the fastest schedules on a job's ranks, in the order of entries; they
  // take precedence.
  std::string tuned_on;                          // that job, for people
  std::vector<LibraryEntry> tuned;               // for sizes of 1 byte or more
  std::vector<LibraryMeasurement> measurements;  // by shape, collective, bytes and file; each once

  /// nullptr if there is none.
  const LibrarySubTorus* findSubTorus(std::uint32_t partition, const Extents& extents) const;
  /// Prefers a tuned entry.
  const LibraryEntry* findEntry(std::uint32_t shape, Collective collective,
                                std::uint64_t bytes) const;

  bool operator==(const LibraryIndex&) const = default;
};

/// XXH3-64, as `LibraryFile::checksum` and `manifest_checksum` are.
std::uint64_t checksumOf(std::span<const std::byte> bytes);

/// Checks an index: indices, order, ranges, names, topologies; the topology of each sub-torus must
/// be that of its shape. Returns the first fault: `sub-torus 3: shape 9 does not exist (there are
/// 4)`.
Status validate(const LibraryIndex& index);

/// Checks that a schedule has the entry's collective (or its rootless form) and shape, and is
/// direct if the entry is for unknown sizes. The fault: `is one for allgather on 4x4, the index
/// says alltoall on 4x4`.
Status checkServes(const LibraryIndex& index, const LibraryEntry& entry,
                   const ScheduleView& schedule);

/// Reads and validates an index. `origin` names it in errors, which give the place:
/// `lib/index.torc: 00000018: checksum: ...`, `lib/index.torc: entry 3: ...`. Writing an accepted
/// index again gives the same bytes.
StatusOr<LibraryIndex> readLibraryIndex(std::span<const std::byte> bytes,
                                        const std::string& origin);

/// The bytes of an index that has passed `validate`: equal indices have equal bytes.
std::vector<std::byte> writeLibraryIndex(const LibraryIndex& index);

}  // namespace torc

#endif  // TORC_SCHEDULES_LIBRARY_INDEX_H_
