// Random numbers that are the same everywhere: splitmix64, and permutations that need no memory.
#ifndef TORC_MODEL_PACKETS_RANDOM_H_
#define TORC_MODEL_PACKETS_RANDOM_H_

#include <bit>
#include <cstdint>

namespace torc {

/// Spreads 64 bits over 64 bits (the finalizer of splitmix64).
inline std::uint64_t mixBits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    const std::uint64_t value = mixBits(state_);
    state_ += 0x9e3779b97f4a7c15u;
    return value;
  }
  /// From 0 to `limit` - 1, for limits below 2^32.
  std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>(((next() >> 32) * limit) >> 32);
  }

 private:
  std::uint64_t state_;
};

/// A permutation of 0 to size - 1 that depends on `key`: a Feistel network of four rounds over the
/// next even power of two, walked until it is inside.
class Permutation {
 public:
  explicit Permutation(std::uint32_t size = 1)
      : size_(size), half_((std::bit_width(size > 1 ? size - 1 : 1u) + 1) / 2) {}

  std::uint32_t size() const { return size_; }
  std::uint32_t at(std::uint32_t index, std::uint64_t key) const {
    do
      index = once(index, key);
    while (index >= size_);
    return index;
  }

 private:
  std::uint32_t once(std::uint32_t index, std::uint64_t key) const {
    const std::uint32_t mask = (1u << half_) - 1;
    std::uint32_t left = index >> half_, right = index & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const auto mixed = static_cast<std::uint32_t>(mixBits(key ^ (round << 32) ^ right) >> 40);
      const std::uint32_t swapped = left ^ (mixed & mask);
      left = right;
      right = swapped;
    }
    return (left << half_) | right;
  }

  std::uint32_t size_;
  int half_;  // bits of each half
};

}  // namespace torc

#endif  // TORC_MODEL_PACKETS_RANDOM_H_
