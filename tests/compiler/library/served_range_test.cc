// What of served ranges is left when others take some sizes.
#include "compiler/library/served_range.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/ADT/STLExtras.h>

namespace torc::compiler {
namespace {

/// An entry of the first shape, of an allreduce unless it is said, that takes a microsecond and a
/// nanosecond a byte.
LibraryEntry entryFor(std::uint64_t lowest, std::uint64_t highest, std::uint32_t file) {
  LibraryEntry entry;
  entry.lowest = lowest;
  entry.highest = highest;
  entry.file = file;
  entry.predicted_to = highest == kOpenEnd ? 1024 : highest;
  entry.lowest_s = 1e-6 + 1e-9 * static_cast<double>(lowest);
  entry.highest_s = 1e-6 + 1e-9 * static_cast<double>(entry.predicted_to);
  return entry;
}

/// Whoever has some of the sizes loses those alone, whatever they are.
TEST(ServedRange, SizesThatAreTakenAreNotServedAndOthersAre) {
  LibraryEntry other_collective = entryFor(1, kOpenEnd, 3), other_shape = other_collective;
  other_collective.collective = Collective::kAllgather;
  other_shape.shape = 1;
  const std::vector<ServedRange> ranges = {{entryFor(0, 0, 0), 0},
                                           {entryFor(1, 5, 1), 1},
                                           {entryFor(9, kOpenEnd, 2), 2},
                                           {other_collective, 3},
                                           {other_shape, 4}};
  const auto served = [](llvm::ArrayRef<ServedRange> by, std::uint64_t bytes) {
    std::vector<std::uint32_t> files;
    for (const ServedRange& range : by) {
      if (range.entry.shape == 0 && range.entry.collective == Collective::kAllreduce &&
          range.entry.lowest <= bytes && bytes <= range.entry.highest) {
        files.push_back(range.entry.file);
      }
    }
    return files;
  };
  for (std::uint64_t lowest = 0; lowest < 14; ++lowest) {
    for (std::uint64_t end = lowest; end < 14; ++end) {
      const std::uint64_t highest = end == 13 ? kOpenEnd : end;
      const auto left = withoutSizes(ranges, entryFor(lowest, highest, 9));
      for (std::uint64_t bytes = 0; bytes < 20; ++bytes) {
        const bool is_taken = lowest <= bytes && bytes <= highest;
        EXPECT_EQ(served(left, bytes),
                  is_taken ? std::vector<std::uint32_t>{} : served(ranges, bytes))
            << bytes << " of " << lowest << ".." << highest;
      }
      EXPECT_EQ(llvm::count_if(left, [](const ServedRange& of) { return of.entry.file == 3; }), 2);
      for (const ServedRange& range : left) {
        const LibraryEntry& entry = range.entry;
        EXPECT_EQ(entry.file, ranges[*range.from].entry.file);
        if (entry.highest != kOpenEnd) {
          EXPECT_EQ(entry.predicted_to, entry.highest);
        }
        EXPECT_GE(entry.predicted_to, entry.lowest);
        EXPECT_NEAR(entry.lowest_s, 1e-6 + 1e-9 * static_cast<double>(entry.lowest), 1e-12);
        EXPECT_NEAR(entry.highest_s, 1e-6 + 1e-9 * static_cast<double>(entry.predicted_to), 1e-12);
      }
    }
  }
}

/// Of a range from 0 on size 0 does not stay alone, where it would be for calls without a size.
TEST(ServedRange, SizeZeroDoesNotStayAlone) {
  const std::vector<ServedRange> ranges = {{entryFor(0, 100, 0), 0}};
  const auto left = withoutSizes(ranges, entryFor(1, 50, 1));
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].entry.lowest, 51u);
}

}  // namespace
}  // namespace torc::compiler
