// Library: opens it, and recognises communicators.
//
// Opening: rank 0 reads index and mapping, all ranks check the same bytes and agree. Recognition
// maps the members of a communicator to ranks of the job, these to sites of the partition, and
// these to a sub-torus of the library.
#include "runtime/job/library.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/transport/mpi_status.h"
#include "schedules/format/file.h"
#include "schedules/sub_torus/sub_torus.h"
#include "support/message.h"

using namespace torc;
using namespace torc::runtime;

namespace torc::runtime {
namespace {

using Bytes = std::vector<std::byte>;

/// The index, if it and the manifest beside it come from one build.
StatusOr<Bytes> readIndexOnce(const std::string& directory) {
  StatusOr<Bytes> bytes = readFile(indexPath(directory));
  if (!bytes.ok()) return bytes.status();
  const StatusOr<LibraryIndex> index = readLibraryIndex(*bytes, indexPath(directory));
  if (!index.ok()) return index.status();
  const StatusOr<Bytes> manifest = readFile(manifestPath(directory));
  if (!manifest.ok()) return manifest.status();
  if (const std::uint64_t found = checksumOf(*manifest); found != index->manifest_checksum) {
    return Status(StatusCode::kMismatch,
                  message(indexPath(directory), ": the index is stale: it was made with another ",
                          kManifestName, " than the one beside it (checksum ", std::hex, found,
                          ", the index says ", index->manifest_checksum, ")"));
  }
  return bytes;
}

/// A new library may replace this one between the two reads: then a second attempt succeeds.
StatusOr<Bytes> readIndex(const std::string& directory) {
  StatusOr<Bytes> bytes = readIndexOnce(directory);
  if (!bytes.ok()) bytes = readIndexOnce(directory);
  return bytes;
}

/// Rank 0's message: the length of the index, the index, the text of the mapping file.
Status readAll(const LibraryOptions& options, Bytes& bundle) {
  StatusOr<Bytes> index = readIndex(options.directory);
  if (!index.ok()) return index.status();
  Bytes mapping;
  if (!options.mapping.empty()) {
    StatusOr<Bytes> text = readFile(options.mapping);
    if (!text.ok()) return text.status();
    mapping = std::move(*text);
  }
  const std::uint64_t length = index->size();
  bundle.resize(sizeof(length));
  std::memcpy(bundle.data(), &length, sizeof(length));
  bundle.insert(bundle.end(), index->begin(), index->end());
  bundle.insert(bundle.end(), mapping.begin(), mapping.end());
  return {};
}

Status checkOptions(const LibraryOptions& options) {
  if (options.directory.empty()) {
    return {StatusCode::kInvalidArgument, "no folder is given"};
  }
  if (options.memory_limit == 0) {
    return {StatusCode::kInvalidArgument, "the memory limit is 0 bytes"};
  }
  return {};
}

/// Parses the bytes that all ranks have received.
Status understand(std::span<const std::byte> bundle, std::uint64_t ranks, torc_library& library) {
  std::uint64_t length = 0;
  std::memcpy(&length, bundle.data(), sizeof(length));
  const std::span<const std::byte> rest = bundle.subspan(sizeof(length));
  StatusOr<LibraryIndex> index =
      readLibraryIndex(rest.first(length), indexPath(library.options.directory));
  if (!index.ok()) return index.status();
  library.index = std::move(*index);
  const std::span<const std::byte> text = rest.subspan(length);
  StatusOr<JobMapping> job =
      mapJob(library.index, library.options, ranks,
             std::string(reinterpret_cast<const char*>(text.data()), text.size()));
  if (!job.ok()) return job.status();
  library.job = std::move(*job);
  library.torus = library.job.topology.shape();
  library.order = library.job.sites.empty() ? library.job.topology.orderString() : "";
  for (const LibraryShape& shape : library.index.shapes)
    library.shapes.push_back(shape.topology.shape());
  return {};
}

}  // namespace
}  // namespace torc::runtime

StatusOr<std::unique_ptr<torc_library>> torc_library::open(torc_context* context, MPI_Comm world,
                                                           const LibraryOptions& options,
                                                           const Status& callers) {
  auto library = std::make_unique<torc_library>(context);
  library->options = options;
  library->cache = ScheduleCache(options.memory_limit);
  // On the caller's communicator: a duplicate would need one more collective step.
  Agreement agreement;
  agreement.open(world, [&] { context->advance(); });
  const int rank = commRank(world), size = commSize(world);
  const std::hash<std::string> hash;
  const AgreedField fields[] = {
      {"the library's folder", hash(options.directory), false},
      {"the torus or order of ranks", hash(options.torus + '\n' + options.order), false},
      {"the mapping file", hash(options.mapping), false},
      {"the machine", hash(options.machine), false},
      {"the memory limit for schedules", options.memory_limit, true},
  };
  static_assert(std::size(fields) <= kMaxAgreedFields);
  std::vector<std::byte> bundle;
  std::vector<std::uint64_t> names;
  Status mine = callers.ok() ? checkOptions(options) : callers;
  if (mine.ok()) {
    mine = attempt([&] {
      names.resize(static_cast<std::size_t>(size));
      return rank == 0 ? readAll(options, bundle) : Status();
    });
  }
  if (Status agreed = agreement.agree(mine, fields); !agreed.ok()) return agreed;
  const StatusOr<HostRanks> hosts = countHostRanks(agreement, world, names);
  if (!hosts.ok()) return hosts.status();
  library->hosts = *hosts;
  if (mine = agreement.broadcast(bundle); mine.ok()) {
    mine = attempt([&] { return understand(bundle, static_cast<std::uint64_t>(size), *library); });
  }
  if (mine.ok()) {
    mine = mpiStatus(PMPI_Comm_group(world, &library->world), "MPI_Comm_group");
  }
  if (Status agreed = agreement.agree(mine); !agreed.ok()) return agreed;

  return library;
}

torc_library::~torc_library() {
  --context->libraries;
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (world != MPI_GROUP_NULL && !finalized) PMPI_Group_free(&world);
}

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
  if (size == 1) return {Reason::kOneRank, "the communicator has one rank"};
  MPI_Group group = MPI_GROUP_NULL;
  int likeness = MPI_UNEQUAL;
  if (const int code = PMPI_Comm_group(comm, &group); code != MPI_SUCCESS) {
    return {Reason::kNoSubTorus, mpiStatus(code, "MPI_Comm_group").message()};
  }
  PMPI_Group_compare(group, world, &likeness);
  PMPI_Group_free(&group);
  const bool is_world = likeness == MPI_IDENT;

  // The whole job by order needs no list of its ranks.
  StatusOr<SubTorus> box = wholePartition(job.topology);
  if (is_world && !job.sites.empty()) {
    box = recogniseSubTorus(job.topology, job.sites);
  } else if (!is_world) {
    const std::vector<int> ranks = translatedRanks(comm, 0, size, world);
    std::vector<std::int32_t> sites;
    sites.reserve(ranks.size());
    for (std::size_t member = 0; member < ranks.size(); ++member) {
      if (ranks[member] == MPI_UNDEFINED) {
        return {Reason::kOutsideWorld,
                message("rank ", member, " is not among those that the job began with")};
      }
      sites.push_back(job.siteOf(ranks[member]));
    }
    box = recogniseSubTorus(job.topology, sites);
  }
  if (!box.ok()) return {Reason::kNoBox, box.status().message()};

  const LibrarySubTorus* sub_torus = index.findSubTorus(job.partition, box->extents);
  if (sub_torus == nullptr) {
    return {Reason::kNoSubTorus,
            message("the library has nothing for the sub-torus ",
                    extentsText(job.topology, box->extents), " of ", job.topology.shape())};
  }
  const Topology& shape = index.shapes[sub_torus->shape].topology;
  SubTorusRanks ranks = ranksInSubTorus(*box, shape, sub_torus->axes);
  StatusOr<Topology> topology = withOrder(shape, ranks.order);
  StatusOr<RankMap> map = RankMap::fromTable(std::move(ranks.table));
  if (!topology.ok() || !map.ok()) {
    const Status& status = topology.ok() ? map.status() : topology.status();
    return {Reason::kNoSubTorus, status.message()};
  }
  const bool in_order = isInRankOrder(*map, *topology, shape);
  return {.why = Reason::kServed,
          .reason = {},
          .sub_torus = static_cast<std::uint32_t>(sub_torus - index.sub_tori.data()),
          .shape = sub_torus->shape,
          .topology = *topology,
          .map = std::move(*map),
          .in_order = in_order};
}
