// Makes sample indices like those of `torc library build`.
#include "tests/schedules/library/sample_index.h"

#include <algorithm>

#include "tests/schedules/sample_schedule.h"

namespace torc::samples {
namespace {

/// Adds `partition` with its sub-tori of whole axes, and their shapes where they are new.
void addPartition(LibraryIndex& index, const Topology& partition) {
  const auto number = static_cast<std::uint32_t>(index.partitions.size());
  index.partitions.push_back({partition});
  const Extents whole = wholeExtents(partition);
  std::vector<Extents> all;
  for (std::uint32_t set = 0; set < 1u << partition.axis_count; ++set) {
    Extents extents{};
    for (std::uint32_t i = 0; i < partition.axis_count; ++i)
      extents[i] = set >> i & 1 ? whole[i] : 1;
    if (isSubTorus(partition, extents)) all.push_back(extents);
  }
  std::ranges::sort(all);
  for (const Extents& extents : all) {
    const SubTorusAxes axes = canonicalAxes(partition, extents);
    const LibraryShape shape{subTorusTopology(partition, extents, axes)};
    const auto found = std::ranges::find(index.shapes, shape);
    const auto shape_number = static_cast<std::uint32_t>(found - index.shapes.begin());
    if (found == index.shapes.end()) index.shapes.push_back(shape);
    index.sub_tori.push_back(
        {.partition = number, .extents = extents, .shape = shape_number, .axes = axes});
  }
}

/// Two ranges for every collective on every shape; the second is open.
void addEntries(LibraryIndex& index) {
  index.files = {{"allgather-4-0123456789abcdef.torc", 4000, 0x0123456789abcdef},
                 {"allreduce-4x4-fedcba9876543210.torc", 5000, 0xfedcba9876543210}};
  for (std::uint32_t shape = 0; shape < index.shapes.size(); ++shape) {
    for (int i = 0; i < kCollectiveCount; ++i) {
      const auto collective = static_cast<Collective>(i);
      index.entries.push_back(
          {shape, collective, 1, 4095, shape % 2, 4095, 1e-6, 2e-6, "fewest steps"});
      index.entries.push_back({shape, collective, 4096, kOpenEnd, 1 - shape % 2, 65536, 2e-6, 3e-5,
                               "all links are busy"});
    }
  }
}

LibraryIndex indexOf(const std::vector<Topology>& partitions) {
  LibraryIndex index;
  index.machine = "generic";
  index.version = "0.1.0";
  index.manifest_checksum = 0x1122334455667788;
  for (const Topology& partition : partitions)
    addPartition(index, partition);
  addEntries(index);
  return index;
}

}  // namespace

LibraryIndex libraryIndex() {
  return indexOf({*parseTopology("4x4x2m+2", "TXYZ"), *parseTopology("8x4")});
}

LibraryIndex damagedIndex() {
  return indexOf({damaged("2x4x4", {"0,3,1"}, {"1,0,2:Y"})});
}

LibraryIndex tunedIndex() {
  LibraryIndex index = libraryIndex();
  index.candidates = {{0, Collective::kAllreduce, 0},
                      {0, Collective::kAllreduce, 1},
                      {0, Collective::kBroadcast, 1},
                      {2, Collective::kAllreduce, 0}};
  index.tuned_on = "32 ranks, 2 on a node, in 4x4 of 4x4x2m+2";
  index.tuned = {{0, Collective::kAllreduce, 8, 1023, 1, 1023, 1.5e-6, 2.5e-6,
                  "1.25 times as fast as MPI's own"},
                 {0, Collective::kAllreduce, 1024, 65536, kMpisOwn, 65536, 2.5e-6, 4e-5,
                  "no schedule is faster"},
                 {2, Collective::kBroadcast, 1, kOpenEnd, 0, 1 << 20, 3e-6, 2e-3, ""}};
  index.measurements = {{0, Collective::kAllreduce, 8, 0, 1.75e-6},
                        {0, Collective::kAllreduce, 8, 1, 1.5e-6},
                        {0, Collective::kAllreduce, 8, kMpisOwn, 1.875e-6},
                        {0, Collective::kAllreduce, 1024, kMpisOwn, 2.5e-6},
                        {2, Collective::kBroadcast, 1, 0, 3e-6}};
  return index;
}

LibraryIndex smallIndex() {
  LibraryIndex index = tunedIndex();
  const LibrarySubTorus whole = index.sub_tori.back();
  index.partitions = {index.partitions[whole.partition]};
  index.shapes = {index.shapes[whole.shape]};
  index.sub_tori = {whole};
  index.sub_tori[0].partition = index.sub_tori[0].shape = 0;
  index.entries.resize(1);
  index.entries[0].file = 0;
  index.files.resize(1);
  index.candidates.resize(1);
  index.tuned = {index.tuned[1]};
  index.measurements = {index.measurements[2]};
  return index;
}

}  // namespace torc::samples
