// Backoff: pauses of a polling thread between unsuccessful polls.
#ifndef TORC_SUPPORT_BACKOFF_H_
#define TORC_SUPPORT_BACKOFF_H_

#include <algorithm>
#include <cstdint>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

namespace torc {

/// One wait. An unsuccessful poll yields the core. If others take it each time, a wait without
/// progress for a millisecond sleeps between polls, for a sixteenth of its duration. A thread that
/// yields without end loses more than its turn: Linux 6.18 counts a time slice against it for each
/// yield, so after a thousand of them all computing threads run for seconds before it does.
/// (tests/runtime/pmpi/conformance:threads_4 beside four busy loops: 2 to 107 s with yields alone,
/// 1 to 2 s with sleeps.)
class Backoff {
 public:
  /// `spins`: polls before the first yield, which costs more than a poll. A change of `moves` since
  /// the last poll means progress: then the wait begins anew.
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
  // Most waits are short: their polls should not pay for a clock.
  static constexpr unsigned kYieldsBeforeClock = 20;
  // Nanoseconds. The core is crowded if most yields of a window, or more than one of a millisecond,
  // let another thread run; once crowded, it stays so for a while.
  static constexpr long kWindow = 1'000'000;
  static constexpr long kCrowdedWindow = 20'000'000;
  static constexpr long kLongestNap = 500'000;

  static long nanosecondsNow() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000L + now.tv_nsec;
  }

  /// Involuntary context switches of this thread. A yield on a core without other threads is none.
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
  long since_ = 0;  // time of the first poll with a clock; 0: none yet
  long window_begin_ = 0, window_end_ = 0;
  long switches_ = 0, yields_ = 0;  // at the begin of the window, and within it
  bool is_crowded_ = false;         // in the previous window
};

}  // namespace torc

#endif  // TORC_SUPPORT_BACKOFF_H_
