// Load turn: waits in the queue, then for the file.
#include "runtime/pmpi/tuning/load_turn.h"

#include <atomic>

#include "runtime/api/api.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {
namespace {

using Stage = CommunicatorSchedule::Stage;

class LoadTurn final : public Turn {
 public:
  LoadTurn(CommunicatorState& state, const LibraryEntry& entry, const CollectiveCall& call)
      : state_(state), entry_(entry), call_(call) {}

  bool proceed() override TORC_REQUIRES(engine_lock) {
    if (hasFailed()) {
      engine->has_failed_states = true;  // ends it soon
      return false;
    }
    const CommunicatorSchedule* file = nullptr;
    status_ = attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
      file = state_.schedules().load(entry_);
      return {};
    });
    if (status_.ok() && file == nullptr) return false;
    if (file != nullptr) {
      stage_ = file->stage;
      if (stage_ == Stage::kBroken) status_ = {StatusCode::kTransport, file->fault};
    }
    settle();
    return true;
  }

  void giveUp() override TORC_REQUIRES(engine_lock) {
    state_.queue().leave(this);
    settle();
  }

  bool hasFailed() const override TORC_REQUIRES(engine_lock) {
    return state_.history().hasFailed(call_);
  }

  /// From any thread.
  bool isSettled() const { return is_settled_.load(std::memory_order_acquire); }
  /// Precondition: isSettled().
  Stage stage() const TORC_REQUIRES(engine_lock) { return stage_; }
  const Status& status() const TORC_REQUIRES(engine_lock) { return status_; }

 private:
  void settle() { is_settled_.store(true, std::memory_order_release); }

  CommunicatorState& state_;
  const LibraryEntry& entry_;
  const CollectiveCall& call_;
  Stage stage_ = Stage::kUnused;
  Status status_;
  std::atomic<bool> is_settled_{false};
};

}  // namespace

StatusOr<Stage> loadInTurn(CommunicatorState& state, const LibraryEntry& entry,
                           const CollectiveCall& call) {
  LoadTurn turn(state, entry, call);
  {
    EngineLock lock;
    Status status = attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
      state.enqueue(&turn);
      return {};
    });
    if (!status.ok()) return status;
  }
  progressUntil([&] { return turn.isSettled(); },
                [&] {
                  tellOfStall(call, state,
                              "it waits for the other ranks to load a schedule that is tried");
                });
  EngineLock lock;  // waits until the thread that ended it has released the lock
  if (!turn.status().ok()) return turn.status();
  return turn.stage();
}

}  // namespace torc::runtime::pmpi
