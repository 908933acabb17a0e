// Mutated indices of libraries through the reader: none crashes or hangs it; what is accepted is
// consistent, is found by the lookups, and gives the same bytes when it is written again. Half of
// the mutants get a size and checksum that fit, so that they reach the checks behind them.
//
//   TORC_FUZZ_MUTANTS=1000000 TORC_FUZZ_SEED=7 bazel-bin/tests/fuzz/index_fuzz_test
#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "schedules/library/index.h"
#include "schedules/library/index_layout.h"
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

Bytes nextMutant(Mutator& mutator) {
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

/// Whether an entry of the index is the one for the sizes of its range.
bool isFound(const LibraryIndex& index, const LibraryEntry& entry) {
  return std::ranges::all_of(
      std::array{entry.lowest, entry.predicted_to, entry.highest}, [&](std::uint64_t bytes) {
        return index.findEntry(entry.shape, entry.collective, bytes) == &entry;
      });
}

/// What is wrong with an index that was accepted; empty: nothing.
std::string faultOf(const LibraryIndex& index, const Bytes& file) {
  if (const Status status = validate(index); !status.ok()) return status.message();
  if (writeLibraryIndex(index) != file) return "gives other bytes when it is written again";
  for (const LibrarySubTorus& sub_torus : index.sub_tori) {
    if (index.findSubTorus(sub_torus.partition, sub_torus.extents) != &sub_torus)
      return "a sub-torus is not found";
  }
  for (const LibraryEntry& entry : index.tuned) {
    if (!isFound(index, entry)) return "a tuned entry is not found";
    if (entry.file >= index.files.size() && entry.file != kMpisOwn) {
      return "a tuned entry has no file";
    }
  }
  LibraryIndex untuned = index;
  untuned.tuned.clear();
  for (const LibraryEntry& entry : untuned.entries) {
    if (!isFound(untuned, entry)) return "an entry is not found";
    if (entry.file >= index.files.size()) return "an entry has no file";
  }
  for (const LibraryCandidate& candidate : index.candidates) {
    if (candidate.file >= index.files.size()) return "a candidate has no file";
  }
  for (const LibraryFile& file_entry : index.files) {
    if (file_entry.name.find('/') != std::string::npos) return "a file's name has a slash";
  }
  return {};
}

TEST(IndexFuzz, Mutants) {
  const std::uint64_t count = mutantCount(20000);
  Mutator mutator(
      {writeLibraryIndex(samples::libraryIndex()), writeLibraryIndex(samples::damagedIndex()),
       writeLibraryIndex(samples::tunedIndex())},
      fuzzSeed());
  std::uint64_t accepted = 0;
  std::set<std::string> refusals;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes mutant = nextMutant(mutator);
    const StatusOr<LibraryIndex> read = readLibraryIndex(mutant, "i");
    if (read.ok()) {
      ++accepted;
      ASSERT_EQ(faultOf(*read, mutant), "") << "mutant " << i << " of seed " << fuzzSeed();
      continue;
    }
    std::string refusal = read.status().message();
    ASSERT_TRUE(std::ranges::all_of(refusal, [](char c) { return c >= ' ' && c <= '~'; }))
        << refusal;
    std::erase_if(refusal, [](char c) { return c >= '0' && c <= '9'; });
    refusals.insert(refusal);
  }
  std::printf("%llu mutants: %llu accepted, %zu kinds of refusal\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(accepted),
              refusals.size());
  if (count < 10000) return;
  EXPECT_GT(accepted, count / 100);
  EXPECT_GT(refusals.size(), 30u);
}

}  // namespace
}  // namespace torc::fuzz
