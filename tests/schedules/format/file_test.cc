// Schedule files: written ones read back and give the same bytes; every kind of damage is refused
// with one clear line. Malformed files are edits of a sound one.
#include "schedules/format/file.h"

#include <cstring>
#include <functional>
#include <string_view>

#include <gtest/gtest.h>

#include "schedules/format/file_layout.h"
#include "tests/schedules/format/file_patch.h"
#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

using Bytes = std::vector<std::byte>;

Bytes sampleFile() {
  return writeSchedule(samples::ringAllreduce(4).view());
}

std::string messageOf(const Bytes& file) {
  return readSchedule(file, "a.torc").status().message();
}

Bytes bytesOf(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// The message after a change to the header, with the checksum made to fit.
std::string headerFault(const std::function<void(FileHeader&)>& edit) {
  Bytes file = sampleFile();
  FileHeader header = samples::headerOf(file);
  edit(header);
  samples::setHeader(file, header);
  samples::fixChecksum(file);
  return messageOf(file);
}

/// The message after a change to the entry of a table.
std::string tableFault(TableKind kind, const std::function<void(TableEntry&)>& edit) {
  return headerFault(
      [&](FileHeader& header) { edit(header.tables[static_cast<std::size_t>(kind)]); });
}

TEST(File, ReadsWhatWasWritten) {
  for (const Schedule& schedule : samples::all()) {
    const Bytes file = writeSchedule(schedule.view());
    const StatusOr<LoadedSchedule> loaded = readSchedule(file, "a.torc");
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_TRUE(loaded->view() == schedule.view());
    EXPECT_EQ(loaded->bytes(), file.size());
    EXPECT_EQ(writeSchedule(loaded->view()), file);
  }
}

TEST(File, ReadsFromAnyAddress) {
  const Bytes file = sampleFile();
  Bytes shifted(file.size() + 3);
  std::memcpy(shifted.data() + 3, file.data(), file.size());
  const auto loaded = readSchedule(std::span(shifted).subspan(3), "a.torc");
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(writeSchedule(loaded->view()), file);
}

TEST(File, ViewStaysValidWhenTheScheduleMoves) {
  const Schedule schedule = samples::ringAllreduce(4);
  StatusOr<LoadedSchedule> loaded = readSchedule(writeSchedule(schedule.view()), "a.torc");
  ASSERT_TRUE(loaded.ok());
  const LoadedSchedule moved = std::move(*loaded);
  EXPECT_TRUE(moved.view() == schedule.view());
}

TEST(File, TablesLieAtMultiplesOfEight) {
  const FileHeader header = samples::headerOf(sampleFile());
  std::uint64_t next = sizeof(FileHeader);
  for (const TableEntry& table : header.tables) {
    EXPECT_EQ(table.offset % 8, 0u);
    EXPECT_EQ(table.offset, next);
    next = alignedUp(table.offset + table.count * table.record_size);
  }
  EXPECT_EQ(next, header.file_size);
}

/// The bytes are a contract: a change of this value is a change of the format, and needs a new
/// format version.
TEST(File, FormatIsStable) {
  EXPECT_EQ(samples::headerOf(sampleFile()).checksum, 13844105877908448525u);
}

TEST(File, IsScheduleFile) {
  EXPECT_TRUE(isScheduleFile(sampleFile()));
  EXPECT_TRUE(isScheduleFile(bytesOf("TORC\n")));
  EXPECT_FALSE(isScheduleFile(bytesOf("TOR")));
  EXPECT_FALSE(isScheduleFile(bytesOf("{\"torc\"")));
  EXPECT_FALSE(isScheduleFile({}));
}

TEST(File, NotAScheduleFile) {
  EXPECT_EQ(messageOf({}), "a.torc: file is empty");
  EXPECT_EQ(messageOf(bytesOf("TOR")), "a.torc: not a torc schedule file");
  EXPECT_EQ(messageOf(bytesOf("schedule @allreduce {")), "a.torc: not a torc schedule file");
  EXPECT_EQ(readSchedule(bytesOf("x"), "a.torc").status().code(), StatusCode::kMalformed);
}

TEST(File, TextTransfer) {
  Bytes file = sampleFile();
  file.erase(file.begin() + 4);  // \r\n became \n
  EXPECT_EQ(messageOf(file),
            "a.torc: 00000000: magic: is damaged, as by a transfer that rewrites line ends");
}

TEST(File, TruncatedAnywhere) {
  const Bytes whole = sampleFile();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes file(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const std::string length = std::to_string(size);
    std::string expected = "a.torc: 00000010: file size: file has " + length +
                           " bytes, header says " + std::to_string(whole.size());
    if (size == 0) {
      expected = "a.torc: file is empty";
    } else if (size < 4) {
      expected = "a.torc: not a torc schedule file";
    } else if (size < 8) {
      expected = "a.torc: 00000000: magic: ends at 8, file has " + length + " bytes";
    } else if (size < 12) {
      expected = "a.torc: 00000008: format version: ends at 12, file has " + length + " bytes";
    } else if (size < 16) {
      expected = "a.torc: 0000000c: header size: ends at 16, file has " + length + " bytes";
    } else if (size < 24) {
      expected = "a.torc: 00000010: file size: ends at 24, file has " + length + " bytes";
    }
    ASSERT_EQ(messageOf(file), expected);
  }
}

TEST(File, Extended) {
  Bytes file = sampleFile();
  const std::string size = std::to_string(file.size());
  file.resize(file.size() + 8);
  EXPECT_EQ(messageOf(file), "a.torc: 00000010: file size: file has " +
                                 std::to_string(file.size()) + " bytes, header says " + size);
  samples::fixSizeAndChecksum(file);
  EXPECT_EQ(messageOf(file), "a.torc: 00000cf8: tables end at " + size + ", file has " +
                                 std::to_string(file.size()) + " bytes");
}

/// Truncation that fits the size in the header runs into the table that it cut.
TEST(File, TruncatedWithFittingSize) {
  Bytes file = sampleFile();
  file.resize(file.size() - 8);
  samples::fixSizeAndChecksum(file);
  EXPECT_EQ(messageOf(file),
            "a.torc: 00000680: dependences: table of 28 records ends at 3320, file has 3312 bytes");
  file.resize(40);
  samples::fixSizeAndChecksum(file);
  EXPECT_EQ(messageOf(file), "a.torc: 00000028: slot count: ends at 44, file has 40 bytes");
  file.resize(32);
  samples::fixSizeAndChecksum(file);
  EXPECT_EQ(messageOf(file), "a.torc: 00000020: collective: ends at 33, file has 32 bytes");
}

TEST(File, OtherVersions) {
  EXPECT_EQ(headerFault([](FileHeader& header) { header.version = 10; }),
            "a.torc: 00000008: format version 10, this torc reads 9: it needs a later torc");
  EXPECT_EQ(headerFault([](FileHeader& header) { header.version = 7; }),
            "a.torc: 00000008: format version 7, this torc reads 8: compile it again");
}

/// A schedule on a graph is of a version of its own, with a table more.
Schedule graphSchedule() {
  Schedule schedule = samples::all().front();
  for (Axis& axis : schedule.topology.axes)
    axis = {.size = axis.size, .name = axis.name};
  schedule.flags &= ~std::uint32_t{kConflictFreePhases};
  schedule.links = {{0, 1, 5e10, 5e-7}, {1, 0, 1e9, 0}};
  return schedule;
}

TEST(File, GraphsAreOfTheNextVersion) {
  const Schedule schedule = graphSchedule();
  Bytes file = writeSchedule(schedule.view());
  EXPECT_EQ(file[8], std::byte{9});
  const StatusOr<LoadedSchedule> loaded = readSchedule(file, "a.torc");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_TRUE(loaded->view() == schedule.view());
  EXPECT_EQ(writeSchedule(loaded->view()), file);
  for (std::size_t size = 16; size < file.size(); size += 7) {
    Bytes torn(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(messageOf(torn), "");
    samples::fixSizeAndChecksum(torn);
    EXPECT_NE(messageOf(torn), "");
  }
  for (std::size_t i = 32; i < file.size(); ++i) {
    Bytes damaged = file;
    damaged[i] ^= std::byte{1};
    EXPECT_NE(messageOf(damaged), "") << i;
  }
  file[8] = std::byte{8};
  EXPECT_EQ(messageOf(file), "a.torc: 0000000c: header size: is 1712, expected 1688");
}

/// A later version may change all that follows: it is recognised before anything else is read.
TEST(File, LaterVersionOfAnotherShape) {
  Bytes file = sampleFile();
  file[8] = std::byte{10};
  file.resize(16);
  EXPECT_EQ(messageOf(file),
            "a.torc: 00000008: format version 10, this torc reads 9: it needs a later torc");
}

TEST(File, AnyFlippedBit) {
  const Bytes sound = sampleFile();
  for (std::size_t bit = 0; bit < sound.size() * 8; ++bit) {
    Bytes file = sound;
    file[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_FALSE(readSchedule(file, "a.torc").ok()) << "bit " << bit;
  }
}

TEST(File, Checksum) {
  Bytes file = sampleFile();
  FileHeader header = samples::headerOf(file);
  const std::uint64_t sound = header.checksum;
  header.checksum = 0x12;
  samples::setHeader(file, header);
  char expected[200];
  std::snprintf(expected, sizeof(expected),
                "a.torc: 00000018: checksum: header says 0000000000000012, content %016llx: "
                "damaged",
                static_cast<unsigned long long>(sound));
  EXPECT_EQ(messageOf(file), expected);
}

TEST(File, HeaderFields) {
  EXPECT_EQ(headerFault([](FileHeader& header) { header.header_size = 480; }),
            "a.torc: 0000000c: header size: is 480, expected 1688");
  EXPECT_EQ(headerFault([](FileHeader& header) { header.file_size = ~std::uint64_t{0}; }),
            "a.torc: 00000010: file size: file has 3320 bytes, header says 18446744073709551615");
  EXPECT_EQ(headerFault([](FileHeader& header) { header.reserved[1] = 1; }),
            "a.torc: 00000021: reserved: is not 0");
  EXPECT_EQ(headerFault([](FileHeader& header) { header.table_count = 15; }),
            "a.torc: 00000034: table count: is 15, expected 14");
}

TEST(File, UnknownEnumValues) {
  EXPECT_EQ(
      headerFault([](FileHeader& header) { header.collective = static_cast<Collective>(12); }),
      "a.torc: collective 12 is unknown");
  EXPECT_EQ(headerFault([](FileHeader& header) {
              header.topology.axes[0].kind = static_cast<AxisKind>(77);
            }),
            "a.torc: topology: axis 0: unknown kind");
}

TEST(File, TableEntries) {
  EXPECT_EQ(tableFault(TableKind::kOperations, [](TableEntry& table) { table.kind = 7; }),
            "a.torc: 00000668: operations: table kind is 7, expected 12");
  EXPECT_EQ(tableFault(TableKind::kOperations, [](TableEntry& table) { table.record_size = 80; }),
            "a.torc: 00000668: operations: records have 80 bytes, expected 72");
}

TEST(File, TablesOutOfPlace) {
  const std::uint64_t boxes =
      samples::headerOf(sampleFile()).tables[static_cast<std::size_t>(TableKind::kBoxes)].offset;
  const std::string expected = ", expected " + std::to_string(boxes);
  const auto offset_fault = [](std::uint64_t offset) {
    return tableFault(TableKind::kBoxes, [&](TableEntry& table) { table.offset = offset; });
  };
  EXPECT_EQ(offset_fault(0), "a.torc: 000005a8: boxes: table starts at 0" + expected);
  EXPECT_EQ(offset_fault(boxes - 8),
            "a.torc: 000005a8: boxes: table starts at " + std::to_string(boxes - 8) + expected);
  EXPECT_EQ(offset_fault(boxes + 1),
            "a.torc: 000005a8: boxes: table starts at " + std::to_string(boxes + 1) + expected);
  EXPECT_EQ(offset_fault(~std::uint64_t{7}),
            "a.torc: 000005a8: boxes: table starts at 18446744073709551608" + expected);
}

TEST(File, TableCounts) {
  const auto count_fault = [](TableKind kind, std::uint64_t count) {
    return tableFault(kind, [&](TableEntry& table) { table.count = count; });
  };
  EXPECT_EQ(count_fault(TableKind::kOperations, 3000),
            "a.torc: 00000668: operations: table of 3000 records ends at 218344, file has 3320 "
            "bytes");
  EXPECT_EQ(count_fault(TableKind::kOperations, 0xffffffffu),
            "a.torc: 00000668: operations: table of 4294967295 records ends at 309237647584, file "
            "has 3320 bytes");
  // 72 * count = 16 modulo 2^64
  EXPECT_EQ(count_fault(TableKind::kOperations, 2049638230412172402u),
            "a.torc: 00000668: operations: table has 2049638230412172402 records, at most "
            "4294967295");
  EXPECT_EQ(count_fault(TableKind::kDependences, ~std::uint64_t{0}),
            "a.torc: 00000680: dependences: table has 18446744073709551615 records, at most "
            "4294967295");
  // One less leaves bytes that belong to no table.
  EXPECT_EQ(count_fault(TableKind::kDependences, 26),
            "a.torc: 00000cf0: tables end at 3312, file has 3320 bytes");
}

TEST(File, PaddingIsZero) {
  Bytes file = sampleFile();
  const FileHeader header = samples::headerOf(file);
  const TableEntry& name = header.tables[static_cast<std::size_t>(TableKind::kName)];
  ASSERT_EQ(name.count, 9u);  // "allreduce"
  file[name.offset + name.count + 2] = std::byte{1};
  samples::fixChecksum(file);
  EXPECT_EQ(messageOf(file), "a.torc: 000006a1: name: padding is not 0");
}

TEST(File, FaultsOfTheSchedule) {
  Bytes file = sampleFile();
  const FileHeader header = samples::headerOf(file);
  const std::uint64_t operations =
      header.tables[static_cast<std::size_t>(TableKind::kOperations)].offset;
  Operation operation;
  std::byte* place = file.data() + operations + 3 * sizeof(Operation);
  std::memcpy(&operation, place, sizeof(operation));
  operation.stream = 9;
  std::memcpy(place, &operation, sizeof(operation));
  samples::fixChecksum(file);
  EXPECT_EQ(messageOf(file), "a.torc: operation 3: stream 9 does not exist (schedule has 1)");
}

/// A writer does not check; the reader does, so that what is unsound does not pass through a file.
TEST(File, UnsoundSchedulesDoNotReadBack) {
  Schedule schedule = samples::ringAllreduce(4);
  schedule.name = "no good";
  EXPECT_EQ(messageOf(writeSchedule(schedule.view())),
            "a.torc: name: may have letters, digits, _, . and - only");
}

}  // namespace
}  // namespace torc
