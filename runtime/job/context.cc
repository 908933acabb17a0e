// Context: the list of started collectives.
#include "runtime/job/context.h"

#include <sched.h>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/execution/collective.h"
#include "runtime/transport/left_to_mpi.h"
#include "runtime/transport/mpi_status.h"

using namespace torc::runtime;

namespace {

// With a core for every rank: fruitless looks, of a tenth of a microsecond or so each, before a
// waiting call offers its core to others.
constexpr unsigned kPassesBeforeYield = 2000;

}  // namespace

void torc_context::link(torc_collective* collective) {
  collective->previous = last_;
  collective->next = nullptr;
  collective->started_in_pass = pass_;
  (last_ != nullptr ? last_->next : first_) = collective;
  last_ = collective;
}

void torc_context::unlink(torc_collective* collective) {
  (collective->previous != nullptr ? collective->previous->next : first_) = collective->next;
  (collective->next != nullptr ? collective->next->previous : last_) = collective->previous;
}

torc_context::torc_context() = default;

torc_context::~torc_context() {
  std::erase_if(failed_, [](const auto& call) { return call->isDrained(); });
  // What a message may still touch is never given back.
  for (auto& call : failed_)
    leaveToMpi(std::move(call));
}

void torc_context::dispose(std::unique_ptr<LaidOutCall> call) {
  if (!call->isDrained()) failed_.push_back(std::move(call));
}

int torc_context::advance() {
  if (!failed_.empty()) {
    std::erase_if(failed_, [](const auto& call) { return call->isDrained(); });
  }
  int completed = 0;
  ++pass_;
  for (torc_collective* collective = first_; collective != nullptr;) {
    torc_collective* next = collective->next;
    // What a callback of this pass has started waits for the next pass, so that passes end.
    if (collective->started_in_pass != pass_ && collective->advance()) {
      unlink(collective);
      ++completed;
      collective->finish();
    }
    collective = next;
  }
  return completed;
}

void torc_context::rest(unsigned passes) const {
  if (oversubscribed_geometries > 0 || passes > kPassesBeforeYield) sched_yield();
}

torc::Status torc_context::waitFor(MPI_Request* request, const char* call) {
  // Only set-up waits here. At its beginning nobody knows yet whether ranks outnumber cores; giving
  // way costs little where they do not, and 64 ranks that spin on 2 cores need a second to open a
  // library.
  while (*request != MPI_REQUEST_NULL) {
    int done = 0;
    const int code = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return mpiStatus(code, call);
    if (done) return {};
    if (first_ != nullptr) advance();
    sched_yield();
  }
  return {};
}

using torc::Status;
using torc::StatusCode;

int torc_context_create(torc_context** context) {
  return report(attempt([&]() -> Status {
    if (context == nullptr) return nullArgument("torc_context_create: context");
    *context = nullptr;
    int initialized = 0, finalized = 0;
    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    if (!initialized || finalized) {
      return {StatusCode::kInvalidArgument, finalized
                                                ? "torc_context_create: MPI is finalized"
                                                : "torc_context_create: MPI is not initialized"};
    }
    *context = new torc_context;
    return {};
  }));
}

int torc_context_destroy(torc_context* context) {
  return report(attempt([&]() -> Status {
    if (context != nullptr && context->geometries > 0) {
      return {StatusCode::kBusy, torc::message("torc_context_destroy: the context still has ",
                                               context->geometries, " geometries")};
    }
    if (context != nullptr && context->libraries > 0) {
      return {StatusCode::kBusy, torc::message("torc_context_destroy: the context still has ",
                                               context->libraries, " libraries")};
    }
    if (context != nullptr && context->trace_job != nullptr) {
      return {StatusCode::kBusy, "torc_context_destroy: its trace is not closed"};
    }
    delete context;
    return {};
  }));
}

int torc_context_advance(torc_context* context, int* completed) {
  if (completed != nullptr) *completed = 0;
  if (context == nullptr) return report(nullArgument("torc_context_advance: context"));
  if (context->in_callback) {
    return report({StatusCode::kBusy, "torc_context_advance: called from a callback"});
  }
  const int count = context->advance();
  if (completed != nullptr) *completed = count;
  return TORC_OK;
}
