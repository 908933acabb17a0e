// Plan: expansion, memory, transport, binding, rounds.
#include "runtime/collectives/plan.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "runtime/execution/message_fragments.h"
#include "runtime/job/trace_job.h"
#include "support/message.h"

namespace torc::runtime {

ScheduleCall::ScheduleCall(const Call& call, const RankMap& map, int caller, int ranks)
    : Call(call), rank(map.toSchedule(caller)) {
  root = map.toSchedule(call.root);
  const CollectiveRow& row = rowOf(call.collective);
  // Neighbours are in the order of the grid.
  if (map.isIdentity() || row.layout == Layout::kPartMajor || row.isOfNeighbours()) return;
  putInOrder(map, ranks, count, per_rank, displacements);
  if (row.blocks != BlockSpace::kPair) return;
  putInOrder(map, ranks, count, in_per_rank, in_displacements);
}

void ScheduleCall::putInOrder(const RankMap& map, int ranks, std::uint64_t count,
                              std::vector<std::uint64_t>& per_rank,
                              std::vector<std::uint64_t>& displacements) {
  const auto size = static_cast<std::size_t>(ranks);
  std::vector<std::uint64_t> counts(per_rank.size()), places(size);
  std::uint64_t before = 0;
  for (std::size_t r = 0; r < size; ++r) {
    const auto there = static_cast<std::size_t>(map.toSchedule(static_cast<int>(r)));
    if (!per_rank.empty()) counts[there] = per_rank[r];
    places[there] = displacements.empty() ? before : displacements[r];
    before += per_rank.empty() ? count : per_rank[r];
  }
  per_rank = std::move(counts);
  displacements = std::move(places);
}

void mapPeers(const RankMap& map, FlatProgram& program) {
  for (FlatOperation& operation : program.operations) {
    if (operation.peer >= 0) operation.peer = map.toCommunicator(operation.peer);
  }
}

Status checkSchedule(const torc_schedule& schedule, Collective collective) {
  const ScheduleView& view = schedule.view();
  if (view.collective == collective || rowOf(collective).mayBeServedBy(view.collective)) return {};
  return {StatusCode::kMismatch,
          message("schedule ", view.name, " is one for ", rowOf(view.collective).name)};
}

Status checkOrder(const torc_schedule& schedule, const Call& call) {
  if (!call.needsRankOrder()) return {};
  const ScheduleView& view = schedule.view();
  if (!schedule.isInRankOrder()) {
    return {StatusCode::kUnsupported,
            message("schedule ", view.name, " is one for ranks in the order ",
                    schedule.file->view().topology.orderString(),
                    " of the axes, in which the communicator's are not")};
  }
  if (call.reduction.commutes || (view.flags & kOrderedSums) != 0) return {};
  return {StatusCode::kUnsupported,
          message("the operation does not commute, and schedule ", view.name,
                  " does not combine contributions in the order of ranks; those of "
                  "recursive-doubling do")};
}

Status Plan::prepare(const Call& call, const PairCounts* passing) {
  call_ = call;
  if (Status status = checkOrder(*schedule_, call); !status.ok()) return status;
  const torc_geometry& geometry = *schedule_->geometry;
  if (schedule_->view().collective != call.collective) {
    rootless_ = std::make_unique<RootlessCall>();
    const Status status =
        rootless_->prepare(call_, schedule_->view().collective, geometry.rank, geometry.size);
    if (!status.ok()) return status;
  }
  if (Status status = useReduction(); !status.ok()) return status;
  if (Status status = expand(passing); !status.ok()) return status;
  allocate();
  takeBuffers();
  return {};
}

Status Plan::useReduction() {
  if (!row().reduces()) return {};
  const Call& call = scheduled();
  const std::uint64_t whole = std::max(call.elements.in, call.elements.out);
  return reduction_.use(call.type, call.reduction, call.keep_type, call.keeps_whole ? whole : 0);
}

Status Plan::expand(const PairCounts* passing) {
  const ScheduleView& view = schedule_->view();
  const torc_geometry& geometry = *schedule_->geometry;
  const ScheduleCall seen(scheduled(), geometry.map, geometry.rank, geometry.size);
  const Counts counts = seen.counts(passing);
  StatusOr<FlatProgram> program = torc::expand(view, seen.rank, counts, seen.in_place, seen.root);
  if (!program.ok()) return program.status();
  StatusOr<MessageFragments> fragments = cutMessages(view, *program, counts, seen.in_place,
                                                     scheduled().type.bytes, kLeastFragmentBytes);
  if (!fragments.ok()) return fragments.status();
  mapPeers(geometry.map, *program);
  expanded_ = std::make_unique<Expanded>(Expanded{std::move(*program), std::move(*fragments)});
  return {};
}

void Plan::allocate() {
  const Call& call = scheduled();
  scratch_.allocate(program().scratch_elements * call.type.bytes);
  buffers_.scratch = scratch_.data();
  buffers_.element_bytes = std::max<std::size_t>(call.type.bytes, 1);
  buffers_.in_is_out = call.in_place && row().inPlaceAliases();
  if (call.in_place && !row().inPlaceAliases()) {
    own_block_.allocate(call.elements.out * call.type.bytes);
  }
}

void Plan::takeBuffers() {
  const Call& call = scheduled();
  buffers_.out = call.outBegin();
  buffers_.in = call.in_place ? buffers_.out : call.inBegin();
  if (own_block_.bytes() > 0) {
    own_block_home_ = buffers_.out;
    buffers_.out = own_block_.data();
  }
}

Reducer Plan::reducer() const {
  return row().reduces() ? reduction_.reducer() : Reducer{};
}

Status Plan::layOut(int tag_base) {
  const torc_geometry& geometry = *schedule_->geometry;
  // The sender of a put is not told when its receive starts.
  auto transport = geometry.makeTransport(tag_base, program().synchronous_sends);
  transport_ = transport.get();
  // Cut vectors might be cut at other places for a shorter block.
  const ScheduleView& view = schedule_->view();
  const bool is_whole = view.segments == 1 && (row().isOfNeighbours() || view.partCount() == 1);
  if (scheduled().takes_shorter && is_whole) {
    shorter_.reserve(scheduled().per_rank.size());
    transport_->takeShorter(&shorter_);
  }
  auto created = Executor::create(expanded_->program, buffers_, reducer(), std::move(transport),
                                  expanded_->fragments, geometry.context->cores.get());
  if (!created.ok()) return created.status();
  executor_ = std::move(*created);
  if (geometry.trace != nullptr) makeTrace();
  expanded_.reset();
  return {};
}

void Plan::makeTrace() {
  const torc_geometry& geometry = *schedule_->geometry;
  const GeometryTrace& traced = *geometry.trace;
  if (traced.of_all) {
    const Topology& topology = schedule_->view().topology;
    traced.trace->setCoordinates(
        traceCoordinates(topology, topology.coordinatesOf(geometry.map.toSchedule(geometry.rank))));
  }
  trace_ = std::make_unique<RoundTrace>(
      traced.trace, schedule_->view(), expanded_->program, buffers_.element_bytes,
      [&](std::int32_t rank) { return traced.trace_rank[static_cast<std::size_t>(rank)]; });
  if (!traced.trace->isOfCalls()) executor_->setTrace(trace_.get());
}

Status Plan::bind(const Call& call) {
  static_cast<CallBinding&>(call_) = call;
  if (rootless_ != nullptr) rootless_->bind(call);
  if (Status status = useReduction(); !status.ok()) return status;
  takeBuffers();
  executor_->bind(buffers_, reducer());
  return {};
}

/// For the trace: a number of the next round, the same on all ranks.
std::uint64_t Plan::roundKey() const {
  // A persistent plan serves one-shot calls in different orders on different ranks: these calls
  // have their own numbers.
  const bool persistent = tags.slots > 0;
  const std::uint64_t geometry = schedule_->geometry->trace->number;
  return persistent ? traceHash(traceHash(geometry, 2 * number), rounds)
                    : traceHash(geometry, 2 * number + 1);
}

Status Plan::start() {
  if (hasFailed()) return roundStatus().annotated("an earlier round");
  // The next pass of the context reports a round that completes at once.
  link();
  if (trace_ != nullptr) trace_->beginRound(roundKey());
  executor_->start();
  return {};
}

void Plan::link() {
  active = true;
  context()->link(this);
}

bool Plan::advance() {
  const std::size_t before = executor_->remaining();
  const Progress progress = executor_->advance();
  if (executor_->remaining() != before) {
    std::atomic<std::uint64_t>& moves = context()->moves;
    moves.store(moves.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  return progress != Progress::kActive;
}

void Plan::finish() {
  active = false;
  if (executor_->progress() == Progress::kDone) {
    ++rounds;
    finishRound();
  }
  if (ended != nullptr) ended(*this, roundStatus(), cookie);
}

void Plan::abandon(const Status& status) {
  executor_->abandon(status);
  active = false;
  context()->unlink(this);
}

Status Plan::roundStatus() const {
  if (!hasFailed()) return {};
  return executor_->status().annotated(
      message("schedule ", schedule_->name, ", operation ", executor_->firstPending()));
}

void Plan::free(std::unique_ptr<Plan> plan) {
  torc_schedule& schedule = *plan->schedule_;
  // Messages of a failed round may still be active: no other call gets its tags.
  if (!plan->hasFailed()) schedule.geometry->releaseTags(plan->tags);
  --schedule.collectives;
  schedule.geometry->context->dispose(std::move(plan));
}

void Plan::finishRound() {
  if (trace_ != nullptr) trace_->endRound(call_.bytes);
  if (rootless_ != nullptr) rootless_->finishRound();
  if (own_block_.bytes() > 0) std::memcpy(own_block_home_, own_block_.data(), own_block_.bytes());
}

std::size_t Plan::bytes() const {
  std::size_t listed = 0;
  for (const auto* list :
       {&call_.per_rank, &call_.displacements, &call_.in_per_rank, &call_.in_displacements}) {
    listed += list->capacity() * sizeof(std::uint64_t);
  }
  return listed + dataBytes() + executor_->tableBytes() + (trace_ != nullptr ? trace_->bytes() : 0);
}

}  // namespace torc::runtime
