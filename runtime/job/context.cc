// Context: the list of rounds under way.
#include "runtime/job/context.h"

#include <algorithm>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/execution/core_threads.h"
#include "runtime/transport/left_to_mpi.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/yielding_wait.h"
#include "support/files.h"

using namespace torc;
using namespace torc::runtime;

namespace {

// With a core for every rank: polls without progress before a waiting call yields its core. A poll
// takes about 0.1 us.
constexpr unsigned kLooksBeforeYield = 2000;

}  // namespace

void torc_context::link(Round* round) {
  round->previous_ = last_;
  round->next_ = nullptr;
  round->started_in_pass_ = pass_;
  (last_ != nullptr ? last_->next_ : first_) = round;
  last_ = round;
}

void torc_context::unlink(Round* round) {
  (round->previous_ != nullptr ? round->previous_->next_ : first_) = round->next_;
  (round->next_ != nullptr ? round->next_->previous_ : last_) = round->previous_;
}

Status torc::runtime::checkContext(const torc_context* context) {
  if (context == nullptr) return nullArgument("context");
  if (context->in_callback) return {StatusCode::kBusy, "called from a callback"};
  return {};
}

torc_context::torc_context() = default;

torc_context::~torc_context() {
  std::erase_if(disposed_, [](const auto& round) { return round->isDrained(); });
  // Memory that a message may still touch is never freed.
  for (auto& round : disposed_)
    leaveToMpi(std::move(round));
}

void torc_context::dispose(std::unique_ptr<Round> round) {
  if (!round->isDrained()) disposed_.push_back(std::move(round));
}

int torc_context::advance() {
  if (!disposed_.empty()) {
    std::erase_if(disposed_, [](const auto& round) { return round->isDrained(); });
  }
  int over = 0;
  ++pass_;
  for (Round* round = first_; round != nullptr;) {
    Round* next = round->next_;
    // Rounds started by a callback of this pass wait for the next pass, so that passes end.
    if (round->started_in_pass_ != pass_ && round->advance()) {
      unlink(round);
      ++over;
      round->finish();
    }
    round = next;
  }
  return over;
}

int torc_context::useCores(std::uint32_t wanted) {
  const int usable = kSimulated ? 1 : std::min(static_cast<int>(wanted), coresOfProcess());
  if (usable <= 1) return 1;
  cores = std::make_unique<CoreThreads>(static_cast<unsigned>(usable - 1));
  return static_cast<int>(cores->count()) + 1;
}

void torc_context::rest(Backoff& wait) const {
  if constexpr (!kSimulated) {
    wait.afterLook(oversubscribed_geometries > 0 ? 0 : kLooksBeforeYield,
                   moves.load(std::memory_order_relaxed));
  }
}

Status torc_context::waitFor(int started, MPI_Request* request, const char* call) {
  // Only the set-up waits here, at first without knowing whether there are more ranks than cores.
  // To yield costs little with enough cores; 64 ranks that spin on 2 cores need a second to open a
  // library.
  const auto meanwhile = [this] {
    if (first_ != nullptr) advance();
  };
  return mpiStatus(waitYielding(started, request, meanwhile), call);
}

namespace {

/// The variables that the C API reads, too.
Status readVariables(Settings& settings) {
  const SettingTexts environment(environ);
  SettingTexts texts;
  for (const char* variable : {"TORC_TRANSPORT", "TORC_CORES"}) {
    const std::string_view value = environment.find(variable);
    if (!value.empty()) texts.set(variable, value);
  }
  SettingsReading reading = readSettings(texts);
  settings = reading.settings;
  static std::atomic<bool> told = false;
  if (commRank(MPI_COMM_WORLD) == 0 && !reading.warnings.empty() && !told.exchange(true)) {
    for (const std::string& warning : reading.warnings)
      writeToStderr(message("torc: warning: ", warning, '\n'));
  }
  if (reading.errors.empty()) return {};
  return {StatusCode::kInvalidArgument, reading.errors[0]};
}

}  // namespace

int torc_context_create(torc_context** context) {
  return apiCall(__func__, [&]() -> Status {
    if (context == nullptr) return nullArgument("context");
    *context = nullptr;
    int initialized = 0, finalized = 0;
    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    if (!initialized || finalized) {
      return {StatusCode::kInvalidArgument,
              finalized ? "MPI is finalized" : "MPI is not initialized"};
    }
    Settings settings;
    if (Status status = readVariables(settings); !status.ok()) return status;
    *context = new torc_context;
    (*context)->transport = settings.transport;
    (*context)->useCores(settings.cores);
    return {};
  });
}

int torc_context_destroy(torc_context* context) {
  if (context == nullptr) return TORC_OK;
  return apiCall(__func__, [&]() -> Status {
    const auto still_has = [](int count, const char* what) {
      return Status(StatusCode::kBusy, message("the context still has ", count, what));
    };
    if (context->geometries > 0) return still_has(context->geometries, " geometries");
    if (context->libraries > 0) return still_has(context->libraries, " libraries");
    if (context->trace_job != nullptr) return {StatusCode::kBusy, "its trace is not closed"};
    delete context;
    return {};
  });
}

int torc_context_advance(torc_context* context, int* completed) {
  return apiCall(__func__, [&] {
    Status status = checkContext(context);
    const int count = status.ok() ? context->advance() : 0;
    if (completed != nullptr) *completed = count;
    return status;
  });
}
