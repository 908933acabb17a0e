// Collective: rounds, and the functions of the C API for an existing collective.
#include "runtime/collectives/collective.h"

#include <utility>

#include "runtime/api/api.h"
#include "runtime/job/trace_job.h"
#include "support/message.h"

using namespace torc::runtime;
using torc::message;
using torc::Status;
using torc::StatusCode;

std::uint64_t torc_collective::roundKey() const {
  // A persistent plan serves one-shot calls in different orders on different ranks: these calls
  // have their own numbers.
  const bool persistent = tags.slots > 0;
  const std::uint64_t geometry = schedule()->geometry->trace->number;
  return persistent ? traceHash(traceHash(geometry, 2 * number), rounds)
                    : traceHash(geometry, 2 * number + 1);
}

Status torc_collective::start() {
  if (plan->hasFailed()) return roundStatus().annotated("an earlier round");
  // The next pass of the context reports a round that completes at once.
  active = true;
  context()->link(this);
  if (RoundTrace* trace = plan->trace()) trace->beginRound(roundKey());
  executor().start();
  return {};
}

bool torc_collective::advance() {
  const std::size_t before = executor().remaining();
  const Progress progress = executor().advance();
  if (executor().remaining() != before) {
    std::atomic<std::uint64_t>& moves = context()->moves;
    moves.store(moves.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  return progress != Progress::kActive;
}

void torc_collective::finish() {
  active = false;
  const bool done = executor().progress() == Progress::kDone;
  if (done) {
    ++rounds;
    plan->finishRound();
  }
  if (callback == nullptr) return;
  torc_context* progress = context();
  progress->in_callback = true;
  callback(this, done ? TORC_OK : report(roundStatus()), cookie);
  progress->in_callback = false;
}

void torc_collective::abandon(const Status& status) {
  executor().abandon(status);
  active = false;
  context()->unlink(this);
}

Status torc_collective::roundStatus() const {
  if (!plan->hasFailed()) return {};
  return executor().status().annotated(
      message("schedule ", schedule()->name, ", operation ", executor().firstPending()));
}

void torc_collective::releaseOwned() {
  torc_schedule* of = schedule();
  // Messages of a failed round may still be active: no other call gets its tags.
  if (!plan->hasFailed()) of->geometry->releaseTags(tags);
  --of->collectives;
  of->geometry->context->dispose(std::move(owned));
}

namespace {

int busy(const char* what) {
  return report({StatusCode::kBusy, what});
}

}  // namespace

int torc_collective_set_callback(torc_collective* collective, torc_callback callback,
                                 void* cookie) {
  if (collective == nullptr) {
    return report(nullArgument("torc_collective_set_callback: collective"));
  }
  if (collective->active) return busy("torc_collective_set_callback: a round is under way");
  collective->callback = callback;
  collective->cookie = cookie;
  return TORC_OK;
}

int torc_collective_start(torc_collective* collective) {
  if (collective == nullptr) return report(nullArgument("torc_collective_start: collective"));
  if (collective->active) return busy("torc_collective_start: a round is under way");
  const Status status = collective->start();
  return status.ok() ? TORC_OK : report(status.annotated("torc_collective_start"));
}

int torc_collective_test(torc_collective* collective, int* done) {
  if (done != nullptr) *done = 0;
  if (collective == nullptr) return report(nullArgument("torc_collective_test: collective"));
  if (done == nullptr) return report(nullArgument("torc_collective_test: done"));
  torc_context* context = collective->context();
  if (context->in_callback) return busy("torc_collective_test: called from a callback");
  if (collective->active) {
    context->advance();
    if (collective->active) {
      torc::Backoff look;
      context->rest(look);
      return TORC_OK;
    }
  }
  *done = 1;
  return report(collective->roundStatus());
}

int torc_collective_wait(torc_collective* collective) {
  if (collective == nullptr) return report(nullArgument("torc_collective_wait: collective"));
  torc_context* context = collective->context();
  if (context->in_callback) return busy("torc_collective_wait: called from a callback");
  const TraceCall traced(context->trace.get(), "torc_collective_wait");
  if (context->waitsInside(collective)) collective->executor().run();
  for (torc::Backoff wait; collective->active;) {
    context->advance();
    if (collective->active) context->rest(wait);
  }
  return report(collective->roundStatus());
}

int torc_collective_free(torc_collective* collective) {
  if (collective == nullptr) return TORC_OK;
  if (collective->active) return busy("torc_collective_free: a round is under way");
  if (collective->context()->in_callback)
    return busy("torc_collective_free: called from a callback");
  collective->releaseOwned();
  delete collective;
  return TORC_OK;
}

int torc_collective_query(const torc_collective* collective, torc_collective_info* info) {
  if (collective == nullptr) return report(nullArgument("torc_collective_query: collective"));
  if (info == nullptr) return report(nullArgument("torc_collective_query: info"));
  *info = {};
  const Executor& executor = collective->executor();
  info->operations = executor.operations();
  info->messages = executor.messages();
  info->scratch_bytes = collective->plan->dataBytes();
  info->table_bytes = executor.tableBytes() + sizeof(torc_collective) + sizeof(Plan);
  info->rounds = collective->rounds;
  return TORC_OK;
}
