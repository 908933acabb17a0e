#include "runtime/pmpi/tuning/trial.h"

#include <array>
#include <limits>

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

/// Advances to the next turn of a candidate that is not excluded, or to the end.
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
  return typicalSeconds(std::span(seconds_).subspan(candidate * length_.rounds, length_.rounds));
}

std::size_t Trial::winner() const {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < out_.size(); ++i)
    seconds.push_back(out_[i] ? std::numeric_limits<double>::infinity() : typical(i));
  return pickWinner(seconds, mpis_, std::array<std::size_t, 1>{0});
}

}  // namespace torc::runtime::pmpi
