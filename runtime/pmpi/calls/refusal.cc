// Refusals: a barrier in the queue of those that were refused. It is made of messages with a tag of
// its own, because a collective of MPI would match those that other ranks make on the shadow.
#include "runtime/pmpi/calls/refusal.h"

#include <memory>

#include "runtime/api/api.h"
#include "runtime/pmpi/calls/call_report.h"
#include "runtime/pmpi/job/engine.h"
#include "runtime/pmpi/job/progress.h"
#include "runtime/transport/mpi_status.h"

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
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      PMPI_Cancel(&request);
      PMPI_Request_free(&request);
    }
    attention.fetch_sub(1, std::memory_order_relaxed);
    --state_.under_way;
    --state_.operations;
  }

  bool proceed() override {
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && distance_ < state_.size()) {
      int done = 0;
      code = isMeeting() ? MPI_SUCCESS : meet();
      if (code == MPI_SUCCESS) code = PMPI_Testall(2, requests_, &done, MPI_STATUSES_IGNORE);
      if (code == MPI_SUCCESS && !done) return false;
      distance_ *= 2;
    }
    if (code != MPI_SUCCESS) {
      state_.fail({call_, MPI_ERR_OTHER, mpiStatus(code, "messages after a refusal").message()});
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
  bool isMeeting() const {
    return requests_[0] != MPI_REQUEST_NULL || requests_[1] != MPI_REQUEST_NULL;
  }

  /// A round of a barrier by dissemination: every rank hears of those up to twice `distance_` away.
  int meet() {
    const int size = state_.size(), to = (state_.rank() + distance_) % size,
              from = (state_.rank() + size - distance_) % size;
    const MPI_Comm comm = state_.shadow();
    const int tag = state_.geometry().meetingTag();
    const int code = PMPI_Irecv(nullptr, 0, MPI_BYTE, from, tag, comm, &requests_[0]);
    if (code != MPI_SUCCESS) return code;
    return PMPI_Isend(nullptr, 0, MPI_BYTE, to, tag, comm, &requests_[1]);
  }

  CommunicatorState& state_;
  const std::uint64_t call_;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int distance_ = 1;
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
