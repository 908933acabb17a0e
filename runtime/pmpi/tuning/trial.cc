// Trial: turns, and the choice.
#include "runtime/pmpi/tuning/trial.h"

#include <algorithm>

#include "runtime/job/contenders.h"

namespace torc::runtime::pmpi {

Trial::Trial(std::size_t candidates, std::size_t mpis, Length length)
    : mpis_(mpis), length_(length), out_(candidates), seconds_(candidates * length.rounds) {}

void Trial::leaveOut() {
  out_[turn()] = true;
  goOn();
}

void Trial::took(double seconds) {
  ++calls_;
  const std::size_t not_counted = length_.calls > 1 ? 1 : 0;
  if (round_ > 0 && call_ >= not_counted) {
    const auto counted = static_cast<double>(length_.calls - not_counted);
    seconds_[turn() * length_.rounds + round_ - 1] += seconds / counted;
  }
  if (++call_ == length_.calls) goOn();
}

/// To the next turn of a candidate that is not out, or to the end.
void Trial::goOn() {
  call_ = 0;
  do {
    if (++place_ == out_.size()) {
      place_ = 0;
      ++round_;
    }
  } while (!isOver() && out_[turn()]);
}

double Trial::typical(std::size_t candidate) const {
  const auto first = seconds_.begin() + static_cast<std::ptrdiff_t>(candidate * length_.rounds);
  std::vector<double> sorted(first, first + static_cast<std::ptrdiff_t>(length_.rounds));
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

}  // namespace torc::runtime::pmpi
