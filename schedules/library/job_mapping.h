// How the ranks of a job are mapped onto a partition of a library: the same to the job and to those
// who look at it before it starts.
#ifndef TORC_SCHEDULES_LIBRARY_JOB_MAPPING_H_
#define TORC_SCHEDULES_LIBRARY_JOB_MAPPING_H_

#include <array>
#include <cstdint>
#include <string>

#include "schedules/library/index.h"
#include "schedules/sub_torus/mapping.h"
#include "support/status.h"

namespace torc {

/// `topology` with ranks counted in another order of its axes.
StatusOr<Topology> withOrder(const Topology& topology,
                             const std::array<std::uint8_t, kMaxAxes>& order);

/// What a job says about its place; empty: not said.
struct PlacementOptions {
  std::string torus;    // the partition, "8x8x4m+4"; else the only one with as many nodes as ranks
  std::string order;    // of its ranks, "XYZT"; else the partition's own
  std::string mapping;  // path of a mapping file, in place of an order
  std::string machine;  // that the library must be for
};

/// Where the ranks of a job lie: how they are mapped onto a partition.
struct JobMapping {
  std::uint32_t partition = 0;  // of the index
  Topology topology;            // of the partition, with the job's order
  RankSites sites;              // in it, by rank; empty: by order

  /// The site of a rank of the job.
  std::int32_t siteOf(std::int32_t rank) const;
};

/// Finds the partition for a job of `ranks` ranks, and reads its mapping: `mapping_text` is the
/// content of options.mapping. Errors say what contradicts what, and which partitions there are.
StatusOr<JobMapping> mapJob(const LibraryIndex& index, const PlacementOptions& options,
                            std::uint64_t ranks, const std::string& mapping_text);

}  // namespace torc

#endif  // TORC_SCHEDULES_LIBRARY_JOB_MAPPING_H_
