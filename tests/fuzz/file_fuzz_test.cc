// 25,000 mutated schedule files through the reader: none crashes or hangs it, what is accepted is
// canonical and safe to expand and run (tests/fuzz/checked_file.h). Half of the mutants get a size
// and checksum that fit, so that they reach the checks behind them.
//
//   TORC_FUZZ_MUTANTS=1000000 TORC_FUZZ_SEED=7 bazel-bin/tests/fuzz/file_fuzz_test
#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "schedules/format/file.h"
#include "tests/fuzz/checked_file.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/sample_programs.h"
#include "tests/schedules/format/file_patch.h"
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

/// Exchanges two records of a table, or copies one over another: sound records in other places.
void mixRecords(Bytes& file, Random& random) {
  const FileHeader header = samples::headerOf(file);
  const TableEntry& table = header.tables[random.below(kTableCount)];
  if (table.count == 0) return;
  std::byte* const records = file.data() + table.offset;
  std::byte* const one = records + random.below(table.count) * table.record_size;
  std::byte* const other = records + random.below(table.count) * table.record_size;
  if (random.oneIn(2)) {
    std::swap_ranges(one, one + table.record_size, other);
  } else if (one != other) {
    std::copy_n(one, table.record_size, other);
  }
}

/// Changes a field of one record: most reach the validation, and some pass it.
void changeRecord(Bytes& file, Mutator& mutator) {
  const FileHeader header = samples::headerOf(file);
  const TableEntry& table = header.tables[mutator.random().below(kTableCount)];
  if (table.count == 0) return;
  const auto begin =
      file.begin() + static_cast<std::ptrdiff_t>(
                         table.offset + mutator.random().below(table.count) * table.record_size);
  Bytes record(begin, begin + static_cast<std::ptrdiff_t>(table.record_size));
  mutator.changeInteger(record);
  std::ranges::copy(record, begin);
}

Bytes nextFile(Mutator& mutator) {
  Random& random = mutator.random();
  if (random.oneIn(2)) {
    Bytes file = mutator.next();
    if (random.oneIn(2)) samples::fixSizeAndChecksum(file);
    return file;
  }
  Bytes file = mutator.pick();
  for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
    switch (random.below(3)) {
      case 0:
        mixRecords(file, random);
        break;
      case 1:
        changeRecord(file, mutator);
        break;
      default:
        mutator.changeInteger(file);
        changes = 1;  // the directory may have changed, and records are found through it
    }
  }
  if (!random.oneIn(4)) samples::fixChecksum(file);
  return file;
}

TEST(FileFuzz, SamplesAreProved) {
  std::size_t proved = 0;
  for (const Bytes& file : sampleFiles()) {
    const FileOutcome outcome = checkFile(file);
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
    const FileOutcome outcome = checkFile(mutant);
    accepted += outcome.accepted;
    proved += outcome.proved;
    if (!outcome.accepted) refusals.insert(kindOf(outcome.refusal));
    return outcome.violation;
  };
  ASSERT_EQ(firstFault(
                count, [&] { return nextFile(mutator); }, faultOf),
            "");
  if (count < 10000) return;
  // The mutants are of use: many pass the reader, and its checks are reached.
  EXPECT_GT(accepted, count / 50);
  EXPECT_GT(proved, count / 200);
  EXPECT_GT(refusals.size(), 100u);
}

}  // namespace
}  // namespace torc::fuzz
