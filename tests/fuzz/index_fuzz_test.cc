// Mutated indices of libraries through the reader: none crashes or hangs it; what is accepted is
// consistent, is found by the lookups, and gives the same bytes when it is written again. Half of
// the mutants get a size and checksum that fit, so that they reach the checks behind them.
//
//   TORC_FUZZ_MUTANTS=1000000 TORC_FUZZ_SEED=7 bazel-bin/tests/fuzz/index_fuzz_test
#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "schedules/library/index.h"
#include "schedules/library/index_layout.h"
#include "tests/fuzz/checked_index.h"
#include "tests/fuzz/mutate.h"
#include "tests/schedules/format/file_patch.h"
#include "tests/schedules/library/sample_index.h"

namespace torc::fuzz {
namespace {

IndexHeader headerOf(const Bytes& file) {
  IndexHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  return header;
}

/// Exchanges two records of a table, or changes a field of one.
void changeRecords(Bytes& file, Mutator& mutator) {
  Random& random = mutator.random();
  const IndexHeader header = headerOf(file);
  const TableEntry& table = header.tables[random.below(kIndexTableCount)];
  if (table.count == 0) return;
  const auto record = [&] {
    return file.data() + table.offset + random.below(table.count) * table.record_size;
  };
  std::byte* const one = record();
  std::byte* const other = record();
  if (random.oneIn(3)) {
    std::swap_ranges(one, one + table.record_size, other);
    return;
  }
  Bytes changed(one, one + table.record_size);
  mutator.changeInteger(changed);
  std::ranges::copy(changed, one);
}

Bytes nextIndex(Mutator& mutator) {
  Random& random = mutator.random();
  if (random.oneIn(2)) {
    Bytes file = mutator.next();
    if (random.oneIn(2)) samples::fixSizeAndChecksum(file);
    return file;
  }
  Bytes file = mutator.pick();
  for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes)
    changeRecords(file, mutator);
  if (!random.oneIn(8)) samples::fixChecksum(file);
  return file;
}

TEST(IndexFuzz, Mutants) {
  const std::uint64_t count = mutantCount(20000);
  Mutator mutator(
      {writeLibraryIndex(samples::libraryIndex()), writeLibraryIndex(samples::damagedIndex()),
       writeLibraryIndex(samples::tunedIndex()), writeLibraryIndex(samples::smallIndex())},
      fuzzSeed());
  std::uint64_t accepted = 0;
  std::set<std::string> refusals;
  const auto faultOf = [&](const Bytes& mutant) {
    IndexOutcome outcome = checkIndex(mutant);
    accepted += outcome.accepted;
    std::erase_if(outcome.refusal, [](char c) { return c >= '0' && c <= '9'; });
    if (!outcome.accepted) refusals.insert(outcome.refusal);
    return outcome.violation;
  };
  ASSERT_EQ(firstFault(
                count, [&] { return nextIndex(mutator); }, faultOf),
            "");
  if (count < 10000) return;
  EXPECT_GT(accepted, count / 100);
  EXPECT_GT(refusals.size(), 30u);
}

}  // namespace
}  // namespace torc::fuzz
