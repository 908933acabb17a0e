// Mutated schedule files, and indices of libraries, through their readers: none crashes or hangs
// it; accepted ones are canonical, found by lookups, and safe to expand and run (checked.h). Half
// of the mutants get a matching size and checksum, so that they reach the checks behind them.
//
//   TORC_FUZZ_MUTANTS=1000000 TORC_FUZZ_SEED=7 bazel-bin/tests/fuzz/file_fuzz_test
#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "schedules/format/file.h"
#include "schedules/library/index.h"
#include "schedules/library/index_layout.h"
#include "tests/fuzz/checked.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/sample_programs.h"
#include "tests/schedules/format/file_patch.h"
#include "tests/schedules/library/sample_index.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::fuzz {
namespace {

std::vector<Bytes> sampleFiles() {
  std::vector<Bytes> files;
  for (const Schedule& schedule : samples::all())
    files.push_back(writeSchedule(schedule.view()));
  for (const Schedule& schedule : loopedSchedules())
    files.push_back(writeSchedule(schedule.view()));
  return files;
}

/// What a refusal complains about: its message without the words that have numbers in them.
std::string kindOf(const std::string& refusal) {
  std::string kind;
  std::istringstream words(refusal);
  for (std::string word; words >> word;) {
    const bool number = word.find_first_of("0123456789") != std::string::npos;
    kind += number ? "# " : word + " ";
  }
  return kind;
}

/// Exchanges two records of a table, copies one over another, or changes a field of one.
template <typename Header>
void changeRecords(Bytes& file, Mutator& mutator) {
  Random& random = mutator.random();
  const Header header = samples::headerOf<Header>(file);
  const TableEntry& table = header.tables[random.below(std::size(header.tables))];
  if (table.count == 0) return;
  const auto record = [&] {
    return file.data() + table.offset + random.below(table.count) * table.record_size;
  };
  std::byte* const one = record();
  std::byte* const other = record();
  const std::uint64_t way = random.below(4);
  if (way == 0) {
    std::swap_ranges(one, one + table.record_size, other);
  } else if (way == 1) {
    if (one != other) std::copy_n(one, table.record_size, other);
  } else {
    Bytes changed(one, one + table.record_size);
    mutator.changeInteger(changed);
    std::ranges::copy(changed, one);
  }
}

template <typename Header>
Bytes nextFile(Mutator& mutator) {
  Random& random = mutator.random();
  if (random.oneIn(2)) {
    Bytes file = mutator.next();
    if (random.oneIn(2)) samples::fixSizeAndChecksum(file);
    return file;
  }
  Bytes file = mutator.pick();
  for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
    if (random.below(3) > 0) {
      changeRecords<Header>(file, mutator);
    } else {
      mutator.changeInteger(file);
      break;  // the directory may have changed, and records are found through it
    }
  }
  if (!random.oneIn(4)) samples::fixChecksum(file);
  return file;
}

TEST(FileFuzz, SamplesAreProved) {
  std::size_t proved = 0;
  for (const Bytes& file : sampleFiles()) {
    const Outcome outcome = checkFile(file);
    EXPECT_EQ(outcome.refusal, "");
    EXPECT_EQ(outcome.violation, "");
    proved += outcome.proved;
  }
  EXPECT_EQ(proved, sampleFiles().size() - 1);  // one has signals alone
}

TEST(FileFuzz, Mutants) {
  const std::uint64_t count = mutantCount(25000);
  Mutator mutator(sampleFiles(), fuzzSeed());
  std::uint64_t accepted = 0, proved = 0;
  std::set<std::string> refusals;
  const auto faultOf = [&](const Bytes& mutant) {
    const Outcome outcome = checkFile(mutant);
    accepted += outcome.accepted;
    proved += outcome.proved;
    if (!outcome.accepted) refusals.insert(kindOf(outcome.refusal));
    return outcome.violation;
  };
  ASSERT_EQ(firstFault(
                count, [&] { return nextFile<FileHeader>(mutator); }, faultOf),
            "");
  if (count < 10000) return;
  // The mutants are of use: many pass the reader, and its checks are reached.
  EXPECT_GT(accepted, count / 50);
  EXPECT_GT(proved, count / 200);
  EXPECT_GT(refusals.size(), 100u);
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
    Outcome outcome = checkIndex(mutant);
    accepted += outcome.accepted;
    std::erase_if(outcome.refusal, [](char c) { return c >= '0' && c <= '9'; });
    if (!outcome.accepted) refusals.insert(outcome.refusal);
    return outcome.violation;
  };
  ASSERT_EQ(firstFault(
                count, [&] { return nextFile<IndexHeader>(mutator); }, faultOf),
            "");
  if (count < 10000) return;
  EXPECT_GT(accepted, count / 100);
  EXPECT_GT(refusals.size(), 30u);
}

}  // namespace
}  // namespace torc::fuzz
