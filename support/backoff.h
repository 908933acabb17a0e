// Backoff: what a thread that waits does between two looks that found nothing.
#ifndef TORC_SUPPORT_BACKOFF_H_
#define TORC_SUPPORT_BACKOFF_H_

#include <algorithm>
#include <cstdint>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

namespace torc {

/// One wait. A look that found nothing yields the core. Where others take it each time, a wait in
/// which nothing has moved for a millisecond naps between looks, for a sixteenth of the time that
/// it has lasted. A thread that yields without end loses more than its turn: Linux 6.18 counts a
/// time slice against it for each yield, so after a thousand of them all who compute run for
/// seconds before it does. (tests/runtime/pmpi/conformance:threads_4 beside four loops: 2 to 107 s
/// by yields alone, 1 to 2 s so.)
class Backoff {
 public:
  /// `spins`: looks before the first yield, which costs more than a look. `moves` differs from the
  /// last look's where something has moved: then the wait begins anew.
  void afterLook(unsigned spins = 0, std::uint64_t moves = 0) {
    if (moves != moves_) {
      *this = {};
      moves_ = moves;
    }
    if (looks_ < spins + kYieldsBeforeClock) {
      if (++looks_ > spins) sched_yield();
      return;
    }
    const long now = nanosecondsNow();
    if (since_ == 0) {
      since_ = now;
      beginWindow(now);
    }
    if (now > window_end_) {
      const long lost = switches() - switches_;
      is_crowded_ = lost > yields_ / 2 || lost * kWindow > now - window_begin_;
      beginWindow(now);
    }
    if (is_crowded_) {
      const timespec time = {0, std::min((now - since_) / 16, kLongestNap)};
      nanosleep(&time, nullptr);
    } else {
      ++yields_;
      sched_yield();
    }
  }

 private:
  // Most waits are short: their looks are not to pay for a clock.
  static constexpr unsigned kYieldsBeforeClock = 20;
  // Nanoseconds. Others are on the core where most yields of a window, or more than one of a
  // millisecond, let somebody run; where they are, they are so for a while.
  static constexpr long kWindow = 1'000'000;
  static constexpr long kCrowdedWindow = 20'000'000;
  static constexpr long kLongestNap = 500'000;

  static long nanosecondsNow() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000L + now.tv_nsec;
  }

  /// How often this thread has lost its core while it could run. A yield with nobody else there is
  /// none.
  static long switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
  }

  void beginWindow(long now) {
    window_begin_ = now;
    window_end_ = now + (is_crowded_ ? kCrowdedWindow : kWindow);
    switches_ = switches();
    yields_ = 0;
  }

  unsigned looks_ = 0;
  std::uint64_t moves_ = 0;
  long since_ = 0;  // the first look by the clock; 0: none yet
  long window_begin_ = 0, window_end_ = 0;
  long switches_ = 0, yields_ = 0;  // at its beginning, and in it
  bool is_crowded_ = false;         // in the window before
};

}  // namespace torc

#endif  // TORC_SUPPORT_BACKOFF_H_
