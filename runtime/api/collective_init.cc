// Making a collective: every rank prepares, all agree, tags are assigned, all agree again.
#include <array>
#include <memory>

#include "runtime/api/api.h"
#include "runtime/execution/collective.h"
#include "runtime/trace/trace.h"
#include "support/message.h"

using torc::attempt;
using torc::CallArguments;
using torc::Collective;
using torc::report;
using torc::Status;
using torc::StatusCode;
using torc::StatusOr;

namespace {

/// After a failure that not all ranks may have shared: the tags are free again on this rank.
Status release(torc_geometry& geometry, const torc::TagClaim& tags, const Status& status) {
  geometry.releaseTags(tags);
  return status;
}

Status create(torc_schedule* schedule, const CallArguments& arguments, torc_collective** result) {
  if (schedule == nullptr) return torc::nullArgument("schedule");
  torc_geometry& geometry = *schedule->geometry;
  if (geometry.context->in_callback) return {StatusCode::kBusy, "called from a callback"};

  std::unique_ptr<torc_collective> collective;
  const Status prepared = attempt([&]() -> Status {
    if (result == nullptr) return torc::nullArgument("collective");
    collective = std::make_unique<torc_collective>(schedule);
    return collective->prepare(arguments);
  });
  std::array<torc::AgreedField, torc::kMaxAgreedFields> fields{};
  std::uint32_t tag_count = 0;
  if (prepared.ok()) {
    const torc::Call& call = collective->call;
    tag_count = collective->program.tag_count;
    fields = {{{"the function", std::hash<std::string_view>()(arguments.function), false},
               {"the schedule", schedule->serial, false},
               {arguments.has_counts ? "the list of counts" : "the count", call.countsFingerprint(),
                !arguments.has_counts},
               {"the datatype", call.type.fingerprint(), false},
               {"the operation", collective->reduction.fingerprint(), false}}};
  }
  torc::TagMap taken = geometry.takenTags();
  if (Status agreed = geometry.agreement.agree(prepared, fields, &taken); !agreed.ok()) {
    return agreed;
  }
  // The same everywhere: all ranks see the same map.
  StatusOr<torc::TagClaim> tags = geometry.claimTags(tag_count, taken);
  if (!tags.ok()) return tags.status();

  const Status laid = attempt([&] {
    collective->tags = *tags;
    return collective->lay(geometry.tagBase(*tags), torc::Requests::kPersistent);
  });
  if (Status agreed = geometry.agreement.agree(laid); !agreed.ok()) {
    return release(geometry, *tags, agreed);
  }
  collective->number = geometry.collectives_made++;
  ++schedule->collectives;
  *result = collective.release();
  return {};
}

int init(torc_schedule* schedule, const CallArguments& arguments, torc_collective** collective) {
  if (collective != nullptr) *collective = nullptr;
  torc_context* context = schedule != nullptr ? schedule->geometry->context : nullptr;
  const torc::TraceCall traced(context != nullptr ? context->trace.get() : nullptr,
                               arguments.function);
  return report(attempt(
      [&] { return create(schedule, arguments, collective).annotated(arguments.function); }));
}

}  // namespace

int torc_allreduce_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                        MPI_Datatype datatype, MPI_Op op, torc_collective** collective) {
  CallArguments arguments;
  arguments.function = "torc_allreduce_init";
  arguments.collective = Collective::kAllreduce;
  arguments.in = in;
  arguments.out = out;
  arguments.count = count;
  arguments.type = datatype;
  arguments.op = op;
  return init(schedule, arguments, collective);
}

int torc_reduce_scatter_init(torc_schedule* schedule, const void* in, void* out,
                             const int64_t counts[], MPI_Datatype datatype, MPI_Op op,
                             torc_collective** collective) {
  CallArguments arguments;
  arguments.function = "torc_reduce_scatter_init";
  arguments.collective = Collective::kReduceScatter;
  arguments.in = in;
  arguments.out = out;
  arguments.has_counts = true;
  arguments.counts = counts;
  arguments.type = datatype;
  arguments.op = op;
  return init(schedule, arguments, collective);
}

int torc_reduce_scatter_block_init(torc_schedule* schedule, const void* in, void* out,
                                   int64_t count, MPI_Datatype datatype, MPI_Op op,
                                   torc_collective** collective) {
  CallArguments arguments;
  arguments.function = "torc_reduce_scatter_block_init";
  arguments.collective = Collective::kReduceScatter;
  arguments.in = in;
  arguments.out = out;
  arguments.count = count;
  arguments.type = datatype;
  arguments.op = op;
  return init(schedule, arguments, collective);
}

int torc_allgather_init(torc_schedule* schedule, const void* in, int64_t in_count,
                        MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                        torc_collective** collective) {
  CallArguments arguments;
  arguments.function = "torc_allgather_init";
  arguments.collective = Collective::kAllgather;
  arguments.in = in;
  arguments.in_count = in_count;
  arguments.in_type = in_type;
  arguments.out = out;
  arguments.count = out_count;
  arguments.type = out_type;
  return init(schedule, arguments, collective);
}

int torc_allgatherv_init(torc_schedule* schedule, const void* in, int64_t in_count,
                         MPI_Datatype in_type, void* out, const int64_t counts[],
                         const int64_t displacements[], MPI_Datatype out_type,
                         torc_collective** collective) {
  CallArguments arguments;
  arguments.function = "torc_allgatherv_init";
  arguments.collective = Collective::kAllgather;
  arguments.in = in;
  arguments.in_count = in_count;
  arguments.in_type = in_type;
  arguments.out = out;
  arguments.has_counts = true;
  arguments.counts = counts;
  arguments.has_displacements = true;
  arguments.displacements = displacements;
  arguments.type = out_type;
  return init(schedule, arguments, collective);
}

int torc_schedule_serves(const torc_schedule* schedule, const torc_call* call) {
  return report(attempt([&]() -> Status {
    if (schedule == nullptr) return torc::nullArgument("torc_schedule_serves: schedule");
    if (call == nullptr) return torc::nullArgument("torc_schedule_serves: call");
    if (call->kind < 0 || call->kind >= torc::kCollectiveCount) {
      return {StatusCode::kInvalidArgument,
              torc::message("torc_schedule_serves: kind ", static_cast<int>(call->kind),
                            " does not exist")};
    }
    CallArguments arguments;
    arguments.collective = static_cast<Collective>(call->kind);
    arguments.in = MPI_IN_PLACE;  // nothing is said about buffers
    arguments.count = call->count;
    arguments.has_counts = call->counts != nullptr && call->kind != TORC_ALLREDUCE;
    arguments.counts = call->counts;
    arguments.type = call->datatype;
    torc::TypeTable types;
    torc::Call checked;
    Status status =
        torc::checkCounts(arguments, schedule->view(), schedule->geometry->rank, types, checked);
    if (!status.ok() || !torc::rowOf(arguments.collective).reduces()) return status;
    torc::MpiReduction reduction;
    return reduction.prepare(checked.type, call->op);
  }));
}
