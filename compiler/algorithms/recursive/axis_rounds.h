// Rounds on one axis after which every node has heard of all: groups of a few nodes in which each
// sends to all others, near ones first, so that a group always stands for consecutive nodes.
#ifndef TORC_COMPILER_ALGORITHMS_RECURSIVE_AXIS_ROUNDS_H_
#define TORC_COMPILER_ALGORITHMS_RECURSIVE_AXIS_ROUNDS_H_

#include <cstdint>
#include <vector>

namespace torc::compiler {

/// In a round of radix f and stride s the place p exchanges with the f - 1 others that differ from
/// it in the digit p / s mod f.
struct AxisRound {
  std::uint32_t radix = 2;
  std::uint32_t stride = 1;
  bool operator==(const AxisRound&) const = default;
};

/// Who takes part on an axis, and in which rounds.
///
/// Where the size has a prime factor that is larger than 7, `folded` nodes hand what they have to
/// the one above them before the first round, and get the result after the last; so many that the
/// others are a power of two. Those are the nodes 0, 2, 4, ...
struct AxisRounds {
  std::uint32_t size = 1;
  std::uint32_t folded = 0;
  std::vector<AxisRound> rounds;

  std::uint32_t places() const { return size - folded; }
  /// The coordinate of a place: places are in the order of coordinates.
  std::uint32_t coordinateOf(std::uint32_t place) const {
    return place < folded ? 2 * place + 1 : place + folded;
  }
  bool isFolded(std::uint32_t coordinate) const {
    return coordinate < 2 * folded && coordinate % 2 == 0;
  }
};

/// The fewest rounds for an axis of `size` >= 1 nodes whose radix is at most `most_messages` + 1,
/// or a prime up to 7.
AxisRounds axisRounds(std::uint32_t size, std::uint32_t most_messages);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_RECURSIVE_AXIS_ROUNDS_H_
