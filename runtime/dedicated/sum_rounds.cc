// The choice of rounds.
#include "runtime/dedicated/sum_rounds.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace torc::runtime::dedicated {
namespace {

constexpr int kLargestGroup = 8;
constexpr int kWire = 3;  // in units of what either end works for a message

/// Of an exchange in a group: the sends are made, the first message comes, the others behind it.
constexpr int roundTime(int group) {
  return std::max(group - 1, 1 + kWire) + group - 1;
}
/// Of a message before the rounds and one behind them.
constexpr int kOutsideTime = 2 * (2 + kWire);

/// Least times of groups whose sizes multiply to each number; 0: there are none.
struct Best {
  int time = 0;
  int group = 1;  // the last one
};

}  // namespace

std::vector<int> SumRounds::group(int rank, std::size_t round) const {
  int step = 1;
  for (std::size_t before = 0; before < round; ++before)
    step *= group_sizes[before];
  const int size = group_sizes[round];
  const int first = rank - rank / step % size * step;
  std::vector<int> members;
  for (int i = 0; i < size; ++i)
    members.push_back(first + i * step);
  return members;
}

SumRounds planSumRounds(int ranks) {
  constexpr int kNever = std::numeric_limits<int>::max() / 2;
  std::vector<Best> best(static_cast<std::size_t>(ranks) + 1, {kNever, 1});
  best[1].time = 0;
  for (std::size_t product = 2; product < best.size(); ++product) {
    for (int group = 2; group <= kLargestGroup; ++group) {
      if (product % static_cast<std::size_t>(group) != 0) continue;
      const int time = best[product / static_cast<std::size_t>(group)].time + roundTime(group);
      if (time < best[product].time) best[product] = {time, group};
    }
  }
  SumRounds rounds;
  int least = kNever;
  // No rank inside has two outside.
  for (int inside = ranks; 2 * inside >= ranks && inside > 0; --inside) {
    const int time =
        best[static_cast<std::size_t>(inside)].time + (inside < ranks ? kOutsideTime : 0);
    if (time >= least) continue;
    least = time;
    rounds.inside = inside;
  }
  for (auto product = static_cast<std::size_t>(rounds.inside); product > 1;) {
    rounds.group_sizes.push_back(best[product].group);
    product /= static_cast<std::size_t>(best[product].group);
  }
  return rounds;
}

}  // namespace torc::runtime::dedicated
