// A trial finds out which of several candidates is fastest at calls that are alike: each has its
// turn at the program's own calls, a fixed number of times.
//
// Every rank has a trial of its own, and all go through the same turns. Which candidate is next
// follows from how many calls there were and which candidates were left out, never from times: so
// all ranks know it alike. Only the times differ between the ranks. Before the choice they are put
// together: what counts is how long a turn took on its slowest rank.
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
  /// Where a turn has several calls the first of them does not count either: it finds ranks and
  /// caches as the candidate before it has left them.
  struct Length {
    std::size_t rounds;  // that count
    std::size_t calls;   // of a turn
  };

  /// Candidate 0 is the library's own choice; number `mpis` is MPI's own function, and the others
  /// are schedules.
  Trial(std::size_t candidates, std::size_t mpis, Length length);

  /// The candidate that serves the next call; there is none once the trial is over. In each round
  /// another one begins, so that a program's own rhythm does not favour one.
  std::size_t turn() const { return (place_ + round_) % out_.size(); }
  /// The candidate whose turn it is cannot serve. It has no turn any more, and cannot win.
  void leaveOut();
  bool isOut(std::size_t candidate) const { return out_[candidate]; }
  /// The call of the candidate whose turn it was took so long on this rank.
  void took(double seconds);
  bool isOver() const { return round_ == 1 + length_.rounds; }
  std::size_t calls() const { return calls_; }

  /// The mean seconds of a call, for each turn that counts. The caller replaces them by the largest
  /// of all ranks before it asks for what is below.
  std::span<double> seconds() { return seconds_; }
  /// Seconds of a call of a candidate that is not out (typicalSeconds).
  double typical(std::size_t candidate) const;
  /// The candidate that has won, once the trial is over: pickWinner, which prefers the library's
  /// own choice.
  std::size_t winner() const;

 private:
  void goOn();

  const std::size_t mpis_;
  const Length length_;
  std::vector<bool> out_;
  std::vector<double> seconds_;        // of each candidate's turns that count
  std::size_t round_ = 0, place_ = 0;  // of the turn
  std::size_t call_ = 0;               // of the turn, the next one
  std::size_t calls_ = 0;              // in all
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_TUNING_TRIAL_H_
