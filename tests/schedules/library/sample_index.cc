// Sample indices, made as `torc library build` makes its own.
#include "tests/schedules/library/sample_index.h"

#include <algorithm>

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
      index.entries.push_back({.shape = shape,
                               .collective = collective,
                               .lowest = 1,
                               .highest = 4095,
                               .file = shape % 2,
                               .predicted_to = 4095,
                               .lowest_s = 1e-6,
                               .highest_s = 2e-6,
                               .reason = "fewest steps"});
      index.entries.push_back({.shape = shape,
                               .collective = collective,
                               .lowest = 4096,
                               .highest = kOpenEnd,
                               .file = 1 - shape % 2,
                               .predicted_to = 65536,
                               .lowest_s = 2e-6,
                               .highest_s = 3e-5,
                               .reason = "all links are busy"});
    }
  }
}

}  // namespace

LibraryIndex libraryIndex() {
  LibraryIndex index{.machine = "generic",
                     .version = "0.1.0",
                     .manifest_checksum = 0x1122334455667788,
                     .partitions = {},
                     .shapes = {},
                     .sub_tori = {},
                     .entries = {},
                     .files = {},
                     .candidates = {},
                     .tuned_on = {},
                     .tuned = {},
                     .measurements = {}};
  addPartition(index, *parseTopology("4x4x2m+2", "TXYZ"));
  addPartition(index, *parseTopology("8x4"));
  addEntries(index);
  return index;
}

LibraryIndex damagedIndex() {
  LibraryIndex index = libraryIndex();
  index.partitions.clear();
  index.shapes.clear();
  index.sub_tori.clear();
  index.entries.clear();
  Topology partition = *parseTopology("2x4x4");
  (void)partition.addDeadLink(*parseDeadLink(partition, "1,0,2:Y"));
  (void)partition.addDeadNode(*parseDeadNode(partition, "0,3,1"));
  addPartition(index, partition);
  addEntries(index);
  return index;
}

LibraryIndex tunedIndex() {
  LibraryIndex index = libraryIndex();
  index.candidates = {{0, Collective::kAllreduce, 0},
                      {0, Collective::kAllreduce, 1},
                      {0, Collective::kBroadcast, 1},
                      {2, Collective::kAllreduce, 0}};
  index.tuned_on = "32 ranks, 2 on a node, in 4x4 of 4x4x2m+2";
  index.tuned = {{.shape = 0,
                  .collective = Collective::kAllreduce,
                  .lowest = 8,
                  .highest = 1023,
                  .file = 1,
                  .predicted_to = 1023,
                  .lowest_s = 1.5e-6,
                  .highest_s = 2.5e-6,
                  .reason = "1.25 times as fast as MPI's own"},
                 {.shape = 0,
                  .collective = Collective::kAllreduce,
                  .lowest = 1024,
                  .highest = 65536,
                  .file = kMpisOwn,
                  .predicted_to = 65536,
                  .lowest_s = 2.5e-6,
                  .highest_s = 4e-5,
                  .reason = "no schedule is faster"},
                 {.shape = 2,
                  .collective = Collective::kBroadcast,
                  .lowest = 1,
                  .highest = kOpenEnd,
                  .file = 0,
                  .predicted_to = 1 << 20,
                  .lowest_s = 3e-6,
                  .highest_s = 2e-3,
                  .reason = ""}};
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
