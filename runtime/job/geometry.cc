// Geometry: creation agreed by all ranks, oversubscription, tags.
#include "runtime/job/geometry.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "runtime/api/api.h"
#include "runtime/execution/core_threads.h"
#include "runtime/job/library.h"
#include "runtime/job/trace_job.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/put/put_transport.h"
#include "runtime/transport/which_mpi.h"
#include "schedules/library/job_mapping.h"
#include "support/message.h"

using namespace torc;
using namespace torc::runtime;

namespace {

/// Cores that the ranks of this host may share. The mask of a process that is bound to one core
/// does not show the cores of the others: then all cores of the host count.
int hostCores() {
  if (const int mine = coresOfProcess(); mine > 1) return mine;
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

std::uint64_t hostHash() {
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  PMPI_Get_processor_name(host, &length);
  return std::hash<std::string_view>()({host, static_cast<std::size_t>(length)});
}

std::string nameOf(const Topology& topology) {
  return topology.shape() + " (order " + topology.orderString() + ")";
}

bool sameShape(const Topology& a, const Topology& b) {
  if (a.axis_count != b.axis_count) return false;
  for (std::uint32_t i = 0; i < a.axis_count; ++i) {
    if (a.axes[i].size != b.axes[i].size || a.axes[i].kind != b.axes[i].kind) return false;
  }
  // Dead nodes have no rank; dead links do not change the ranks' coordinates. The tables are in the
  // order of ranks.
  return std::ranges::is_permutation(a.deadNodes(), b.deadNodes());
}

}  // namespace

StatusOr<torc::runtime::HostRanks> torc::runtime::countHostRanks(Agreement& agreement,
                                                                 MPI_Comm comm,
                                                                 std::span<std::uint64_t> names) {
  const std::uint64_t mine = hostHash();
  agreement.collective().allgather(comm, &mine, names.data(), sizeof(mine));
  if (Status status = agreement.wait(); !status.ok()) return status;
  HostRanks hosts;
  hosts.count = static_cast<int>(std::count(names.begin(), names.end(), mine));
  hosts.oversubscribed = hosts.count > hostCores();
  return hosts;
}

torc_geometry::~torc_geometry() {
  if (library != nullptr) --library->geometries;
  --context->geometries;
  setHosts({});
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (comm == MPI_COMM_NULL || finalized) return;
  if (!has_failed || kKeepsFreedCommunicators) PMPI_Comm_free(&comm);
}

Status torc::runtime::checkCommunicator(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) {
    return {StatusCode::kInvalidArgument, "the communicator is MPI_COMM_NULL"};
  }
  int is_inter = 0;
  if (const int code = PMPI_Comm_test_inter(comm, &is_inter); code != MPI_SUCCESS) {
    return mpiStatus(code, "MPI_Comm_test_inter");
  }
  if (is_inter) return {StatusCode::kUnsupported, "the communicator is an intercommunicator"};
  return {};
}

StatusOr<std::unique_ptr<torc_geometry>> torc_geometry::make(torc_context* context, MPI_Comm parent,
                                                             const char* what, const Map& map) {
  if (Status status = checkContext(context); !status.ok()) return status;
  if (Status status = checkCommunicator(parent); !status.ok()) return status;
  auto geometry = std::make_unique<torc_geometry>(context);
  MPI_Request request = MPI_REQUEST_NULL;
  Status status = context->waitFor(startDuplicate(&request, parent, &geometry->comm), &request,
                                   "MPI_Comm_idup");
  if (!status.ok()) return status;
  geometry->attach();
  std::vector<std::uint64_t> names;
  std::uint64_t fingerprint = 0;
  const Status mine = attempt([&]() -> Status {
    if (Status traced = geometry->startTrace(); !traced.ok()) return traced;
    names.resize(static_cast<std::size_t>(geometry->size));
    return map(*geometry, fingerprint);
  });
  const AgreedField fields[] = {{what, mine.ok() ? fingerprint : 0, false}};
  if (status = geometry->agreement.agree(mine, fields); !status.ok()) return status;
  const StatusOr<HostRanks> counted = countHostRanks(geometry->agreement, geometry->comm, names);
  if (!counted.ok()) return counted.status();
  geometry->setHosts(*counted);
  return geometry;
}

StatusOr<std::unique_ptr<torc_geometry>> torc_geometry::over(torc_context* context, MPI_Comm comm,
                                                             const Topology& topology, RankMap map,
                                                             const HostRanks& hosts) {
  auto geometry = std::make_unique<torc_geometry>(context);
  geometry->comm = comm;
  geometry->attach();
  if (Status status = geometry->mapOnto(topology, std::move(map)); !status.ok()) {
    geometry->comm = MPI_COMM_NULL;  // belongs to the caller
    return status;
  }
  geometry->setHosts(hosts);
  return geometry;
}

Status torc_geometry::mapOnto(const Topology& torus, RankMap ranks) {
  if (Status status = adopt(torus); !status.ok()) return status;
  gives_order_ = true;
  map = std::move(ranks);
  return {};
}

void torc_geometry::setHosts(const HostRanks& ranks) {
  context->oversubscribed_geometries += ranks.oversubscribed - hosts.oversubscribed;
  hosts = ranks;
}

/// Finds the local properties of `comm`.
void torc_geometry::attach() {
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  rank = commRank(comm);
  size = commSize(comm);

  const int highest = highestTag(comm);
  const int half = highest / 2 + 1;
  tags_per_slot_ = std::max(1, half / kTagSlots);
  one_shot_tags = TagSpace(half, static_cast<std::uint32_t>(highest - half));
  agreement.open(comm, [this] { context->advance(); });
}

Status torc_geometry::adopt(const Topology& wanted) {
  if (topology &&
      !(sameShape(*topology, wanted) && (gives_order_ || topology->order == wanted.order))) {
    return {StatusCode::kMismatch,
            message("torus ", nameOf(wanted), ", the geometry is ", nameOf(*topology))};
  }
  if (wanted.ranks() != static_cast<std::uint64_t>(size)) {
    return {StatusCode::kMismatch, message("torus ", wanted.shape(), " has ", wanted.ranks(),
                                           " nodes, the communicator has ", size, " ranks")};
  }
  if (!topology) topology = wanted;
  return {};
}

StatusOr<Topology> torc_geometry::topologyFor(const Topology& compiled) const {
  if (!gives_order_ || topology->order == compiled.order) return compiled;
  return withOrder(compiled, topology->order);
}

Status torc_geometry::startTrace() {
  if (context->trace_job == nullptr) return {};
  StatusOr<std::shared_ptr<const GeometryTrace>> traced = context->trace_job->addGeometry(comm);
  if (traced.ok()) trace = std::move(*traced);
  return traced.status();
}

StatusOr<TagClaim> torc_geometry::claimTags(std::uint32_t tag_count, const TagMap& taken) {
  const std::uint64_t slots =
      std::max<std::uint64_t>(1, (std::uint64_t{tag_count} + tags_per_slot_ - 1) / tags_per_slot_);
  if (slots > kTagSlots) {
    return Status(StatusCode::kUnsupported,
                  message("the schedule needs ", tag_count, " message tags, MPI has ",
                          std::int64_t{tags_per_slot_} * kTagSlots));
  }
  auto isTaken = [&](int slot) { return (taken[slot / 64] >> (slot % 64) & 1) != 0; };
  TagClaim claim{0, 0};
  for (int slot = 0; slot < kTagSlots; ++slot) {
    if (isTaken(slot)) {
      claim = {slot + 1, 0};
    } else if (++claim.slots == static_cast<int>(slots)) {
      for (int s = claim.first_slot; s <= slot; ++s)
        taken_[s / 64] |= std::uint64_t{1} << (s % 64);
      return claim;
    }
  }
  return Status(StatusCode::kBusy,
                "no message tags are left: too many collectives are alive on the geometry");
}

void torc_geometry::releaseTags(const TagClaim& claim) {
  for (int s = claim.first_slot; s < claim.first_slot + claim.slots; ++s) {
    taken_[s / 64] &= ~(std::uint64_t{1} << (s % 64));
  }
}

std::unique_ptr<Transport> torc_geometry::makeTransport(int tag_base, bool by_mpi) const {
  const bool is_one_shot = tag_base == kOneShot;
  std::unique_ptr<Transport> beyond =
      std::make_unique<MpiTransport>(comm, is_one_shot ? 0 : tag_base, &context->sent);
  if (by_mpi) return beyond;
  const int slot = tag_base / tags_per_slot_;
  if (segment == nullptr || (!is_one_shot && slot >= HostSegment::kPersistentTracks)) return beyond;
  return std::make_unique<PutTransport>(
      segment, is_one_shot ? HostSegment::kOneShotTrack : HostSegment::persistentTrack(slot),
      std::move(beyond), &context->sent);
}

namespace {

Status createGeometry(torc_context* context, MPI_Comm comm, const char* shape, const char* order,
                      torc_geometry** result) {
  const auto map = [&](torc_geometry& geometry, std::uint64_t& fingerprint) -> Status {
    if (result == nullptr) return nullArgument("geometry");
    if (shape == nullptr && order == nullptr) return {};
    if (shape == nullptr) {
      return {StatusCode::kInvalidArgument, "an order is given without a shape"};
    }
    const StatusOr<Topology> parsed = parseTopology(shape, order == nullptr ? "" : order);
    if (!parsed.ok()) return parsed.status();
    fingerprint = std::hash<std::string>()(nameOf(*parsed));
    return geometry.adopt(*parsed);
  };
  StatusOr<std::unique_ptr<torc_geometry>> made =
      torc_geometry::make(context, comm, "the shape", map);
  if (made.ok()) *result = made->release();
  return made.status();
}

}  // namespace

int torc_geometry_create(torc_context* context, MPI_Comm comm, const char* shape, const char* order,
                         torc_geometry** geometry) {
  if (geometry != nullptr) *geometry = nullptr;
  return apiCall(__func__, [&] { return createGeometry(context, comm, shape, order, geometry); });
}

int torc_geometry_destroy(torc_geometry* geometry) {
  if (geometry == nullptr) return TORC_OK;
  return apiCall(__func__, [&]() -> Status {
    if (Status status = checkContext(geometry->context); !status.ok()) return status;
    Status mine;
    if (geometry->schedules > 0) {
      mine = {StatusCode::kBusy,
              message("the geometry still has ", geometry->schedules, " schedules")};
    }
    if (Status agreed = geometry->agreement.agree(mine); !agreed.ok()) return agreed;
    delete geometry;
    return {};
  });
}

int torc_geometry_query(const torc_geometry* geometry, torc_geometry_info* info) {
  return apiCall(__func__, [&]() -> Status {
    if (geometry == nullptr) return nullArgument("geometry");
    if (info == nullptr) return nullArgument("info");
    *info = {};
    info->rank = geometry->rank;
    info->nodes = geometry->size;
    info->ranks_on_host = geometry->hosts.count;
    info->oversubscribed = geometry->hosts.oversubscribed ? 1 : 0;
    if (!geometry->topology) return {};
    const Topology& topology = *geometry->topology;
    std::snprintf(info->shape, sizeof(info->shape), "%s", topology.shape().c_str());
    std::snprintf(info->order, sizeof(info->order), "%s", topology.orderString().c_str());
    info->axis_count = static_cast<int>(topology.axis_count);
    const Coordinates at = topology.coordinatesOf(geometry->map.toSchedule(geometry->rank));
    static_assert(TORC_MAX_AXES == kMaxAxes);
    std::copy(at.begin(), at.end(), info->coordinates);
    return {};
  });
}
