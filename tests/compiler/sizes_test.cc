// Sizes and ranges in the command line's notation.
#include "compiler/sizes.h"

#include <gtest/gtest.h>

namespace torc::compiler {
namespace {

std::uint64_t bytesOf(llvm::StringRef text) {
  llvm::Expected<std::uint64_t> bytes = parseSize(text, "--bytes");
  if (bytes) return *bytes;
  ADD_FAILURE() << toString(bytes.takeError());
  return 0;
}

TEST(Sizes, Units) {
  EXPECT_EQ(bytesOf("0"), 0u);
  EXPECT_EQ(bytesOf("1048576"), 1048576u);
  EXPECT_EQ(bytesOf("64K"), 65536u);
  EXPECT_EQ(bytesOf("3m"), 3u << 20);
  EXPECT_EQ(bytesOf("4096B"), 4096u);
  EXPECT_EQ(bytesOf("1MB"), 1u << 20);
  EXPECT_EQ(bytesOf("64kib"), 65536u);
  EXPECT_EQ(bytesOf("1024G"), std::uint64_t{1} << 40);
  for (llvm::StringRef text : {"", "K", "B", "KB", "1iB", "1BK", "-1", "1.5M", "0x10", " 1",
                               "1025G", "1T", "18446744073709551616", "17179869184G"}) {
    llvm::Expected<std::uint64_t> bytes = parseSize(text, "--bytes");
    ASSERT_FALSE(bool(bytes)) << text.str();
    EXPECT_EQ(toString(bytes.takeError()),
              "--bytes: '" + text.str() + "' is not a size; write 64K, 16M or 1G (at most 1024G)");
  }
}

TEST(Sizes, TextReadsBack) {
  EXPECT_EQ(sizeText(0), "0");
  EXPECT_EQ(sizeText(1000), "1000");
  EXPECT_EQ(sizeText(3 << 20), "3M");
  EXPECT_EQ(sizeText((std::uint64_t{1} << 30) + 1024), "1048577K");
  for (std::uint64_t bytes = 1; bytes < std::uint64_t{1} << 40; bytes = bytes * 3 + 1)
    EXPECT_EQ(bytesOf(sizeText(bytes)), bytes);
}

std::vector<std::uint64_t> sizes(llvm::StringRef text) {
  llvm::Expected<SizeRange> range = parseSizeRange(text, "--bytes");
  if (range) return range->sizes();
  ADD_FAILURE() << toString(range.takeError());
  return {};
}

TEST(Sizes, Ranges) {
  using List = std::vector<std::uint64_t>;
  EXPECT_EQ(sizes("5"), List({5}));
  EXPECT_EQ(sizes("5:5"), List({5}));
  EXPECT_EQ(sizes("0:4"), List({0, 1, 2, 4}));
  EXPECT_EQ(sizes("1K:5K"), List({1024, 2048, 4096, 5120}));
  EXPECT_EQ(sizes("1:1024G").size(), 41u);
  EXPECT_EQ(toString(parseSizeRange("2:1", "--bytes").takeError()),
            "--bytes 2:1: the first size is the larger one");
  for (llvm::StringRef text : {"1:", ":1", "1:2:3", ":"}) {
    llvm::Expected<SizeRange> range = parseSizeRange(text, "--bytes");
    EXPECT_FALSE(bool(range)) << text.str();
    consumeError(range.takeError());
  }
}

TEST(Sizes, Lists) {
  using List = std::vector<std::uint64_t>;
  llvm::Expected<List> list = parseSizeList("7,1K:4K,3", "--bytes");
  ASSERT_TRUE(bool(list)) << toString(list.takeError());
  EXPECT_EQ(*list, List({7, 1024, 2048, 4096, 3}));
  for (llvm::StringRef text : {"", ",", "1,", ",1", "1;2", "1,2:1"}) {
    llvm::Expected<List> faulty = parseSizeList(text, "--bytes");
    EXPECT_FALSE(bool(faulty)) << text.str();
    consumeError(faulty.takeError());
  }
}

}  // namespace
}  // namespace torc::compiler
