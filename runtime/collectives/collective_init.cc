// Making a collective: every rank prepares, all agree, tags are assigned, all agree again.
#include <array>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/collectives/call.h"
#include "runtime/collectives/call_api.h"
#include "runtime/collectives/collective.h"
#include "runtime/collectives/counts_round.h"
#include "runtime/collectives/persistent_plan.h"
#include "runtime/trace/trace.h"

using namespace torc::runtime;
using torc::Collective;
using torc::Status;
using torc::StatusCode;
using torc::StatusOr;

namespace {

/// After a failure that not all ranks may have shared: the tags are free again on this rank.
Status release(torc_geometry& geometry, const TagClaim& tags, const Status& status) {
  geometry.releaseTags(tags);
  return status;
}

/// A call on its way to a collective.
struct Preparation {
  Call call;
  std::unique_ptr<PersistentPlan> plan;
  std::unique_ptr<CountsRound> counts;  // null: a rank knows all counts that it needs
};

/// What can fail on one rank alone.
Status prepare(torc_schedule* schedule, const CallArguments& arguments, Preparation& made) {
  if (Status status = checkSchedule(*schedule, arguments.collective); !status.ok()) {
    return status;
  }
  const torc_geometry& geometry = *schedule->geometry;
  const int ranks = static_cast<int>(schedule->view().topology.ranks());
  if (Status status = check(arguments, geometry.rank, ranks, made.call); !status.ok()) {
    return status;
  }
  takeLists(arguments, ranks, made.call);
  made.plan = std::make_unique<PersistentPlan>(schedule);
  if (arguments.hasPairLists() && !schedule->view().isDirect()) {
    made.counts = std::make_unique<CountsRound>(*schedule, made.call);
    return made.counts->prepare();
  }
  return made.plan->prepare(made.call);
}

/// With all ranks, where blocks pass through others: learns how long they are, by messages with the
/// tags of the call itself, and prepares the call.
Status learnCounts(torc_geometry& geometry, const TagClaim& tags, Preparation& made) {
  const Status laid = attempt([&] { return made.counts->layOut(geometry.tagBase(tags)); });
  if (Status agreed = geometry.agreement.agree(laid); !agreed.ok()) return agreed;
  const Status learned = attempt([&] {
    const Status status = made.counts->run();
    return status.ok() ? made.plan->prepare(made.call, &made.counts->passing()) : status;
  });
  return geometry.agreement.agree(learned);
}

Status create(const char* function, torc_schedule* schedule, const CallArguments& given,
              torc_collective** result) {
  if (schedule == nullptr) return nullArgument("schedule");
  CallArguments arguments = given;
  arguments.neighbours = static_cast<int>(2 * schedule->view().topology.axis_count);
  torc_geometry& geometry = *schedule->geometry;
  if (geometry.context->in_callback) return {StatusCode::kBusy, "called from a callback"};

  Preparation made;
  const Status prepared = attempt([&]() -> Status {
    if (result == nullptr) return nullArgument("collective");
    return prepare(schedule, arguments, made);
  });
  std::array<AgreedField, kMaxAgreedFields> fields{};
  if (prepared.ok()) {
    const Call& call = made.call;
    // Lists of pairs differ from rank to rank.
    const std::uint64_t counts = arguments.hasPairLists() ? 0 : call.countsFingerprint();
    fields = {
        {{"the function", std::hash<std::string_view>()(function), false},
         {"the schedule", schedule->serial, false},
         {"the root", static_cast<std::uint64_t>(call.root), true},
         {arguments.has_counts ? "the list of counts" : "the count", counts, !arguments.has_counts},
         {"the datatype", call.type.fingerprint(), false},
         {"the operation", call.reduction.fingerprint, false}}};
  }
  TagMap taken = geometry.takenTags();
  if (Status agreed = geometry.agreement.agree(prepared, fields, &taken); !agreed.ok()) {
    return agreed;
  }
  // The same everywhere: all ranks see the same map.
  StatusOr<TagClaim> tags = geometry.claimTags(schedule->tag_count, taken);
  if (!tags.ok()) return tags.status();
  if (made.counts != nullptr) {
    if (Status agreed = learnCounts(geometry, *tags, made); !agreed.ok()) {
      if (made.counts->isOver()) return release(geometry, *tags, agreed);
      // Messages of a failed round may still touch its memory, which stays, as the tags do.
      static_cast<void>(made.counts.release());
      return agreed;
    }
  }

  std::unique_ptr<torc_collective> collective;
  const Status laid = attempt([&] {
    collective = std::make_unique<torc_collective>(std::move(made.plan));
    collective->tags = *tags;
    return collective->plan->layOut(geometry.tagBase(*tags), Requests::kPersistent);
  });
  if (Status agreed = geometry.agreement.agree(laid); !agreed.ok()) {
    return release(geometry, *tags, agreed);
  }
  collective->number = geometry.collectives_made++;
  ++schedule->collectives;
  *result = collective.release();
  return {};
}

int init(const char* function, torc_schedule* schedule, torc_collective** collective,
         const CallArguments& arguments) {
  if (collective != nullptr) *collective = nullptr;
  torc_context* context = schedule != nullptr ? schedule->geometry->context : nullptr;
  const TraceCall traced(context != nullptr ? context->trace.get() : nullptr, function);
  return report(attempt(
      [&] { return create(function, schedule, arguments, collective).annotated(function); }));
}

/// What a function is told of the blocks in a buffer, or of the own one alone.
struct Blocks {
  Blocks(int64_t each, MPI_Datatype type_of_all) : count(each), type(type_of_all) {}
  Blocks(const int64_t* of_ranks, const int64_t* from, MPI_Datatype type_of_all)
      : is_list(true), counts(of_ranks), displacements(from), type(type_of_all) {}

  bool is_list = false;
  int64_t count = 0;
  const int64_t *counts = nullptr, *displacements = nullptr;
  MPI_Datatype type;
};

/// A call of a vector: of one buffer that is `out`, or of a reduction.
CallArguments ofVector(Collective collective, const void* in, void* out, int64_t count,
                       MPI_Datatype type, MPI_Op op, int root = 0) {
  CallArguments arguments;
  arguments.collective = collective;
  arguments.in = in;
  arguments.out = out;
  arguments.count = count;
  arguments.type = type;
  arguments.op = op;
  arguments.root = root;
  return arguments;
}

/// A call that moves blocks of all ranks. Which buffer has all of them says the row.
CallArguments ofBlocks(Collective collective, const void* in, const Blocks& in_blocks, void* out,
                       const Blocks& out_blocks, int root = 0) {
  const bool is_own_out = torc::rowOf(collective).describesOwnOut();
  const Blocks& all = is_own_out ? in_blocks : out_blocks;
  const Blocks& own = is_own_out ? out_blocks : in_blocks;
  CallArguments arguments = ofVector(collective, in, out, all.count, all.type, MPI_OP_NULL, root);
  arguments.has_counts = arguments.has_displacements = all.is_list;
  arguments.counts = all.counts;
  arguments.displacements = all.displacements;
  arguments.own_count = own.count;
  arguments.own_counts = own.counts;
  arguments.own_displacements = own.displacements;
  arguments.own_type = own.type;
  return arguments;
}

/// A call of neighbours, by lists in any case.
CallArguments ofNeighbours(Collective collective, const void* in, const Blocks& in_blocks,
                           void* out, const Blocks& out_blocks) {
  CallArguments arguments = ofBlocks(collective, in, in_blocks, out, out_blocks);
  arguments.listNeighbours();
  if (out_blocks.is_list) {
    arguments.counts = out_blocks.counts;
    arguments.displacements = out_blocks.displacements;
  }
  if (in_blocks.is_list) {
    arguments.own_counts = in_blocks.counts;
    arguments.own_displacements = in_blocks.displacements;
  }
  return arguments;
}

}  // namespace

int torc_allreduce_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                        MPI_Datatype datatype, MPI_Op op, torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofVector(Collective::kAllreduce, in, out, count, datatype, op));
}

int torc_reduce_scatter_init(torc_schedule* schedule, const void* in, void* out,
                             const int64_t counts[], MPI_Datatype datatype, MPI_Op op,
                             torc_collective** collective) {
  CallArguments arguments = ofVector(Collective::kReduceScatter, in, out, 0, datatype, op);
  arguments.has_counts = true;
  arguments.counts = counts;
  return init(__func__, schedule, collective, arguments);
}

int torc_reduce_scatter_block_init(torc_schedule* schedule, const void* in, void* out,
                                   int64_t count, MPI_Datatype datatype, MPI_Op op,
                                   torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofVector(Collective::kReduceScatter, in, out, count, datatype, op));
}

int torc_allgather_init(torc_schedule* schedule, const void* in, int64_t in_count,
                        MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                        torc_collective** collective) {
  return init(
      __func__, schedule, collective,
      ofBlocks(Collective::kAllgather, in, {in_count, in_type}, out, {out_count, out_type}));
}

int torc_allgatherv_init(torc_schedule* schedule, const void* in, int64_t in_count,
                         MPI_Datatype in_type, void* out, const int64_t counts[],
                         const int64_t displacements[], MPI_Datatype out_type,
                         torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofBlocks(Collective::kAllgather, in, {in_count, in_type}, out,
                       {counts, displacements, out_type}));
}

int torc_broadcast_init(torc_schedule* schedule, void* buffer, int64_t count, MPI_Datatype datatype,
                        int root, torc_collective** collective) {
  return init(
      __func__, schedule, collective,
      ofVector(Collective::kBroadcast, MPI_IN_PLACE, buffer, count, datatype, MPI_OP_NULL, root));
}

int torc_reduce_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                     MPI_Datatype datatype, MPI_Op op, int root, torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofVector(Collective::kReduce, in, out, count, datatype, op, root));
}

int torc_scan_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                   MPI_Datatype datatype, MPI_Op op, torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofVector(Collective::kScan, in, out, count, datatype, op));
}

int torc_exscan_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                     MPI_Datatype datatype, MPI_Op op, torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofVector(Collective::kExscan, in, out, count, datatype, op));
}

int torc_scatter_init(torc_schedule* schedule, const void* in, int64_t in_count,
                      MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                      int root, torc_collective** collective) {
  return init(
      __func__, schedule, collective,
      ofBlocks(Collective::kScatter, in, {in_count, in_type}, out, {out_count, out_type}, root));
}

int torc_scatterv_init(torc_schedule* schedule, const void* in, const int64_t counts[],
                       const int64_t displacements[], MPI_Datatype in_type, void* out,
                       int64_t out_count, MPI_Datatype out_type, int root,
                       torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofBlocks(Collective::kScatter, in, {counts, displacements, in_type}, out,
                       {out_count, out_type}, root));
}

int torc_gather_init(torc_schedule* schedule, const void* in, int64_t in_count,
                     MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                     int root, torc_collective** collective) {
  return init(
      __func__, schedule, collective,
      ofBlocks(Collective::kGather, in, {in_count, in_type}, out, {out_count, out_type}, root));
}

int torc_gatherv_init(torc_schedule* schedule, const void* in, int64_t in_count,
                      MPI_Datatype in_type, void* out, const int64_t counts[],
                      const int64_t displacements[], MPI_Datatype out_type, int root,
                      torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofBlocks(Collective::kGather, in, {in_count, in_type}, out,
                       {counts, displacements, out_type}, root));
}

int torc_alltoall_init(torc_schedule* schedule, const void* in, int64_t in_count,
                       MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                       torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofBlocks(Collective::kAlltoall, in, {in_count, in_type}, out, {out_count, out_type}));
}

int torc_alltoallv_init(torc_schedule* schedule, const void* in, const int64_t in_counts[],
                        const int64_t in_displacements[], MPI_Datatype in_type, void* out,
                        const int64_t out_counts[], const int64_t out_displacements[],
                        MPI_Datatype out_type, torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofBlocks(Collective::kAlltoall, in, {in_counts, in_displacements, in_type}, out,
                       {out_counts, out_displacements, out_type}));
}

int torc_neighbor_allgather_init(torc_schedule* schedule, const void* in, int64_t in_count,
                                 MPI_Datatype in_type, void* out, int64_t out_count,
                                 MPI_Datatype out_type, torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofNeighbours(Collective::kNeighborAllgather, in, {in_count, in_type}, out,
                           {out_count, out_type}));
}

int torc_neighbor_allgatherv_init(torc_schedule* schedule, const void* in, int64_t in_count,
                                  MPI_Datatype in_type, void* out, const int64_t counts[],
                                  const int64_t displacements[], MPI_Datatype out_type,
                                  torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofNeighbours(Collective::kNeighborAllgather, in, {in_count, in_type}, out,
                           {counts, displacements, out_type}));
}

int torc_neighbor_alltoall_init(torc_schedule* schedule, const void* in, int64_t in_count,
                                MPI_Datatype in_type, void* out, int64_t out_count,
                                MPI_Datatype out_type, torc_collective** collective) {
  return init(__func__, schedule, collective,
              ofNeighbours(Collective::kNeighborAlltoall, in, {in_count, in_type}, out,
                           {out_count, out_type}));
}

int torc_neighbor_alltoallv_init(torc_schedule* schedule, const void* in, const int64_t in_counts[],
                                 const int64_t in_displacements[], MPI_Datatype in_type, void* out,
                                 const int64_t out_counts[], const int64_t out_displacements[],
                                 MPI_Datatype out_type, torc_collective** collective) {
  return init(
      __func__, schedule, collective,
      ofNeighbours(Collective::kNeighborAlltoall, in, {in_counts, in_displacements, in_type}, out,
                   {out_counts, out_displacements, out_type}));
}

int torc_schedule_serves(const torc_schedule* schedule, const torc_call* call) {
  return report(attempt([&]() -> Status {
    if (schedule == nullptr) return nullArgument("torc_schedule_serves: schedule");
    if (call == nullptr) return nullArgument("torc_schedule_serves: call");
    StatusOr<CallArguments> arguments = argumentsOf(*call);
    if (!arguments.ok()) return arguments.status().annotated("torc_schedule_serves");
    if (Status fits = checkSchedule(*schedule, arguments->collective); !fits.ok()) {
      return fits;
    }
    arguments->neighbours = static_cast<int>(2 * schedule->view().topology.axis_count);
    Call checked;
    Status status = check(*arguments, schedule->geometry->rank,
                          static_cast<int>(schedule->view().topology.ranks()), checked);
    return status.ok() ? checkOrder(*schedule, checked) : status;
  }));
}
