// Random numbers for the case of a property.
#ifndef TORC_TESTS_DRAW_H_
#define TORC_TESTS_DRAW_H_

#include <cstdint>

#include <rapidcheck.h>

namespace torc {

/// A number from `low` to `high`, uniformly distributed.
inline std::uint32_t draw(std::uint32_t low, std::uint32_t high) {
  return *rc::gen::inRange(low, high + 1);
}

}  // namespace torc

#endif  // TORC_TESTS_DRAW_H_
