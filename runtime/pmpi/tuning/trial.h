// Trial: finds the fastest of several candidates for calls that are alike. Each has turns at the
// program's own calls, a fixed number of times.
//
// Every rank has its own trial object, and all go through the same turns. The next candidate
// follows from the number of calls and the excluded candidates, never from times: so all ranks know
// it alike. Only the times differ between the ranks. Before the choice they are combined: the time
// of a turn is that of its slowest rank.
#ifndef TORC_RUNTIME_PMPI_TUNING_TRIAL_H_
#define TORC_RUNTIME_PMPI_TUNING_TRIAL_H_

#include <cstddef>
#include <span>
#include <vector>

namespace torc::runtime::pmpi {

class Trial {
 public:
  /// Every candidate has a turn in each round. The first round does not count, because schedules
  /// are loaded in it, and their calls are kept for the next (runtime/pmpi/calls/repeated_call.h).
  /// In a turn of several calls the first does not count either: ranks and caches are still in the
  /// state that the candidate before has left.
  struct Length {
    std::size_t rounds;  // counted rounds
    std::size_t calls;   // of a turn
  };

  /// Candidate 0 is the library's own choice; number `mpis` is MPI's own function, and the others
  /// are schedules.
  Trial(std::size_t candidates, std::size_t mpis, Length length);

  /// The candidate that serves the next call; undefined after the end of the trial. Each round
  /// begins with another one, so that a periodic pattern of the program favours none.
  std::size_t turn() const { return (place_ + round_) % out_.size(); }
  /// The current candidate cannot serve. It gets no more turns, and cannot win.
  void leaveOut();
  bool isOut(std::size_t candidate) const { return out_[candidate]; }
  /// The time of the current candidate's call on this rank.
  void took(double seconds);
  bool isOver() const { return round_ == 1 + length_.rounds; }
  std::size_t calls() const { return calls_; }

  /// The mean seconds of a call, for each counted turn. The caller replaces them by the maxima over
  /// all ranks before it calls `typical` and `winner`.
  std::span<double> seconds() { return seconds_; }
  /// Seconds of a call of a candidate that is not excluded (typicalSeconds).
  double typical(std::size_t candidate) const;
  /// The winner, after the end of the trial: pickWinner, which prefers the library's own choice.
  std::size_t winner() const;

 private:
  void goOn();

  const std::size_t mpis_;
  const Length length_;
  std::vector<bool> out_;
  std::vector<double> seconds_;        // of each candidate's counted turns
  std::size_t round_ = 0, place_ = 0;  // of the turn
  std::size_t call_ = 0;               // index of the next call in the turn
  std::size_t calls_ = 0;              // in all
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_TUNING_TRIAL_H_
