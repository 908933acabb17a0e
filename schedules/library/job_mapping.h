// The mapping of a job's ranks onto a partition of a library: one function for the job itself and
// for checks before it starts.
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

/// Settings of a job for its place; empty: not set.
struct PlacementOptions {
  std::string torus;    // the partition, "8x8x4m+4"; else the only one with as many nodes as ranks
  std::string order;    // of its ranks, "XYZT"; else the partition's own
  std::string mapping;  // path of a mapping file, in place of an order
  std::string machine;  // that the library must be for
};

/// The mapping of a job's ranks onto a partition.
struct JobMapping {
  std::uint32_t partition = 0;  // of the index
  Topology topology;            // of the partition, with the job's order
  RankSites sites;              // in it, by rank; empty: by order

  /// The site of a rank of the job.
  std::int32_t siteOf(std::int32_t rank) const;
};

/// Finds the partition for a job of `ranks` ranks, and reads its mapping: `mapping_text` is the
/// content of options.mapping. Errors name the contradiction and the partitions.
StatusOr<JobMapping> mapJob(const LibraryIndex& index, const PlacementOptions& options,
                            std::uint64_t ranks, const std::string& mapping_text);

}  // namespace torc

#endif  // TORC_SCHEDULES_LIBRARY_JOB_MAPPING_H_
