// Stalls: calls without progress for TORC_LIMITS=stall seconds. Each waiting rank reports a stall
// once. Long before, it asks the awaited ranks for their state: if they are in another call, both
// fail (runtime/pmpi/communicator/call_history.h).
#ifndef TORC_RUNTIME_PMPI_ENGINE_STALL_H_
#define TORC_RUNTIME_PMPI_ENGINE_STALL_H_

#include <cstdint>
#include <string>

#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/service/service_collective.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

/// Seconds without progress after which a rank asks others.
inline constexpr double kSecondsBeforeAsking = 0.5;

/// The time that the program has waited for an operation without progress. Time counts only while
/// the program waits inside MPI: it may compute as long as it likes.
struct StallWatch {
  std::uint64_t mark = 0;                   // of the progress made
  double seconds = 0;                       // waited since
  double next_look = kSecondsBeforeAsking;  // seconds; next check for ended ranks
  bool asked = false, told = false;

  /// Adds `more` seconds of waiting; `now_at` marks the progress so far.
  void wait(std::uint64_t now_at, double more) {
    if (mark != now_at) {
      *this = {.mark = now_at, .told = told};
    } else {
      seconds += more;
    }
  }
};

/// The same for a wait before the operation exists.
class StallTimer {
 public:
  /// With a limit of TORC_LIMITS=stall seconds, or another one; 0: never.
  StallTimer();
  explicit StallTimer(double limit);
  /// True once, after the limit. Reads the clock at every 64th call.
  bool isOver();

 private:
  double began_, limit_;
  unsigned looks_ = 0;
  bool told_ = false;
};

/// Calls look() -> bool until it returns true, with progress; and tell() once, when that stalls.
template <typename Look, typename Tell>
void progressUntil(Look look, Tell tell) TORC_EXCLUDES(engine_lock) {
  StallTimer stall;
  progressUntil([&] {
    const bool is_over = look();
    if (!is_over && stall.isOver()) tell();
    return is_over;
  });
}

/// The same until `collective` is complete.
template <typename Tell>
Status await(ServiceCollective& collective, Tell tell) TORC_EXCLUDES(engine_lock) {
  progressUntil([&] { return collective.advance(); }, tell);
  return collective.status();
}

/// Prints `torc: warning: rank 3: WHAT: no progress for 30 s: WHY`.
void tellOfStall(const std::string& what, const std::string& why);
/// The same for a call: `MPI_Allreduce of 80 bytes, call 17 on 3x2`.
void tellOfStall(const CollectiveCall& call, const CommunicatorState& state,
                 const std::string& why);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_STALL_H_
