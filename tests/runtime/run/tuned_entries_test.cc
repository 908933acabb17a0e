// Entries of a tuned library from measurements.
#include "runtime/run/tuned_entries.h"

#include <gtest/gtest.h>

#include "tests/schedules/library/sample_index.h"

namespace torc::runtime {
namespace {

constexpr std::uint32_t kShape =
    1;  // whose entries are of file 1 up to 4095 bytes, of file 0 above
constexpr std::uint64_t kAsked = 65536;

struct Measured {
  std::uint64_t bytes;
  std::uint32_t file;
  double ms;
};

std::vector<LibraryEntry> entriesFor(std::vector<Measured> measured, std::uint64_t asked = kAsked) {
  LibraryIndex index = samples::libraryIndex();
  index.tuned.clear();
  index.measurements.clear();
  for (const Measured& one : measured) {
    index.measurements.push_back(
        {kShape, Collective::kAllgather, one.bytes, one.file, 1e-3 * one.ms});
  }
  index.tuned = tunedEntries(index, index.measurements, asked);
  EXPECT_EQ(validate(index).message(), "");
  return index.tuned;
}

std::vector<std::uint32_t> filesOf(const std::vector<LibraryEntry>& entries) {
  std::vector<std::uint32_t> files;
  for (const LibraryEntry& entry : entries)
    files.push_back(entry.file);
  return files;
}

TEST(TunedEntries, TheFastestServesBordersAreBetweenSizes) {
  const auto entries = entriesFor({{16, 0, 9},
                                   {16, 1, 5},
                                   {16, kMpisOwn, 2},
                                   {1024, 0, 9},
                                   {1024, 1, 5},
                                   {1024, kMpisOwn, 6},
                                   {65536, 0, 9},
                                   {65536, 1, 15},
                                   {65536, kMpisOwn, 16}});
  EXPECT_EQ(filesOf(entries), (std::vector<std::uint32_t>{kMpisOwn, 1, 0}));
  EXPECT_EQ(entries[0].lowest, 1u);
  EXPECT_EQ(entries[0].highest, 128u);  // sqrt(16 * 1024)
  EXPECT_EQ(entries[1].lowest, 129u);
  EXPECT_EQ(entries[1].highest, 8192u);
  EXPECT_EQ(entries[2].highest, kOpenEnd);
  EXPECT_EQ(entries[2].predicted_to, 65536u);
  EXPECT_EQ(entries[1].lowest_s, 1e-3 * 5);
  EXPECT_EQ(entries[0].reason,
            "measured 2000.00 us at 16; the next, allreduce-4x4-fedcba9876543210.torc, 5000.00 us");
  EXPECT_EQ(
      entries[2].reason,
      "measured 9000.00 us at 65536; the next, allreduce-4x4-fedcba9876543210.torc, 15000.00 us; "
      "MPI's own 16000.00 us");
}

TEST(TunedEntries, WhatIsAsFastStays) {
  // The index's own choice, within 3 %.
  EXPECT_EQ(filesOf(entriesFor({{16, 0, 5.0}, {16, 1, 5.1}, {16, kMpisOwn, 5.05}})),
            std::vector<std::uint32_t>{1});
  EXPECT_EQ(filesOf(entriesFor({{16, 0, 5.0}, {16, 1, 5.2}, {16, kMpisOwn, 4.9}})),
            std::vector<std::uint32_t>{0});
  EXPECT_EQ(filesOf(entriesFor({{16, 0, 5.0}, {16, 1, 5.2}, {16, kMpisOwn, 4.8}})),
            std::vector<std::uint32_t>{kMpisOwn});
  // What serves the size below.
  EXPECT_EQ(filesOf(entriesFor({{16, 0, 4}, {16, 1, 9}, {64, 0, 5}, {64, kMpisOwn, 4.9}})),
            std::vector<std::uint32_t>{0});
  EXPECT_EQ(filesOf(entriesFor({{16, 0, 9}, {16, kMpisOwn, 4}, {64, 0, 5}, {64, kMpisOwn, 5.1}})),
            std::vector<std::uint32_t>{kMpisOwn});
}

// A program's call is handed back to MPI, which costs more than the function that was measured.
TEST(TunedEntries, ShortCallsOfMpisCountForMore) {
  EXPECT_EQ(filesOf(entriesFor({{16, 0, 0.65e-3}, {16, kMpisOwn, 0.5e-3}})),
            std::vector<std::uint32_t>{kMpisOwn});
  EXPECT_EQ(filesOf(entriesFor({{16, 0, 0.59e-3}, {16, kMpisOwn, 0.5e-3}})),
            std::vector<std::uint32_t>{0});
}

TEST(TunedEntries, EndWhereTimeWasOver) {
  const auto entries = entriesFor({{16, 0, 5}, {16, kMpisOwn, 7}, {64, 0, 5}, {64, kMpisOwn, 7}});
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].highest, 64u);
  EXPECT_EQ(entries[0].predicted_to, 64u);
  EXPECT_EQ(entriesFor({{16, 0, 5}, {64, 0, 5}}, 64)[0].highest, kOpenEnd);
}

TEST(TunedEntries, MpisOwnAloneIsMpis) {
  EXPECT_EQ(filesOf(entriesFor({{64, kMpisOwn, 7}})), std::vector<std::uint32_t>{kMpisOwn});
  EXPECT_TRUE(entriesFor({}).empty());
}

}  // namespace
}  // namespace torc::runtime
