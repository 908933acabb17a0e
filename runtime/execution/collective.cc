// Collective: layout, rounds, and the functions of the C API on a collective that exists.
#include "runtime/execution/collective.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/execution/message_pieces.h"
#include "runtime/trace/trace_job.h"
#include "runtime/transport/mpi_transport.h"
#include "support/message.h"

using torc::message;
using torc::nullArgument;
using torc::report;
using torc::Status;
using torc::StatusCode;

namespace {

/// Of the whole vector: each rank's of an allreduce, all blocks together of the others.
std::uint64_t wholeBytes(const torc::Call& call, torc::Collective collective, int ranks) {
  const torc::CollectiveRow& traits = torc::rowOf(collective);
  std::uint64_t elements = call.count;
  if (!traits.inWhole() || !traits.outWhole()) {
    elements = call.per_rank.empty()
                   ? call.count * static_cast<std::uint64_t>(ranks)
                   : std::accumulate(call.per_rank.begin(), call.per_rank.end(), std::uint64_t{0});
  }
  return elements * call.type.bytes;
}

}  // namespace

Status torc_collective::prepare(const torc::CallArguments& arguments) {
  torc::TypeTable types;
  Status status =
      torc::checkCounts(arguments, schedule->view(), schedule->geometry->rank, types, call);
  if (!status.ok()) return status;
  if (status = prepareReduction(arguments); !status.ok()) return status;
  if (status = expand(); !status.ok()) return status;
  if (status = torc::checkBuffers(arguments, call, elements); !status.ok()) return status;
  if (status = torc::checkOverlap(arguments, call, elements); !status.ok()) return status;
  allocate();
  takeBuffers(arguments);
  return {};
}

Status torc_collective::prepareReduction(const torc::CallArguments& arguments) {
  if (!torc::rowOf(schedule->view().collective).reduces()) return {};
  return reduction.prepare(call.type, arguments.op, arguments.keep_type);
}

Status torc_collective::expand() {
  const torc::ScheduleView& view = schedule->view();
  const torc_geometry& geometry = *schedule->geometry;
  const torc::Call mapped =
      call.bySchedule(geometry.map, geometry.size, torc::rowOf(view.collective).layout);
  torc::StatusOr<torc::FlatProgram> expanded =
      torc::expand(view, geometry.map.toSchedule(geometry.rank), mapped.counts(), mapped.in_place);
  if (!expanded.ok()) return expanded.status();
  program = std::move(*expanded);
  elements = {program.in_elements, program.out_elements};
  for (torc::FlatOperation& operation : program.operations) {
    if (operation.peer >= 0) operation.peer = geometry.map.toCommunicator(operation.peer);
  }
  torc::StatusOr<torc::MessagePieces> cut = torc::cutMessages(
      view, program, mapped.counts(), mapped.in_place, mapped.type.bytes, torc::kLeastPieceBytes);
  if (!cut.ok()) return cut.status();
  pieces = std::move(*cut);
  return {};
}

void torc_collective::allocate() {
  scratch.allocate(program.scratch_elements * call.type.bytes);
  buffers.scratch = scratch.data();
  buffers.element_bytes = std::max<std::size_t>(call.type.bytes, 1);
  const bool scatters = schedule->view().collective == torc::Collective::kReduceScatter;
  buffers.in_is_out = call.in_place && !scatters;
  if (call.in_place && scatters) own_block.allocate(elements.out * call.type.bytes);
}

void torc_collective::takeBuffers(const torc::CallArguments& arguments) {
  buffers.out = static_cast<std::byte*>(arguments.out) +
                call.first_displacement * static_cast<std::int64_t>(call.type.bytes);
  buffers.in = call.in_place ? buffers.out : static_cast<const std::byte*>(arguments.in);
  if (own_block.bytes() > 0) {
    own_block_home = buffers.out;
    buffers.out = own_block.data();
  }
}

torc::Reducer torc_collective::reducer() const {
  return torc::rowOf(schedule->view().collective).reduces() ? reduction.reducer() : torc::Reducer{};
}

Status torc_collective::lay(int tag_base, torc::Requests requests) {
  auto own_transport =
      std::make_unique<torc::MpiTransport>(schedule->geometry->comm, tag_base, requests);
  transport = own_transport.get();
  auto created =
      torc::Executor::create(program, buffers, reducer(), std::move(own_transport), pieces);
  if (!created.ok()) return created.status();
  executor = std::move(*created);
  if (schedule->geometry->trace != nullptr) layTrace();
  program = {};
  pieces = {};
  return {};
}

void torc_collective::layTrace() {
  const torc_geometry& geometry = *schedule->geometry;
  const torc::GeometryTrace& place = *geometry.trace;
  if (place.of_all) {
    const torc::Topology& topology = schedule->view().topology;
    place.trace->setPlace(
        torc::tracePlace(topology, topology.coordinatesOf(geometry.map.toSchedule(geometry.rank))));
  }
  trace = std::make_unique<torc::RoundTrace>(
      place.trace, schedule->view(), program, buffers.element_bytes,
      [&](std::int32_t rank) { return place.trace_rank[static_cast<std::size_t>(rank)]; });
  executor->setTrace(trace.get());
}

std::uint64_t torc_collective::roundKey() const {
  // A laid-out call serves one-shot calls in another order on every rank; they have their own
  // numbers.
  const bool persistent = tags.slots > 0;
  const std::uint64_t geometry = schedule->geometry->trace->number;
  return persistent ? torc::traceHash(torc::traceHash(geometry, 2 * number), rounds)
                    : torc::traceHash(geometry, 2 * number + 1);
}

bool torc_collective::advance() {
  return executor->advance() != torc::Progress::kActive;
}

void torc_collective::finish() {
  active = false;
  const bool done = executor->progress() == torc::Progress::kDone;
  if (done && trace != nullptr) {
    trace->endRound(wholeBytes(call, schedule->view().collective, schedule->geometry->size));
  }
  if (done) {
    ++rounds;
    if (own_block.bytes() > 0) std::memcpy(own_block_home, own_block.data(), own_block.bytes());
  }
  if (callback == nullptr) return;
  torc_context* progress = context();
  progress->in_callback = true;
  callback(this, done ? TORC_OK : report(roundStatus()), cookie);
  progress->in_callback = false;
}

void torc_collective::abandon(const Status& status) {
  executor->abandon(status);
  active = false;
  context()->unlink(this);
}

Status torc_collective::roundStatus() const {
  if (executor->progress() != torc::Progress::kFailed) return {};
  return executor->status().annotated(
      message("schedule ", schedule->name, ", operation ", executor->firstPending()));
}

int torc_collective_set_callback(torc_collective* collective, torc_callback callback,
                                 void* cookie) {
  if (collective == nullptr) {
    return report(nullArgument("torc_collective_set_callback: collective"));
  }
  if (collective->active) {
    return report({StatusCode::kBusy, "torc_collective_set_callback: a round is under way"});
  }
  collective->callback = callback;
  collective->cookie = cookie;
  return TORC_OK;
}

int torc_collective_start(torc_collective* collective) {
  if (collective == nullptr) return report(nullArgument("torc_collective_start: collective"));
  if (collective->active) {
    return report({StatusCode::kBusy, "torc_collective_start: a round is under way"});
  }
  if (collective->executor->progress() == torc::Progress::kFailed) {
    return report(collective->roundStatus().annotated("torc_collective_start: an earlier round"));
  }
  // A round that is over at once is still reported by the next pass of the context.
  collective->active = true;
  collective->context()->link(collective);
  if (collective->trace != nullptr) collective->trace->beginRound(collective->roundKey());
  collective->executor->start();
  return TORC_OK;
}

int torc_collective_test(torc_collective* collective, int* done) {
  if (done != nullptr) *done = 0;
  if (collective == nullptr) return report(nullArgument("torc_collective_test: collective"));
  if (done == nullptr) return report(nullArgument("torc_collective_test: done"));
  torc_context* context = collective->context();
  if (context->in_callback) {
    return report({StatusCode::kBusy, "torc_collective_test: called from a callback"});
  }
  if (collective->active) {
    context->advance();
    if (collective->active) {
      context->rest(0);
      return TORC_OK;
    }
  }
  *done = 1;
  return report(collective->roundStatus());
}

int torc_collective_wait(torc_collective* collective) {
  if (collective == nullptr) return report(nullArgument("torc_collective_wait: collective"));
  torc_context* context = collective->context();
  if (context->in_callback) {
    return report({StatusCode::kBusy, "torc_collective_wait: called from a callback"});
  }
  const torc::TraceCall traced(context->trace.get(), "torc_collective_wait");
  if (context->waitsInside(collective)) collective->executor->run();
  for (unsigned passes = 0; collective->active; ++passes) {
    context->advance();
    if (collective->active) context->rest(passes);
  }
  return report(collective->roundStatus());
}

int torc_collective_free(torc_collective* collective) {
  if (collective == nullptr) return TORC_OK;
  if (collective->active) {
    return report({StatusCode::kBusy, "torc_collective_free: a round is under way"});
  }
  torc_schedule* schedule = collective->schedule;
  if (schedule->geometry->context->in_callback) {
    return report({StatusCode::kBusy, "torc_collective_free: called from a callback"});
  }
  // Messages of a failed round may still be on their way: no other call gets its tags.
  if (collective->executor->progress() != torc::Progress::kFailed) {
    schedule->geometry->releaseTags(collective->tags);
  }
  --schedule->collectives;
  schedule->geometry->context->dispose(std::unique_ptr<torc_collective>(collective));
  return TORC_OK;
}

int torc_collective_query(const torc_collective* collective, torc_collective_info* info) {
  if (collective == nullptr) return report(nullArgument("torc_collective_query: collective"));
  if (info == nullptr) return report(nullArgument("torc_collective_query: info"));
  *info = {};
  info->operations = collective->executor->operations();
  info->messages = collective->executor->messages();
  info->scratch_bytes = collective->scratch.bytes() + collective->own_block.bytes() +
                        collective->executor->bufferBytes();
  info->table_bytes = collective->executor->tableBytes() + sizeof(torc_collective);
  info->rounds = collective->rounds;
  return TORC_OK;
}
