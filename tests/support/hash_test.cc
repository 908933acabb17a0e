// Hashes are those of XXH3's specification, for any type of a number, and distinguish order,
// boundaries and seeds.
#include "support/hash.h"

#include <vector>

#include <gtest/gtest.h>

namespace torc {
namespace {

TEST(Hash, IsXxh3) {
  // XXH3_64bits of nothing, of "a" (xxhsum -H3), and with a seed.
  EXPECT_EQ(hashText(""), 0x2d06800538d394c2u);
  EXPECT_EQ(hashText("a"), 0xe6c632b61e964e1fu);
  EXPECT_NE(hashText("a", 1), hashText("a"));
}

TEST(Hash, NumbersCountAs64Bits) {
  const std::uint64_t wide = hashNumbers(std::uint64_t{5}, std::uint64_t{1});
  EXPECT_EQ(hashNumbers(std::int8_t{5}, true), wide);
  EXPECT_EQ(hashNumbers(5, 1u), wide);
  EXPECT_EQ(hashNumbers(-1), hashNumbers(~std::uint64_t{0}));
  EXPECT_EQ(hashList(std::vector<std::uint64_t>{5, 1}), wide);
  constexpr unsigned char kBytes[16] = {5, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(hashBytes(std::as_bytes(std::span(kBytes))), wide);
}

TEST(Hash, OrderAndLengthCount) {
  EXPECT_NE(hashNumbers(1, 2), hashNumbers(2, 1));
  EXPECT_NE(hashNumbers(0), hashNumbers(0, 0));
  EXPECT_NE(hashText("b", hashText("a")), hashText("a", hashText("b")));
  EXPECT_NE(hashText("b", hashText("a")), hashText("ab"));
}

}  // namespace
}  // namespace torc
