// Hashes: XXH3-64 of texts, bytes and numbers. Equal content has equal hashes on all ranks of a
// job: numbers count as 64 bits, little-endian, and padding is never read.
#ifndef TORC_SUPPORT_HASH_H_
#define TORC_SUPPORT_HASH_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <xxhash.h>

namespace torc {

static_assert(std::endian::native == std::endian::little);

/// `seed` may be the hash of the preceding bytes.
inline std::uint64_t hashBytes(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

inline std::uint64_t hashText(std::string_view text, std::uint64_t seed = 0) {
  return hashBytes(std::as_bytes(std::span(text)), seed);
}

/// The hash of integers, each as 64 bits, negative ones in two's complement.
template <typename... Numbers>
std::uint64_t hashNumbers(Numbers... numbers) {
  const std::array<std::uint64_t, sizeof...(Numbers)> words = {
      static_cast<std::uint64_t>(numbers)...};
  return hashBytes(std::as_bytes(std::span(words)));
}

inline std::uint64_t hashList(std::span<const std::uint64_t> numbers, std::uint64_t seed = 0) {
  return hashBytes(std::as_bytes(numbers), seed);
}

}  // namespace torc

#endif  // TORC_SUPPORT_HASH_H_
