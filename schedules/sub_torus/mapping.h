// Mapping files: where each rank of a job lies, as on Blue Gene. One line of coordinates per rank,
// from rank 0 on, separated by blanks: one for each dimension and, where nodes have cores, the
// core.
// `#` begins a comment; lines without coordinates count for nothing.
//
//   # a 2x2 torus with 2 cores, X Y T
//   0 0 0
//   1 0 0
#ifndef TORC_SCHEDULES_SUB_TORUS_MAPPING_H_
#define TORC_SCHEDULES_SUB_TORUS_MAPPING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/topology/topology.h"
#include "support/status.h"

namespace torc {

/// Site (see Topology) of every rank. Each is a live node's, and none has two ranks. A mapping may
/// name fewer nodes than there are.
using RankSites = std::vector<std::int32_t>;

/// Reads a mapping onto `topology`, whose order of ranks does not matter to it. `origin` names the
/// text in errors, which have the line and the coordinates:
/// `job.map:3: Y=4 is outside (size 4)`, `job.map:9: (1, 0) has a rank already, on line 3`.
StatusOr<RankSites> parseMapping(const Topology& topology, std::string_view text,
                                 const std::string& origin);

/// Whether the mapping is one of `ranks` ranks, no more and no fewer; otherwise the reason,
/// with the first node that it leaves out: `job.map: maps 3 ranks, the job has 4 (among others,
/// (1, 1) has no rank)`.
Status checkMapping(const Topology& topology, const RankSites& mapping, std::uint64_t ranks,
                    const std::string& origin);

}  // namespace torc

#endif  // TORC_SCHEDULES_SUB_TORUS_MAPPING_H_
