// A library's index: written ones read back and are found by lookups; every kind of damage is
// refused with one clear line.
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "schedules/library/index.h"
#include "schedules/library/index_layout.h"
#include "tests/schedules/format/file_patch.h"
#include "tests/schedules/library/sample_index.h"

namespace torc {
namespace {

using Bytes = std::vector<std::byte>;

std::string indexMessageOf(std::span<const std::byte> bytes) {
  return readLibraryIndex(bytes, "l/index.torc").status().message();
}

/// What `validate` says after a change to `index`.
std::string faultOf(const std::function<void(LibraryIndex&)>& edit,
                    LibraryIndex index = samples::libraryIndex()) {
  edit(index);
  const std::string fault = validate(index).message();
  // The reader says the same of the file.
  EXPECT_EQ(indexMessageOf(writeLibraryIndex(index)),
            fault.empty() ? "" : "l/index.torc: " + fault);
  return fault;
}

Bytes withHeader(const std::function<void(IndexHeader&)>& edit) {
  Bytes bytes = writeLibraryIndex(samples::libraryIndex());
  IndexHeader header = samples::headerOf<IndexHeader>(bytes);
  edit(header);
  std::memcpy(bytes.data(), &header, sizeof(header));
  samples::fixChecksum(bytes);
  return bytes;
}

/// The tuned sample after a byte of a record of `table` is set.
Bytes withByte(IndexTable table, std::size_t number, std::size_t offset, int value) {
  Bytes bytes = writeLibraryIndex(samples::tunedIndex());
  const TableEntry entry =
      samples::headerOf<IndexHeader>(bytes).tables[static_cast<std::size_t>(table)];
  EXPECT_LT(number, entry.count);
  EXPECT_LT(offset, entry.record_size);
  bytes[entry.offset + number * entry.record_size + offset] = static_cast<std::byte>(value);
  samples::fixChecksum(bytes);
  return bytes;
}

Extents extentsOf(std::initializer_list<std::uint32_t> list) {
  Extents extents{};
  std::copy(list.begin(), list.end(), extents.begin());
  return extents;
}

/// Expects what is said after each edit of a record of the tuned sample.
template <typename Record>
struct RecordFault {
  void (*edit)(Record&);
  const char* message;
};
template <typename Record>
void expectFaults(std::vector<Record> LibraryIndex::*table, std::size_t number,
                  std::initializer_list<RecordFault<Record>> faults) {
  for (const auto& [edit, message] : faults)
    EXPECT_EQ(
        faultOf([&](LibraryIndex& index) { edit((index.*table)[number]); }, samples::tunedIndex()),
        message);
}

/// Numbers of a record, `what`, that say nothing: one of its times is `seconds`.
template <typename Record>
void expectReferencesChecked(std::vector<Record> LibraryIndex::*table, std::size_t number,
                             const std::string& what, double Record::*seconds = nullptr) {
  const auto fault = [&](auto edit) {
    return faultOf([&](LibraryIndex& index) { edit((index.*table)[number]); },
                   samples::tunedIndex());
  };
  EXPECT_EQ(fault([](Record& record) { record.shape = 77; }),
            what + ": shape 77 does not exist (there are 12)");
  EXPECT_EQ(fault([](Record& record) { record.collective = Collective{kCollectiveCount}; }),
            what + ": collective 12 is unknown");
  EXPECT_EQ(fault([](Record& record) { record.file = 2; }),
            what + ": file 2 does not exist (there are 2)");
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double no_time : {-1e-6, -0.0, kNan, kInfinity}) {
    if (seconds == nullptr) continue;
    const std::string message = fault([&](Record& record) { record.*seconds = no_time; });
    EXPECT_TRUE(message.starts_with(what) && message.ends_with(" time is no number of seconds"))
        << message;
  }
}

#define INDEX_FAULT(edit, message) EXPECT_EQ(faultOf([&](LibraryIndex& index) { edit; }), message)

TEST(LibraryIndex, ReadsWhatWasWritten) {
  for (const LibraryIndex& index :
       {samples::libraryIndex(), samples::damagedIndex(), samples::tunedIndex(), LibraryIndex()}) {
    ASSERT_EQ(validate(index).message(), "");
    const Bytes bytes = writeLibraryIndex(index);
    const StatusOr<LibraryIndex> read = readLibraryIndex(bytes, "index.torc");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*read, index);
    EXPECT_EQ(writeLibraryIndex(*read), bytes);
  }
}

TEST(LibraryIndex, ReadsFromAnyAddress) {
  const Bytes bytes = writeLibraryIndex(samples::libraryIndex());
  Bytes shifted(bytes.size() + 3);
  std::memcpy(shifted.data() + 3, bytes.data(), bytes.size());
  EXPECT_TRUE(readLibraryIndex(std::span(shifted).subspan(3), "").ok());
}

TEST(LibraryIndex, Paths) {
  EXPECT_EQ(indexPath("a/b"), "a/b/index.torc");
  EXPECT_EQ(manifestPath("a/b"), "a/b/manifest.json");
  EXPECT_EQ(libraryFilePath("a/b", "c.torc"), "a/b/files/c.torc");
}

TEST(LibraryIndex, FindsSubTori) {
  const LibraryIndex index = samples::libraryIndex();
  for (const LibrarySubTorus& sub_torus : index.sub_tori)
    EXPECT_EQ(index.findSubTorus(sub_torus.partition, sub_torus.extents), &sub_torus);
  EXPECT_EQ(index.findSubTorus(1, extentsOf({8, 3})), nullptr);
  EXPECT_EQ(index.findSubTorus(1, extentsOf({1, 1})), nullptr);
  EXPECT_EQ(index.findSubTorus(2, extentsOf({8, 4})), nullptr);
  EXPECT_EQ(index.findSubTorus(1, extentsOf({9, 9})), nullptr);
  EXPECT_EQ(LibraryIndex().findSubTorus(0, {}), nullptr);
}

TEST(LibraryIndex, FindsEntries) {
  LibraryIndex index = samples::libraryIndex();
  const auto found = [&](std::uint32_t shape, Collective collective, std::uint64_t bytes) {
    const LibraryEntry* entry = index.findEntry(shape, collective, bytes);
    return entry == nullptr ? -1 : static_cast<int>(entry - index.entries.data());
  };
  EXPECT_EQ(found(0, Collective::kAllreduce, 0), -1);
  EXPECT_EQ(found(0, Collective::kAllreduce, 1), 0);
  EXPECT_EQ(found(0, Collective::kAllreduce, 4095), 0);
  EXPECT_EQ(found(0, Collective::kAllreduce, 4096), 1);
  EXPECT_EQ(found(0, Collective::kAllreduce, kOpenEnd), 1);
  EXPECT_EQ(found(0, Collective::kReduceScatter, 0), -1);
  EXPECT_EQ(found(0, Collective::kReduceScatter, 1), 2);
  EXPECT_EQ(found(2, Collective::kAllgather, 5000), 4 * kCollectiveCount + 5);
  EXPECT_EQ(found(100, Collective::kAllgather, 5000), -1);
  index.entries[1].highest = index.entries[1].predicted_to = 9000;
  EXPECT_EQ(found(0, Collective::kAllreduce, 9000), 1);
  EXPECT_EQ(found(0, Collective::kAllreduce, 9001), -1);
  index.entries.erase(index.entries.begin());
  EXPECT_EQ(found(0, Collective::kAllreduce, 5), -1);
}

TEST(LibraryIndex, FindsTunedEntriesFirst) {
  LibraryIndex index = samples::tunedIndex();
  const auto found = [&](std::uint32_t shape, Collective collective, std::uint64_t bytes) {
    return index.findEntry(shape, collective, bytes);
  };
  const auto& tuned = index.tuned;
  EXPECT_EQ(found(0, Collective::kAllreduce, 7), &index.entries[0]);
  EXPECT_EQ(found(0, Collective::kAllreduce, 8), &tuned[0]);
  EXPECT_EQ(found(0, Collective::kAllreduce, 1023), &tuned[0]);
  EXPECT_EQ(found(0, Collective::kAllreduce, 1024), &tuned[1]);
  EXPECT_EQ(found(0, Collective::kAllreduce, 65536), &tuned[1]);
  EXPECT_EQ(found(0, Collective::kAllreduce, 65537), &index.entries[1]);
  EXPECT_EQ(found(0, Collective::kReduceScatter, 1024), &index.entries[2]);
  EXPECT_EQ(found(2, Collective::kBroadcast, 0), nullptr);
  EXPECT_EQ(found(2, Collective::kBroadcast, 1), &tuned[2]);
  EXPECT_EQ(found(2, Collective::kBroadcast, kOpenEnd), &tuned[2]);
  // Where nothing was predicted, what was measured serves alone.
  index.entries.clear();
  EXPECT_EQ(found(0, Collective::kAllreduce, 8), &tuned[0]);
  EXPECT_EQ(found(0, Collective::kAllreduce, 7), nullptr);
}

TEST(LibraryIndex, TruncatedAnywhere) {
  const Bytes whole = writeLibraryIndex(samples::tunedIndex());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_FALSE(readLibraryIndex(bytes, "a").ok()) << size;
    samples::fixSizeAndChecksum(bytes);
    ASSERT_FALSE(readLibraryIndex(bytes, "a").ok()) << size << ", mended";
  }
}

TEST(LibraryIndex, AnyFlippedBit) {
  Bytes bytes = writeLibraryIndex(samples::tunedIndex());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_FALSE(readLibraryIndex(bytes, "a").ok()) << "bit " << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(LibraryIndex, NotAnIndex) {
  EXPECT_EQ(indexMessageOf({}), "l/index.torc: file is empty");
  Bytes bytes = writeLibraryIndex(samples::libraryIndex());
  bytes[3] = std::byte{'C'};
  EXPECT_EQ(indexMessageOf(bytes), "l/index.torc: not the index of a torc library");
  bytes = writeLibraryIndex(samples::libraryIndex());
  bytes.erase(bytes.begin() + 4);  // \r\n became \n
  EXPECT_EQ(indexMessageOf(bytes),
            "l/index.torc: 00000000: magic: is damaged, as by a transfer that rewrites line ends");
}

TEST(LibraryIndex, OtherVersions) {
  EXPECT_EQ(indexMessageOf(withHeader([](IndexHeader& header) { header.version = 5; })),
            "l/index.torc: 00000008: index version 5, this torc reads 4: it needs a later torc");
  EXPECT_EQ(indexMessageOf(withHeader([](IndexHeader& header) { header.version = 3; })),
            "l/index.torc: 00000008: index version 3, this torc reads 4: build the library again");
}

TEST(LibraryIndex, Tables) {
  const auto table_fault = [](IndexTable table, const std::function<void(TableEntry&)>& edit) {
    return indexMessageOf(withHeader(
        [&](IndexHeader& header) { edit(header.tables[static_cast<std::size_t>(table)]); }));
  };
  EXPECT_EQ(table_fault(IndexTable::kSubTori, [](TableEntry& table) { table.record_size = 40; }),
            "l/index.torc: 00000080: sub-tori: records have 40 bytes, expected 48");
  EXPECT_EQ(table_fault(IndexTable::kText, [](TableEntry& table) { table.offset = 8; }),
            "l/index.torc: 00000038: text: table starts at 8, expected 272");
  EXPECT_EQ(table_fault(IndexTable::kFiles, [](TableEntry& table) { table.count = 1u << 31; })
                .substr(0, 69),
            "l/index.torc: 000000b0: files: table of 2147483648 records ends at 51");
}

TEST(LibraryIndex, Text) {
  EXPECT_EQ(indexMessageOf(withHeader([](IndexHeader& header) {
              header.machine_length = 1000000;
            })).substr(0, 63),
            "l/index.torc: machine has 1000000 bytes, of which the text has ");
  EXPECT_EQ(indexMessageOf(withHeader([](IndexHeader& header) { header.version_length = 4; })),
            "l/index.torc: text: 1 bytes are left over");
  EXPECT_EQ(indexMessageOf(withHeader([](IndexHeader& header) {
              header.tuned_on_length = 1000000;
            })).substr(0, 69),
            "l/index.torc: job of tuning has 1000000 bytes, of which the text has ");
  EXPECT_EQ(indexMessageOf(withHeader([](IndexHeader& header) { header.tuned_on_length = 1; })),
            "l/index.torc: file 1: name has 35 bytes, of which the text has 34");
  EXPECT_EQ(indexMessageOf(withByte(IndexTable::kTuned, 1, 50, 30)).substr(0, 74),
            "l/index.torc: tuned entry 1: reason has 1966101 bytes, of which the text h");
  INDEX_FAULT(index.tuned_on = "a\nb", "job of tuning: has control characters");
  INDEX_FAULT(index.tuned_on = std::string(4096, 'a'),
              "job of tuning: has 4096 bytes, at most 4095");
  INDEX_FAULT(index.tuned_on = std::string(4095, 'a'), "");
}

TEST(LibraryIndex, Reserved) {
  EXPECT_EQ(indexMessageOf(withHeader([](IndexHeader& header) { header.reserved = 1; })),
            "l/index.torc: 00000034: reserved: is 1, expected 0");
  const struct {
    IndexTable table;
    std::size_t number, offset;
    const char* what;
  } records[] = {{IndexTable::kEntries, 1, 53, "entry 1"},
                 {IndexTable::kTuned, 2, 55, "tuned entry 2"},
                 {IndexTable::kCandidates, 3, 15, "candidate 3"},
                 {IndexTable::kMeasurements, 4, 25, "measurement 4"},
                 {IndexTable::kFiles, 1, 20, "file 1"}};
  for (const auto& [table, number, offset, what] : records) {
    EXPECT_EQ(indexMessageOf(withByte(table, number, offset, 1)),
              std::string("l/index.torc: ") + what + ": reserved is not 0");
  }
}

TEST(LibraryIndex, SubTori) {
  INDEX_FAULT(index.sub_tori[3].shape = 99, "sub-torus 3: shape 99 does not exist (there are 12)");
  INDEX_FAULT(index.sub_tori[3].partition = 2,
              "sub-torus 3: partition 2 does not exist (there are 2)");
  INDEX_FAULT(std::swap(index.sub_tori[3], index.sub_tori[4]),
              "sub-torus 4: is not after sub-torus 3");
  INDEX_FAULT(index.sub_tori[3] = index.sub_tori[2], "sub-torus 3: is not after sub-torus 2");
  INDEX_FAULT(index.sub_tori[0].extents[0] = 5,
              "sub-torus 0: extents are not those of a sub-torus of 4x4x2m+2");
  INDEX_FAULT(index.sub_tori[0].extents[7] = 1,
              "sub-torus 0: extents are not those of a sub-torus of 4x4x2m+2");
  INDEX_FAULT(index.sub_tori[0].axes[7] = 1, "sub-torus 0: axes are not those of extent over 1");
  INDEX_FAULT(index.sub_tori.back().axes[1] = 0,
              "sub-torus 16: axes are not those of extent over 1, cores last");
  INDEX_FAULT(std::swap(index.sub_tori.back().axes[0], index.sub_tori.back().axes[1]),
              "sub-torus 16: is not of shape 11, 8x4");
}

TEST(LibraryIndex, Topologies) {
  INDEX_FAULT(index.partitions[1].topology.axis_count = 9,
              "partition 1: topology: has 9 axes, must have 1 to 8");
  INDEX_FAULT(index.shapes[0].topology.axes[0].size = 0,
              "shape 0: topology: axis 0: size must be at least 1");
}

TEST(LibraryIndex, RecordsReferToWhatThereIs) {
  expectReferencesChecked(&LibraryIndex::entries, 1, "entry 1", &LibraryEntry::highest_s);
  expectReferencesChecked(&LibraryIndex::candidates, 1, "candidate 1");
  expectReferencesChecked(&LibraryIndex::tuned, 1, "tuned entry 1", &LibraryEntry::lowest_s);
  expectReferencesChecked(&LibraryIndex::measurements, 2, "measurement 2",
                          &LibraryMeasurement::seconds);
}

TEST(LibraryIndex, Entries) {
  using Entry = LibraryEntry;
  expectFaults<Entry>(
      &LibraryIndex::entries, 1,
      {{[](Entry& entry) { entry.highest = 4000; }, "entry 1: range from 4096 to 4000 bytes"},
       {[](Entry& entry) { entry.lowest = 4095; }, "entry 1: is not after entry 0"},
       {[](Entry& entry) { entry.highest = 4096; },  // one size is a range
        "entry 1: predicted to 65536 bytes, range from 4096 to 4096"},
       {[](Entry& entry) { entry.predicted_to = 4000; },
        "entry 1: predicted to 4000 bytes, range from 4096 to 18446744073709551615"},
       {[](Entry& entry) { entry.reason = "a\nb"; }, "entry 1: reason: has control characters"},
       // What serves by prediction is a file.
       {[](Entry& entry) { entry.file = kMpisOwn; },
        "entry 1: file 4294967295 does not exist (there are 2)"}});
  INDEX_FAULT(index.entries[2].collective = {}, "entry 2: is not after entry 1");
}

TEST(LibraryIndex, Candidates) {
  using Candidate = LibraryCandidate;
  expectFaults<Candidate>(
      &LibraryIndex::candidates, 1,
      {{[](Candidate& candidate) { candidate.file = kMpisOwn; },
        "candidate 1: file 4294967295 does not exist (there are 2)"},
       {[](Candidate& candidate) { candidate.file = 0; }, "candidate 1: is not after candidate 0"},
       {[](Candidate& candidate) { candidate.shape = 1; }, "candidate 2: is not after candidate 1"},
       {[](Candidate& candidate) { candidate.collective = Collective::kReduce; },
        "candidate 2: is not after candidate 1"}});
}

TEST(LibraryIndex, TunedEntries) {
  using Entry = LibraryEntry;
  expectFaults<Entry>(
      &LibraryIndex::tuned, 1,
      {{[](Entry& entry) { entry.file = kMpisOwn - 1; },
        "tuned entry 1: file 4294967294 does not exist (there are 2)"},
       {[](Entry& entry) { entry.lowest = kNoSize; },
        "tuned entry 1: serves calls whose size is unknown"},
       {[](Entry& entry) { entry.lowest = 1023; }, "tuned entry 1: is not after tuned entry 0"},
       {[](Entry& entry) { entry.shape = 3; }, "tuned entry 2: is not after tuned entry 1"},
       {[](Entry& entry) { entry.lowest = 65537; },
        "tuned entry 1: range from 65537 to 65536 bytes"},
       {[](Entry& entry) { entry.predicted_to = 2048; },
        "tuned entry 1: predicted to 2048 bytes, range from 1024 to 65536"},
       {[](Entry& entry) { entry.reason = std::string(4096, 'a'); },
        "tuned entry 1: reason: has 4096 bytes, at most 4095"}});
}

TEST(LibraryIndex, Measurements) {
  using Measured = LibraryMeasurement;
  expectFaults<Measured>(
      &LibraryIndex::measurements, 2,
      {{[](Measured& measured) { measured.file = 1; }, "measurement 2: is not after measurement 1"},
       {[](Measured& measured) { measured.bytes = 4; },
        "measurement 2: is not after measurement 1"},
       {[](Measured& measured) { measured.bytes = 2048; },
        "measurement 3: is not after measurement 2"}});
}

TEST(LibraryIndex, Files) {
  const auto name_fault = [](const std::string& name) {
    return faultOf([&](LibraryIndex& index) { index.files[0].name = name; });
  };
  EXPECT_EQ(name_fault(""), "file 0: name: is empty");
  EXPECT_EQ(name_fault("../x"),
            "file 0: name: has characters other than letters, digits and - _ + .");
  EXPECT_EQ(name_fault("a b"),
            "file 0: name: has characters other than letters, digits and - _ + .");
  EXPECT_EQ(name_fault(".."), "file 0: name: begins with a dot or has two in a row");
  EXPECT_EQ(name_fault(".a"), "file 0: name: begins with a dot or has two in a row");
  EXPECT_EQ(name_fault(std::string(256, 'a')), "file 0: name: has 256 bytes, at most 255");
  EXPECT_EQ(name_fault("z.torc"), "file 1: is not after file 0");
  INDEX_FAULT(index.files[1].bytes = 0, "file 1: has 0 bytes, 1 to 1073741824 are possible");
  INDEX_FAULT(index.machine = "a\tb", "machine: has control characters");
}

TEST(SubTorusTopology, EqualOnesShareATopology) {
  const Topology partition = *parseTopology("4x8x4");
  const auto topology = [&](std::initializer_list<std::uint32_t> list) {
    const Extents extents = extentsOf(list);
    return subTorusTopology(partition, extents, canonicalAxes(partition, extents));
  };
  EXPECT_EQ(topology({4, 8, 1}), topology({1, 8, 4}));
  EXPECT_EQ(topology({4, 8, 1}).shape(), "8x4");
  EXPECT_EQ(topology({4, 1, 1}), topology({1, 1, 4}));
  EXPECT_EQ(topology({1, 4, 1}).shape(), "4m");
  EXPECT_EQ(topology({4, 4, 1}).shape(), "4x4m");
  EXPECT_EQ(topology({4, 8, 4}).shape(), "8x4x4");
  EXPECT_EQ(topology({4, 8, 4}).orderString(), "XYZ");
  EXPECT_NE(topology({4, 1, 1}), topology({1, 4, 1}));
}

TEST(LibraryIndex, WhatAScheduleMustBeToServeAnEntry) {
  LibraryIndex index;
  index.shapes = {{*parseTopology("4x4")}};
  LibraryEntry entry;
  entry.collective = Collective::kAlltoall;
  entry.lowest = 1;
  const Frame frame{};
  ScheduleView schedule;
  schedule.collective = Collective::kAlltoall;
  schedule.topology = index.shapes[0].topology;
  schedule.frames = {&frame, 1};  // it forwards
  EXPECT_EQ(checkServes(index, entry, schedule).message(), "");

  entry.lowest = entry.highest = kNoSize;
  EXPECT_EQ(checkServes(index, entry, schedule).message(),
            "forwards blocks, the index gives it to calls whose counts differ from pair to pair");
  schedule.frames = {};
  EXPECT_EQ(checkServes(index, entry, schedule).message(), "");

  entry.collective = schedule.collective = Collective::kAllreduce;
  EXPECT_EQ(checkServes(index, entry, schedule).message(),
            "promises no ordered sums, the index gives it to operations that do not commute");
  schedule.flags = kOrderedSums;
  EXPECT_EQ(checkServes(index, entry, schedule).message(), "");
  entry.highest = 64;  // calls without data among others
  schedule.flags = 0;
  EXPECT_EQ(checkServes(index, entry, schedule).message(), "");
  schedule.collective = Collective::kAllgather;
  EXPECT_EQ(checkServes(index, entry, schedule).message(),
            "is one for allgather on 4x4, the index says allreduce on 4x4");
  entry.collective = Collective::kGather;  // of which an allgather is the rootless form
  EXPECT_EQ(checkServes(index, entry, schedule).message(), "");
  entry.collective = schedule.collective = Collective::kAllreduce;
  schedule.topology = *parseTopology("4x4m");
  EXPECT_EQ(checkServes(index, entry, schedule).message(),
            "is one for allreduce on 4x4m, the index says allreduce on 4x4");
}

TEST(SubTorusTopology, LinksOfOtherSpeedMakeAnotherTopology) {
  Topology partition = *parseTopology("4x4+2");
  partition.axes[1].bandwidth = 0.5;
  const auto axes = canonicalAxes(partition, extentsOf({4, 4, 2}));
  EXPECT_EQ(axes, (SubTorusAxes{0, 1, 2}));
  const Topology x = subTorusTopology(partition, extentsOf({4, 1, 1}), {0});
  const Topology y = subTorusTopology(partition, extentsOf({1, 4, 1}), {1});
  EXPECT_NE(x, y);
  EXPECT_EQ(y.axes[0].bandwidth, 0.5);
  partition.axes[0].bandwidth = 0.25;
  EXPECT_EQ(canonicalAxes(partition, extentsOf({4, 4, 2})), (SubTorusAxes{1, 0, 2}));
}

TEST(SubTorusTopology, DamageTurnsWithThePartition) {
  const LibraryIndex index = samples::damagedIndex();
  const Topology& shape = index.shapes[index.sub_tori.back().shape].topology;
  EXPECT_EQ(shape.shape(), "4x4x2");  // 2x4x4 turned: Y, Z, X
  ASSERT_EQ(shape.dead_link_count, 1);
  EXPECT_EQ(shape.deadLinks()[0], (DeadLink{{0, 2, 1}, 0}));
  ASSERT_EQ(shape.dead_node_count, 1);
  EXPECT_EQ(shape.deadNodes()[0], (Coordinates{3, 1, 0}));
  for (std::size_t i = 0; i + 1 < index.sub_tori.size(); ++i)
    EXPECT_FALSE(index.shapes[index.sub_tori[i].shape].topology.isDamaged());
}

TEST(SubTorusTopology, HasSeveralNodes) {
  const Topology partition = *parseTopology("4x4+2");
  EXPECT_TRUE(isSubTorus(partition, extentsOf({4, 1, 1})));
  EXPECT_FALSE(isSubTorus(partition, extentsOf({1, 1, 2})));
  EXPECT_FALSE(isSubTorus(partition, extentsOf({1, 1, 1})));
  EXPECT_FALSE(isSubTorus(partition, extentsOf({4, 4})));
  EXPECT_FALSE(isSubTorus(partition, extentsOf({4, 5, 1})));
}

}  // namespace
}  // namespace torc
