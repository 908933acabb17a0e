// Creation of a collective: every rank prepares, all agree, tags are assigned, all agree again.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/collectives/call.h"
#include "runtime/collectives/counts_round.h"
#include "runtime/collectives/plan.h"
#include "runtime/job/describe_call.h"
#include "runtime/trace/trace.h"

using namespace torc;
using namespace torc::runtime;

namespace {

/// After a failure that some ranks may not share: the tags are free again on this rank.
Status release(torc_geometry& geometry, const TagClaim& tags, const Status& status) {
  geometry.releaseTags(tags);
  return status;
}

/// Intermediate data of the creation.
struct Preparation {
  Call call;
  std::unique_ptr<torc_collective> plan;
  std::unique_ptr<CountsRound> counts;  // null: a rank knows all counts that it needs
};

/// The part that may fail on one rank alone.
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
  made.plan = std::make_unique<torc_collective>(schedule);
  if (arguments.hasPairLists() && !schedule->view().isDirect()) {
    made.counts = std::make_unique<CountsRound>(*schedule, made.call);
    return made.counts->prepare();
  }
  return made.plan->prepare(made.call);
}

/// Collective, if ranks forward blocks: exchanges their lengths, by messages with the tags of the
/// call itself, and prepares the call.
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
  if (Status agreed = geometry.agreement.agree(prepared, fields); !agreed.ok()) return agreed;
  ServiceCollective& all = geometry.agreement.collective();
  all.allreduce(geometry.comm, geometry.takenTags(), MPI_BOR);
  if (Status status = geometry.agreement.wait(); !status.ok()) return status;
  TagMap taken{};
  std::ranges::copy(all.words(), taken.begin());
  // The same on all ranks, which have the same map.
  StatusOr<TagClaim> tags = geometry.claimTags(schedule->tag_count, taken);
  if (!tags.ok()) return tags.status();
  if (made.counts != nullptr) {
    if (Status agreed = learnCounts(geometry, *tags, made); !agreed.ok()) {
      if (made.counts->isOver()) return release(geometry, *tags, agreed);
      // Messages of a failed round may still touch its memory, which is therefore kept, like the
      // tags.
      static_cast<void>(made.counts.release());
      return agreed;
    }
  }

  made.plan->tags = *tags;
  const Status laid = attempt([&] { return made.plan->layOut(geometry.tagBase(*tags)); });
  if (Status agreed = geometry.agreement.agree(laid); !agreed.ok()) {
    return release(geometry, *tags, agreed);
  }
  made.plan->number = geometry.collectives_made++;
  ++schedule->collectives;
  *result = made.plan.release();
  return {};
}

int init(const char* function, torc_schedule* schedule, torc_collective** collective,
         const CallArguments& arguments) {
  if (collective != nullptr) *collective = nullptr;
  torc_context* context = schedule != nullptr ? schedule->geometry->context : nullptr;
  const TraceCall traced(context != nullptr ? context->trace.get() : nullptr, function);
  return apiCall(function, [&] { return create(function, schedule, arguments, collective); });
}

}  // namespace

// The functions of torc.h, each with the parameters of an MPI function.
#define TORC_INIT(name, Name, parameters)                                                        \
  int torc_##name##_init(torc_schedule* schedule,                                                \
                         TORC_PARAMETERS(parameters, int64_t, int64_t) torc_collective** made) { \
    return init(__func__, schedule, made, TORC_DESCRIBED(Name, parameters, MPI_COMM_NULL));      \
  }
extern "C" {
TORC_INIT(allreduce, Allreduce, Reduction)
TORC_INIT(reduce_scatter, Reduce_scatter, ReductionV)
TORC_INIT(reduce_scatter_block, Reduce_scatter_block, Reduction)
TORC_INIT(allgather, Allgather, Exchange)
TORC_INIT(allgatherv, Allgatherv, GatherV)
TORC_INIT(broadcast, Bcast, Broadcast)
TORC_INIT(reduce, Reduce, RootedReduction)
TORC_INIT(scan, Scan, Reduction)
TORC_INIT(exscan, Exscan, Reduction)
TORC_INIT(scatter, Scatter, RootedExchange)
TORC_INIT(scatterv, Scatterv, RootedScatterV)
TORC_INIT(gather, Gather, RootedExchange)
TORC_INIT(gatherv, Gatherv, RootedGatherV)
TORC_INIT(alltoall, Alltoall, Exchange)
TORC_INIT(alltoallv, Alltoallv, ExchangeV)
TORC_INIT(neighbor_allgather, Neighbor_allgather, Exchange)
TORC_INIT(neighbor_allgatherv, Neighbor_allgatherv, GatherV)
TORC_INIT(neighbor_alltoall, Neighbor_alltoall, Exchange)
TORC_INIT(neighbor_alltoallv, Neighbor_alltoallv, ExchangeV)
}

int torc_schedule_serves(const torc_schedule* schedule, const torc_call* call) {
  return report(attempt([&]() -> Status {
    if (schedule == nullptr) return nullArgument("torc_schedule_serves: schedule");
    if (call == nullptr) return nullArgument("torc_schedule_serves: call");
    const ScheduleView& view = schedule->view();
    const StatusOr<CallArguments> arguments = argumentsOf(*call, view.topology.axis_count);
    if (!arguments.ok()) return arguments.status().annotated("torc_schedule_serves");
    Status status = checkSchedule(*schedule, arguments->collective);
    if (!status.ok()) return status;
    Call checked;
    status = check(*arguments, schedule->geometry->rank, static_cast<int>(view.topology.ranks()),
                   checked);
    return status.ok() ? checkOrder(*schedule, checked) : status;
  }));
}
