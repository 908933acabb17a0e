// Reproducible random numbers: mixed bits, and permutations that need no memory.
#ifndef TORC_MODEL_PACKETS_RANDOM_H_
#define TORC_MODEL_PACKETS_RANDOM_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace torc::model {

/// Spreads 64 bits over 64 bits (the finalizer of splitmix64).
inline std::uint64_t mixBits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A permutation of 0 to size - 1 that depends on `key`: a Feistel network of four rounds over the
/// next power of two, repeated until the result is in range.
class Permutation {
 public:
  explicit Permutation(std::uint32_t size = 1)
      : size_(size), bits_(std::max<int>(2, std::bit_width(size > 1 ? size - 1 : 1u))) {}

  std::uint32_t size() const { return size_; }
  std::uint32_t at(std::uint32_t index, std::uint64_t key) const {
    do
      index = once(index, key);
    while (index >= size_);
    return index;
  }

 private:
  std::uint32_t once(std::uint32_t index, std::uint64_t key) const {
    // The upper part becomes the lower one; the lower one, mixed with the other, becomes the upper
    // one.
    int low = bits_ / 2, high = bits_ - low;
    for (int round = 0; round < 4; ++round) {
      const std::uint32_t left = index >> low, right = index & ((1u << low) - 1);
      std::uint64_t mixed = (std::rotl(key, 16 * round) ^ right) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ mixed >> 32) * 0x94d049bb133111ebu;
      const std::uint32_t swapped =
          left ^ (static_cast<std::uint32_t>(mixed >> 40) & ((1u << high) - 1));
      index = right << high | swapped;
      std::swap(low, high);
    }
    return index;
  }

  std::uint32_t size_;
  int bits_;
};

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_RANDOM_H_
