// The functions of the C API for an existing collective.
#include <memory>

#include "runtime/api/api.h"
#include "runtime/collectives/plan.h"
#include "runtime/trace/trace.h"

using namespace torc;
using namespace torc::runtime;

namespace {

Status checkIdle(const torc_collective* collective) {
  if (collective == nullptr) return nullArgument("collective");
  if (collective->active) return {StatusCode::kBusy, "a round is under way"};
  return {};
}

/// Whether a function may be called that makes progress, or frees memory.
Status checkOutside(const torc_collective* collective) {
  return collective == nullptr ? nullArgument("collective") : checkContext(collective->context());
}

void callBack(Plan& plan, const Status& status, void*) {
  auto& collective = static_cast<torc_collective&>(plan);
  torc_context* context = collective.context();
  context->in_callback = true;
  collective.callback(&collective, report(status), collective.callback_cookie);
  context->in_callback = false;
}

}  // namespace

int torc_collective_set_callback(torc_collective* collective, torc_callback callback,
                                 void* cookie) {
  return apiCall(__func__, [&] {
    Status status = checkIdle(collective);
    if (!status.ok()) return status;
    collective->ended = callback == nullptr ? nullptr : callBack;
    collective->callback = callback;
    collective->callback_cookie = cookie;
    return status;
  });
}

int torc_collective_start(torc_collective* collective) {
  return apiCall(__func__, [&] {
    Status status = checkIdle(collective);
    return status.ok() ? collective->start() : status;
  });
}

int torc_collective_test(torc_collective* collective, int* done) {
  if (done != nullptr) *done = 0;
  const int code = apiCall(__func__, [&] {
    return collective != nullptr && done == nullptr ? nullArgument("done")
                                                    : checkOutside(collective);
  });
  if (code != TORC_OK) return code;
  torc_context* context = collective->context();
  if (collective->active) {
    context->advance();
    if (collective->active) {
      Backoff look;
      context->rest(look);
      return TORC_OK;
    }
  }
  *done = 1;
  return report(collective->roundStatus());
}

int torc_collective_wait(torc_collective* collective) {
  const int code = apiCall(__func__, [&] { return checkOutside(collective); });
  if (code != TORC_OK) return code;
  torc_context* context = collective->context();
  const TraceCall traced(context->trace.get(), __func__);
  if (context->waitsInside(collective)) collective->executor().run();
  for (Backoff wait; collective->active;) {
    context->advance();
    if (collective->active) context->rest(wait);
  }
  return report(collective->roundStatus());
}

int torc_collective_free(torc_collective* collective) {
  if (collective == nullptr) return TORC_OK;
  return apiCall(__func__, [&] {
    Status status = checkIdle(collective);
    if (status.ok()) status = checkOutside(collective);
    if (status.ok()) Plan::free(std::unique_ptr<Plan>(collective));
    return status;
  });
}

int torc_collective_query(const torc_collective* collective, torc_collective_info* info) {
  return apiCall(__func__, [&]() -> Status {
    if (collective == nullptr) return nullArgument("collective");
    if (info == nullptr) return nullArgument("info");
    *info = {};
    const Executor& executor = collective->executor();
    info->operations = executor.operations();
    info->messages = executor.messages();
    info->scratch_bytes = collective->dataBytes();
    info->table_bytes = executor.tableBytes() + sizeof(torc_collective);
    info->rounds = collective->rounds;
    return {};
  });
}
