#include "passes/analysis/ring_rounds.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace torc::passes {
namespace {

constexpr std::uint32_t kMostInGroup = 8;

/// The shorter way around a ring; of two equally long ones, that of `tie`.
std::int32_t shortest(std::int64_t distance, std::uint32_t size, std::int64_t tie) {
  const auto around = std::int64_t{size};
  std::int64_t way = (distance % around + around) % around;
  if (2 * way > around || (2 * way == around && tie < 0)) way -= around;
  return static_cast<std::int32_t>(way);
}

/// Swing among the first `size` nodes, an even number: the peers of nodes, and the nodes reachable
/// from them.
class SwingReach {
 public:
  explicit SwingReach(std::uint32_t size)
      : size_(size), rounds_(static_cast<std::uint32_t>(std::bit_width(size - 1))) {
    reach_.resize(rounds_ + 1, std::vector<Set>(size, Set(size)));
    for (std::uint32_t node = 0; node < size; ++node)
      reach_[rounds_][node][node] = true;
    for (std::uint32_t s = rounds_; s-- > 0;) {
      for (std::uint32_t node = 0; node < size; ++node) {
        reach_[s][node] = reach_[s + 1][node];
        join(reach_[s][node], reach_[s + 1][peer(node, s)]);
      }
    }
  }

  std::uint32_t rounds() const { return rounds_; }

  /// Distance of a node's peer.
  static std::int64_t distance(std::uint32_t node, std::uint32_t round) {
    std::int64_t power = -2;
    for (std::uint32_t i = 0; i < round; ++i)
      power *= -2;
    const std::int64_t rho = (1 - power) / 3;
    return node % 2 == 0 ? rho : -rho;
  }
  std::uint32_t peer(std::uint32_t node, std::uint32_t round) const {
    const auto around = std::int64_t{size_};
    return static_cast<std::uint32_t>(((node + distance(node, round)) % around + around) % around);
  }
  /// The blocks that a node sends in a round: its peer reaches their owners in later rounds, and
  /// the node itself does not.
  std::vector<std::uint32_t> sent(std::uint32_t node, std::uint32_t round) const {
    const Set& there = reach_[round + 1][peer(node, round)];
    const Set& here = reach_[round + 1][node];
    std::vector<std::uint32_t> blocks;
    for (std::uint32_t block = 0; block < size_; ++block) {
      if (there[block] && !here[block]) blocks.push_back(block);
    }
    return blocks;
  }

 private:
  using Set = std::vector<bool>;

  static void join(Set& set, const Set& other) {
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (other[i]) set[i] = true;
    }
  }

  const std::uint32_t size_, rounds_;
  std::vector<std::vector<Set>> reach_;  // from a round on, by node
};

std::vector<RingRound> mirrored(std::vector<RingRound> rounds, std::uint32_t size,
                                std::uint32_t direction) {
  if (direction == 0) return rounds;
  for (RingRound& round : rounds) {
    for (RingMessage& message : round) {
      message.from = size - 1 - message.from;
      message.to = size - 1 - message.to;
      message.moves = -message.moves;
      for (std::uint32_t& block : message.blocks)
        block = size - 1 - block;
      std::reverse(message.blocks.begin(), message.blocks.end());
    }
    std::stable_sort(round.begin(), round.end(),
                     [](const RingMessage& a, const RingMessage& b) { return a.from < b.from; });
  }
  return rounds;
}

/// The radices of the rounds: prime factors, multiplied as long as the product is at most
/// kMostInGroup.
std::vector<std::uint32_t> radices(std::uint32_t size) {
  std::vector<std::uint32_t> products;
  for (std::uint32_t factor = 2; size > 1;) {
    if (size % factor != 0) {
      ++factor;
      continue;
    }
    size /= factor;
    if (!products.empty() && products.back() * factor <= kMostInGroup) {
      products.back() *= factor;
    } else {
      products.push_back(factor);
    }
  }
  return products;
}

}  // namespace

std::vector<RingRound> swingRounds(std::uint32_t size, bool wraps, std::uint32_t direction) {
  const std::uint32_t even = size - size % 2;
  const SwingReach swing(even);
  std::vector<RingRound> rounds(swing.rounds());
  const auto way = [&](std::uint32_t from, std::uint32_t to, std::int64_t tie) {
    const std::int64_t distance = std::int64_t{to} - from;
    return wraps ? shortest(distance, size, tie) : static_cast<std::int32_t>(distance);
  };
  const std::uint32_t last = size - 1;
  for (std::uint32_t s = 0; s < rounds.size(); ++s) {
    // In each round this number of other nodes exchange with the last node.
    const auto is_with_last = [&](std::uint32_t node) {
      return size % 2 == 1 && node % swing.rounds() == s;
    };
    for (std::uint32_t node = 0; node < even; ++node) {
      std::vector<std::uint32_t> blocks = swing.sent(node, s);
      if (!blocks.empty()) {
        const std::uint32_t to = swing.peer(node, s);
        const std::int64_t tie = SwingReach::distance(node, s);
        rounds[s].push_back({node, to, way(node, to, tie), std::move(blocks)});
      }
      if (is_with_last(node)) rounds[s].push_back({node, last, way(node, last, 1), {last}});
    }
    for (std::uint32_t node = 0; node < even; ++node) {
      if (is_with_last(node)) rounds[s].push_back({last, node, way(last, node, 1), {node}});
    }
  }
  return mirrored(std::move(rounds), size, direction);
}

std::vector<RingRound> groupRounds(std::uint32_t size, bool wraps, std::uint32_t direction) {
  std::vector<RingRound> rounds;
  std::uint32_t stride = 1;
  for (const std::uint32_t radix : radices(size)) {
    RingRound& round = rounds.emplace_back();
    for (std::uint32_t node = 0; node < size; ++node) {
      const std::uint32_t digit = node / stride % radix;
      for (std::uint32_t k = 1; k < radix; ++k) {
        const std::uint32_t other = (digit + k) % radix;
        const std::int64_t distance =
            (std::int64_t{other} - std::int64_t{digit}) * std::int64_t{stride};
        const auto to = static_cast<std::uint32_t>(node + distance);
        RingMessage message{node, to, static_cast<std::int32_t>(distance), {}};
        if (wraps) message.moves = shortest(distance, size, digit % 2 == 0 ? 1 : -1);
        // The digits up to here match the receiver; the others follow in later rounds.
        for (std::uint32_t block = to % (stride * radix); block < size; block += stride * radix)
          message.blocks.push_back(block);
        round.push_back(std::move(message));
      }
    }
    stride *= radix;
  }
  return mirrored(std::move(rounds), size, direction);
}

}  // namespace torc::passes
