// Reports of stalls on stderr, with the ranks and messages that an operation waits for.
#include "runtime/pmpi/engine/stall.h"

#include <algorithm>
#include <vector>

#include <mpi.h>

#include "runtime/pmpi/engine/call_report.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/operation.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

/// Upper limit of ranks asked or named.
constexpr std::size_t kMostPeers = 8;

}  // namespace

StallTimer::StallTimer() : StallTimer(engine->settings.stall) {}

StallTimer::StallTimer(double limit) : began_(PMPI_Wtime()), limit_(limit) {}

bool StallTimer::isOver() {
  if (told_ || limit_ == 0 || ++looks_ % 64 != 0 || PMPI_Wtime() - began_ < limit_) return false;
  return told_ = true;
}

void tellOfStall(const std::string& what, const std::string& why) {
  const std::string line = message(what, ": no progress for ", engine->settings.stall, " s: ", why);
  warnOnce(line, line);
}

void tellOfStall(const CollectiveCall& call, const CommunicatorState& state,
                 const std::string& why) {
  std::string what = functionName(call);
  if (call.bytes > 0) what += message(" of ", call.bytes, " bytes");
  if (call.number > 0) what += message(", call ", call.number);
  tellOfStall(message(what, " on ", state.description()), why);
}

// ---- Of an operation

/// Changes whenever the operation makes progress.
std::uint64_t Operation::progressMade() const {
  const std::uint64_t rounds = plan_ != nullptr ? plan_->rounds : 0;
  return rounds << 32 | (isRunning() ? plan_->executor().remaining() + 1 : 0);
}

void Operation::watch(double seconds) {
  if (!under_way_) return;
  stall_.wait(progressMade(), seconds);
  const double limit = engine->settings.stall;
  const double patience =
      limit > 0 ? std::min(kSecondsBeforeAsking, limit / 4) : kSecondsBeforeAsking;
  if (!stall_.asked && stall_.seconds >= patience) {
    stall_.asked = true;
    askOthers();
  }
  if (!isRunning() && stall_.seconds >= stall_.next_look) {
    stall_.next_look = stall_.seconds + kSecondsBeforeAsking;
    lookForEnded();
  }
  if (!stall_.told && limit > 0 && stall_.seconds >= limit) {
    stall_.told = true;
    tellOfStall(call_, state_, whatIsWaitedFor());
  }
}

/// Before its round: the operation waits for all ranks together. During a round the transport
/// checks for ended ranks.
void Operation::lookForEnded() {
  const HostSegment* const segment = state_.geometry().segment.get();
  for (int rank = 0; rank < state_.size(); ++rank) {
    const Status status = segment == nullptr ? Status() : segment->checkRunning(rank);
    if (status.ok()) continue;
    state_.history().fail(call_, errorClass(status), status.message());
    return;
  }
}

void Operation::askOthers() {
  state_.history().standsStill(call_);
  std::vector<Transport::Awaited> awaited;
  if (isRunning()) {
    awaited = plan_->transport().awaited(kMostPeers);
  } else {
    // It waits for all ranks together.
    const int others = std::min(state_.size() - 1, static_cast<int>(kMostPeers));
    for (int i = 1; i <= others; ++i)
      awaited.push_back({(state_.rank() + i) % state_.size(), false});
  }
  for (const Transport::Awaited& peer : awaited)
    state_.history().ask(peer.rank, call_);
}

std::string Operation::whatIsWaitedFor() const {
  if (!isRunning()) {
    if (!engine->in_mpi.empty() && std::ranges::count(engine->in_mpi, this) > 0) {
      return "it waits for MPI, which makes it in torc's place";
    }
    std::string what = votes_      ? "it waits for all ranks to agree on message tags and memory"
                       : has_tags_ ? "it waits for earlier calls on the communicator"
                                   : "it waits for all ranks to come to it, or for earlier calls";
    for (int rank = 0; rank < state_.size(); ++rank) {
      if (const std::string answer = state_.history().answerOf(rank); !answer.empty()) {
        what += message("; rank ", rank, ", ", answer);
      }
    }
    return what;
  }
  std::string what =
      message("operation ", plan_->executor().firstPending(), " of ", servedBy(call_));
  const char* between = " waits";
  for (const Transport::Awaited& peer : plan_->transport().awaited(kMostPeers)) {
    const std::string answer = state_.history().answerOf(peer.rank);
    what +=
        message(between, peer.sending ? " to send to rank " : " to receive from rank ", peer.rank,
                " of the communicator, ", answer.empty() ? "which does not answer" : answer);
    between = ",";
  }
  return what;
}

}  // namespace torc::runtime::pmpi
