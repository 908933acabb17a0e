// Refusals: a barrier on the shadow in the queue, of those that were refused.
#include "runtime/pmpi/refusal.h"

#include <memory>

#include "runtime/api.h"
#include "runtime/mpi_transport.h"
#include "runtime/pmpi/call_report.h"
#include "runtime/pmpi/engine.h"
#include "runtime/pmpi/progress.h"

namespace torc::pmpi {
namespace {

class RefusalMeeting final : public Turn {
 public:
  RefusalMeeting(CommunicatorState& state, std::uint64_t call) : state_(state), call_(call) {
    ++state_.operations;
    ++state_.under_way;
    // Whatever the program waits for meanwhile, other ranks may ask where this one is.
    attention.fetch_add(1, std::memory_order_relaxed);
  }
  ~RefusalMeeting() override {
    attention.fetch_sub(1, std::memory_order_relaxed);
    --state_.under_way;
    --state_.operations;
  }

  bool proceed() override {
    int code = MPI_SUCCESS, done = 0;
    if (!started_) code = PMPI_Ibarrier(state_.shadow(), &request_);
    started_ = true;
    if (code == MPI_SUCCESS) code = PMPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
      state_.fail({call_, MPI_ERR_OTHER, mpiStatus(code, "MPI_Ibarrier").message()});
    } else if (!done) {
      return false;
    }
    delete this;
    return true;
  }

  bool hasFailed() const override { return state_.hasFailed(call_); }

  void giveUp() override {
    state_.dequeue(this);
    delete this;
  }

 private:
  CommunicatorState& state_;
  const std::uint64_t call_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool started_ = false;
};

}  // namespace

void meetAfterRefusal(CommunicatorState& state, const CollectiveCall& call) {
  EngineLock lock;
  const Status status = attempt([&]() -> Status {
    auto meeting = std::make_unique<RefusalMeeting>(state, call.number);
    state.enqueue(meeting.get());
    static_cast<void>(meeting.release());
    return {};
  });
  if (!status.ok()) state.fail({call.number, MPI_ERR_NO_MEM, status.message()});
}

}  // namespace torc::pmpi
