// Rounds on one axis that bring the data of every node to all others: in each round groups of a few
// nodes exchange all to all, near nodes first, so that a group always represents consecutive nodes.
#ifndef TORC_COMPILER_ALGORITHMS_RECURSIVE_AXIS_ROUNDS_H_
#define TORC_COMPILER_ALGORITHMS_RECURSIVE_AXIS_ROUNDS_H_

#include <cstdint>
#include <vector>

namespace torc::compiler {

/// In a round of radix f and stride s the place p exchanges with the f - 1 other places that differ
/// from it in the digit p / s mod f.
struct AxisRound {
  std::uint32_t radix = 2;
  std::uint32_t stride = 1;
  bool operator==(const AxisRound&) const = default;
};

/// The participants on an axis, and their rounds.
///
/// If the size has a prime factor above 7, the number of participants becomes a power of two:
/// `folded` nodes (0, 2, 4, ...) send their data to the node above them before the first round, and
/// get the result after the last.
struct AxisRounds {
  std::uint32_t size = 1;
  std::uint32_t folded = 0;
  std::vector<AxisRound> rounds;

  std::uint32_t places() const { return size - folded; }
  /// The coordinate of a place: places have the order of coordinates.
  std::uint32_t coordinateOf(std::uint32_t place) const {
    return place < folded ? 2 * place + 1 : place + folded;
  }
  bool isFolded(std::uint32_t coordinate) const {
    return coordinate < 2 * folded && coordinate % 2 == 0;
  }
};

/// The fewest rounds for an axis of `size` >= 1 nodes with radices up to `most_messages` + 1, or a
/// prime up to 7.
AxisRounds axisRounds(std::uint32_t size, std::uint32_t most_messages);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_RECURSIVE_AXIS_ROUNDS_H_
