// Measures a library of a large machine in one process: a rank's time to read its index, to map the
// job and to recognise communicators, and the memory kept for that.
//
//   bazel run -c opt //bench:library_bench [-- SHAPE]      (64x32x32)
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <malloc.h>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/job/library.h"
#include "schedules/library/index.h"
#include "schedules/sub_torus/sub_torus.h"

namespace torc {
namespace {

/// Processor time, which other work on the machine does not lengthen.
double processorSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double allocatedKib() {
  const struct mallinfo2 facts = mallinfo2();
  return static_cast<double>(facts.uordblks + facts.hblkhd) / 1024;
}

/// Prints time and kept memory of `work`, with its result alive.
template <typename Work>
auto measured(const char* what, Work work) {
  const double memory = allocatedKib(), start = processorSeconds();
  auto result = work();
  const double end = processorSeconds();
  std::printf("| %-44s | %8.2f | %10.1f |\n", what, 1e3 * (end - start), allocatedKib() - memory);
  return result;
}

/// The partition with its sub-tori: all combinations of whole axes, or every box. Three
/// collectives, eight sizes each.
LibraryIndex makeIndex(const Topology& partition, bool boxes) {
  LibraryIndex index;
  index.machine = "bench";
  index.version = "0.1.0";
  index.partitions.push_back({partition});
  std::vector<Extents> all;
  for (std::uint64_t box = 0; box < partition.sites(); ++box) {
    const Coordinates steps = partition.coordinatesOfSite(static_cast<std::int32_t>(box));
    Extents extents{};
    bool whole = true;
    for (std::uint32_t i = 0; i < partition.axis_count; ++i) {
      extents[i] = static_cast<std::uint32_t>(steps[i]) + 1;
      whole &= extents[i] == 1 || extents[i] == partition.axes[i].size;
    }
    if (isSubTorus(partition, extents) && (boxes || whole)) all.push_back(extents);
  }
  std::ranges::sort(all);
  std::vector<std::pair<std::string, std::uint32_t>> shapes;  // sorted, by their text
  for (const Extents& extents : all) {
    const SubTorusAxes axes = canonicalAxes(partition, extents);
    const Topology shape = subTorusTopology(partition, extents, axes);
    const std::pair key(shape.shape(), static_cast<std::uint32_t>(index.shapes.size()));
    auto found =
        std::ranges::lower_bound(shapes, key.first, {}, &decltype(shapes)::value_type::first);
    if (found == shapes.end() || found->first != key.first) {
      found = shapes.insert(found, key);
      index.shapes.push_back({shape});
    }
    index.sub_tori.push_back({0, extents, found->second, axes});
  }
  for (std::uint32_t shape = 0; shape < index.shapes.size(); ++shape) {
    for (int collective = 0; collective < kCollectiveCount; ++collective) {
      for (std::uint64_t i = 0; i < 8; ++i) {
        const std::uint64_t lowest = i == 0 ? 0 : std::uint64_t{256} << (2 * i);
        const std::uint64_t next = std::uint64_t{256} << (2 * i + 2);
        index.entries.push_back({.shape = shape,
                                 .collective = static_cast<Collective>(collective),
                                 .lowest = lowest,
                                 .highest = i == 7 ? kOpenEnd : next - 1,
                                 .file = 0,
                                 .predicted_to = next - 1,
                                 .lowest_s = 1e-6 * static_cast<double>(i + 1),
                                 .highest_s = 1e-6 * static_cast<double>(i + 2),
                                 .reason = "bucket, weighted colors: 12 us, next best 14 us"});
      }
    }
  }
  index.files.push_back({"allreduce-0123456789abcdef.torc", 100000, 1});
  return index;
}

int run(const std::string& shape) {
  const StatusOr<Topology> partition = parseTopology(shape);
  if (!partition.ok()) {
    std::fprintf(stderr, "library_bench: %s\n", partition.status().message().c_str());
    return 1;
  }
  const auto ranks = static_cast<std::int32_t>(partition->ranks());
  std::printf(
      "Torus %s, %d ranks. Processor time, and memory that stays allocated, of one rank.\n\n",
      shape.c_str(), ranks);
  std::printf("| %-44s | %8s | %10s |\n", "", "ms", "KiB kept");
  std::printf("| --- | ---: | ---: |\n");

  std::optional<LibraryIndex> kept;
  for (const bool boxes : {true, false}) {
    const LibraryIndex index = makeIndex(*partition, boxes);
    const std::vector<std::byte> bytes = writeLibraryIndex(index);
    char what[80];
    std::snprintf(what, sizeof(what), "read index: %zu sub-tori, %zu entries, %zu KiB",
                  index.sub_tori.size(), index.entries.size(), bytes.size() / 1024);
    StatusOr<LibraryIndex> read = measured(what, [&] { return readLibraryIndex(bytes, "index"); });
    if (!read.ok()) {
      std::fprintf(stderr, "library_bench: %s\n", read.status().message().c_str());
      return 1;
    }
    kept = std::move(*read);
  }
  const auto nodes = static_cast<std::uint64_t>(ranks);
  const auto job = measured("map the job by its order",
                            [&] { return mapJob(*kept, PlacementOptions(), nodes, ""); });
  std::string lines;
  for (std::int32_t rank = ranks; rank-- > 0;) {
    const Coordinates at = partition->coordinatesOf(rank);
    for (std::uint32_t i = 0; i < partition->axis_count; ++i)
      lines += std::to_string(at[i]) + (i + 1 < partition->axis_count ? ' ' : '\n');
  }
  const auto mapped = measured("map it by a mapping file", [&] {
    PlacementOptions options;
    options.mapping = "job.map";
    return mapJob(*kept, options, nodes, lines);
  });
  std::vector<std::int32_t> sites(nodes);
  std::iota(sites.begin(), sites.end(), 0);
  const auto world =
      measured("recognise MPI_COMM_WORLD", [&] { return wholePartition(*partition); });
  const auto copy = measured("recognise all ranks, in order, by a list",
                             [&] { return recogniseSubTorus(*partition, sites); });
  const auto row = measured("recognise a row", [&] {
    return recogniseSubTorus(*partition, std::span(sites).first(partition->axes[0].size));
  });
  std::mt19937 random(1);
  std::ranges::shuffle(sites, random);
  const auto shuffled = measured("recognise all ranks, shuffled",
                                 [&] { return recogniseSubTorus(*partition, sites); });
  const LibrarySubTorus* sub_torus = kept->findSubTorus(0, wholeExtents(*partition));
  const auto map = measured("rank map of these", [&] {
    return runtime::RankMap::fromTable(
        ranksInSubTorus(*shuffled, kept->shapes[sub_torus->shape].topology, sub_torus->axes).table);
  });
  return job.ok() && mapped.ok() && copy.ok() && row.ok() && map.ok() && world.ordered ? 0 : 1;
}

}  // namespace
}  // namespace torc

int main(int argc, char** argv) {
  return torc::run(argc > 1 ? argv[1] : "64x32x32");
}
