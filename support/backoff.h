// Backoff: what a thread that waits does between two looks that found nothing.
#ifndef TORC_SUPPORT_BACKOFF_H_
#define TORC_SUPPORT_BACKOFF_H_

#include <algorithm>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

namespace torc {

/// One wait. A look that found nothing yields the core. Where others take it each time, a wait that
/// has lasted a millisecond naps between looks, for a sixteenth of the time that it has lasted. A
/// thread that yields without end loses more than its turn: Linux 6.18 counts a time slice against
/// it for each yield, so after a thousand of them all who compute run for seconds before it does.
/// (tests/runtime/pmpi/conformance:threads_4 beside four loops: 2 to 107 s by yields alone, 1 s
/// so.)
class Backoff {
 public:
  /// `spins`: looks before the first yield, which costs more than a look.
  void afterLook(unsigned spins = 0) {
    ++looks_;
    if (looks_ <= spins) return;
    if (looks_ > spins + kYieldsBeforeClock) {
      if (const long waited = nanosecondsWaited(); waited > kBeforeNaps && isCrowded(waited)) {
        const timespec time = {0, std::min(waited / 16, kLongestNap)};
        nanosleep(&time, nullptr);
        return;
      }
      ++yields_;
    }
    sched_yield();
  }

 private:
  // Most waits are short: their looks are not to pay for a clock.
  static constexpr unsigned kYieldsBeforeClock = 20;
  static constexpr long kBeforeNaps = 1'000'000;  // nanoseconds
  static constexpr long kLongestNap = 500'000;

  /// Since the first time that this was asked.
  long nanosecondsWaited() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long nanoseconds = now.tv_sec * 1'000'000'000L + now.tv_nsec;
    if (since_ == 0) {
      since_ = nanoseconds;
      switches_ = switches();
    }
    return nanoseconds - since_;
  }

  /// Whether others run here: at most yields, or more than once a millisecond.
  bool isCrowded(long waited) {
    if (is_crowded_) return true;
    const long lost = switches() - switches_;
    is_crowded_ = lost > yields_ / 2 || lost > waited / 1'000'000;
    return is_crowded_;
  }

  /// How often this thread has lost its core while it could run. A yield with nobody else there is
  /// none.
  static long switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
  }

  unsigned looks_ = 0;
  long since_ = 0;     // nanoseconds
  long switches_ = 0;  // then
  long yields_ = 0;    // since then
  bool is_crowded_ = false;
};

}  // namespace torc

#endif  // TORC_SUPPORT_BACKOFF_H_
