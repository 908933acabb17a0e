// Recognition: maps the members of a communicator to ranks of the job, these to sites of the
// partition, and these to a sub-torus of the library.
#include <span>
#include <utility>
#include <vector>

#include "runtime/job/library.h"
#include "runtime/transport/mpi_status.h"
#include "schedules/library/index.h"
#include "schedules/sub_torus/sub_torus.h"
#include "support/message.h"

using namespace torc::runtime;
using torc::message;
using torc::Status;
using torc::StatusOr;
using torc::SubTorus;

namespace {

Recognition unrecognised(Reason why, std::string reason) {
  Recognition result;
  result.why = why;
  result.reason = std::move(reason);
  return result;
}

}  // namespace

std::uint64_t torc::runtime::Recognition::fingerprint() const {
  std::vector<std::int32_t> numbers = {static_cast<std::int32_t>(why),
                                       static_cast<std::int32_t>(sub_torus)};
  numbers.insert(numbers.end(), topology.order.begin(), topology.order.end());
  if (!map.isIdentity()) {
    for (std::uint64_t rank = 0; rank < topology.ranks(); ++rank)
      numbers.push_back(map.toSchedule(static_cast<std::int32_t>(rank)));
  }
  return checksumOf(std::as_bytes(std::span(numbers)));
}

Recognition torc_library::recognise(MPI_Comm comm) const {
  const int size = commSize(comm);
  if (size == 1) return unrecognised(Reason::kOneRank, "the communicator has one rank");
  MPI_Group group = MPI_GROUP_NULL;
  int likeness = MPI_UNEQUAL;
  if (const int code = PMPI_Comm_group(comm, &group); code != MPI_SUCCESS) {
    return unrecognised(Reason::kNoSubTorus, mpiStatus(code, "MPI_Comm_group").message());
  }
  PMPI_Group_compare(group, world, &likeness);
  PMPI_Group_free(&group);
  const bool is_world = likeness == MPI_IDENT;

  // The whole job by order needs no list of its ranks.
  StatusOr<SubTorus> box = torc::wholePartition(job.topology);
  if (is_world && !job.sites.empty()) {
    box = torc::recogniseSubTorus(job.topology, job.sites);
  } else if (!is_world) {
    const std::vector<int> ranks = translatedRanks(comm, 0, size, world);
    std::vector<std::int32_t> sites;
    sites.reserve(ranks.size());
    for (std::size_t member = 0; member < ranks.size(); ++member) {
      if (ranks[member] == MPI_UNDEFINED) {
        return unrecognised(
            Reason::kOutsideWorld,
            message("rank ", member, " is not among those that the job began with"));
      }
      sites.push_back(job.siteOf(ranks[member]));
    }
    box = torc::recogniseSubTorus(job.topology, sites);
  }
  if (!box.ok()) return unrecognised(Reason::kNoBox, box.status().message());

  const torc::LibrarySubTorus* sub_torus = index.findSubTorus(job.partition, box->extents);
  if (sub_torus == nullptr) {
    return unrecognised(Reason::kNoSubTorus, message("the library has nothing for the sub-torus ",
                                                     torc::extentsText(job.topology, box->extents),
                                                     " of ", job.topology.shape()));
  }
  const torc::Topology& shape = index.shapes[sub_torus->shape].topology;
  torc::SubTorusRanks ranks = torc::ranksInSubTorus(*box, shape, sub_torus->axes);
  StatusOr<torc::Topology> topology = withOrder(shape, ranks.order);
  StatusOr<RankMap> map = RankMap::fromTable(std::move(ranks.table));
  if (!topology.ok() || !map.ok()) {
    const Status& status = topology.ok() ? map.status() : topology.status();
    return unrecognised(Reason::kNoSubTorus, status.message());
  }
  Recognition result;
  result.why = Reason::kServed;
  result.sub_torus = static_cast<std::uint32_t>(sub_torus - index.sub_tori.data());
  result.shape = sub_torus->shape;
  result.topology = *topology;
  result.map = std::move(*map);
  result.in_order = isInRankOrder(result.map, *topology, shape);
  return result;
}
