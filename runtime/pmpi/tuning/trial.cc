// Trial: turns, and the choice.
#include "runtime/pmpi/tuning/trial.h"

#include <algorithm>

#include "runtime/job/contenders.h"

namespace torc::pmpi {

Trial::Trial(std::size_t candidates, std::size_t mpis, std::size_t timed)
    : mpis_(mpis), timed_(timed), out_(candidates), seconds_(candidates * timed) {}

void Trial::leaveOut() {
  out_[turn()] = true;
  goOn();
}

void Trial::took(double seconds) {
  ++calls_;
  if (round_ >= kWarmUps) seconds_[turn() * timed_ + round_ - kWarmUps] = seconds;
  goOn();
}

/// To the next turn of a candidate that is not out, or to the end.
void Trial::goOn() {
  do {
    if (++place_ == out_.size()) {
      place_ = 0;
      ++round_;
    }
  } while (!isOver() && out_[turn()]);
}

double Trial::typical(std::size_t candidate) const {
  const auto first = seconds_.begin() + static_cast<std::ptrdiff_t>(candidate * timed_);
  std::vector<double> sorted(first, first + static_cast<std::ptrdiff_t>(timed_));
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 4];
}

/// None where all are out.
std::optional<std::size_t> Trial::fastest(bool with_mpis) const {
  std::optional<std::size_t> best;
  for (std::size_t candidate = 0; candidate < out_.size(); ++candidate) {
    if (out_[candidate] || (candidate == mpis_ && !with_mpis)) continue;
    if (!best || typical(candidate) < typical(*best)) best = candidate;
  }
  return best;
}

std::size_t Trial::winner() const {
  const std::size_t first = *fastest(true);
  const auto isAsFast = [&](std::size_t candidate) {
    return !out_[candidate] && typical(candidate) <= kAsFast * typical(first);
  };
  if (isAsFast(0)) return 0;
  const std::optional<std::size_t> schedule = fastest(false);
  return schedule && isAsFast(*schedule) ? *schedule : mpis_;
}

}  // namespace torc::pmpi
