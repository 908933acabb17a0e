// Mapping files: the position of each rank of a job. One line of coordinates per rank, from rank 0
// on: one for each dimension and, where nodes have cores, the core. They are separated by blanks,
// as on Blue Gene, or in parentheses with commas, as on K and Fugaku: `(0,1,0)`. All lines may
// leave out the core: the ranks of a node then get its cores in order. If nodes have no cores, all
// lines may give core 0. `#` begins a comment; lines without coordinates and a byte order mark are
// ignored.
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

/// Site (see Topology) of every rank. Each belongs to a live node and has one rank. A mapping may
/// leave nodes without ranks.
using RankSites = std::vector<std::int32_t>;

/// Reads a mapping onto `topology`, whose order of ranks is ignored. `origin` names the text in
/// errors, which give the line and the coordinates: `job.map:3: Y=4 is outside (size 4)`,
/// `job.map:9: (1, 0) has a rank already, on line 3`.
StatusOr<RankSites> parseMapping(const Topology& topology, std::string_view text,
                                 const std::string& origin);

/// Checks that the mapping has exactly `ranks` ranks; the error names the first node that it leaves
/// out: `job.map: maps 3 ranks, the job has 4 (among others, (1, 1) has no rank)`.
Status checkMapping(const Topology& topology, const RankSites& mapping, std::uint64_t ranks,
                    const std::string& origin);

}  // namespace torc

#endif  // TORC_SCHEDULES_SUB_TORUS_MAPPING_H_
