// Plans of libraries: their sub-tori and shapes, and the machines of sub-tori. Manifests: their
// keys, and their agreement with an index. User-defined schedules in a library. Remaining ranges
// after others have taken some sizes.
#include <cstdint>
#include <filesystem>
#include <set>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/ADT/STLExtras.h>
#include <nlohmann/json.hpp>

#include "compiler/library/add.h"
#include "compiler/library/build.h"
#include "compiler/library/library_shapes.h"
#include "compiler/library/manifest.h"
#include "compiler/library/own_schedule.h"
#include "compiler/library/served_range.h"
#include "compiler/progress_line.h"
#include "compiler/target.h"
#include "schedules/format/file.h"
#include "tests/compiler/library/found_ranges.h"
#include "tests/ir/json/schema_keys.h"

namespace torc::compiler {
namespace {

Extents extentsOf(std::initializer_list<std::uint32_t> list) {
  Extents extents{};
  std::copy(list.begin(), list.end(), extents.begin());
  return extents;
}

TEST(LibraryShapes, ToriAreCombinationsOfWholeAxes) {
  const LibraryShapes plan = cantFail(libraryShapes(target("8x4x8+2"), SubToriKind::kWholeAxes));
  EXPECT_EQ(plan.sub_tori.size(), 14u);  // 7 sets of dimensions, one core or both
  std::set<std::string> shapes;
  std::uint32_t sub_tori = 0;
  for (const PlannedShape& shape : plan.shapes) {
    shapes.insert(shape.topology.shape());
    sub_tori += shape.sub_tori;
    // Schedules for the topology are simulated on this machine.
    EXPECT_EQ(model::shapeOf(shape.machine), shape.topology.shape());
  }
  EXPECT_EQ(sub_tori, plan.sub_tori.size());
  EXPECT_EQ(shapes, (std::set<std::string>{"8", "4", "8x4", "8x8", "8x8x4", "8+2", "4+2", "8x4+2",
                                           "8x8+2", "8x8x4+2"}));
}

TEST(LibraryShapes, IsAnIndex) {
  for (const SubToriKind kind : {SubToriKind::kWholeAxes, SubToriKind::kAll}) {
    for (const char* shape : {"3x4m+2", "2x2x2", "5", "1x4x1x3"}) {
      const LibraryShapes plan = cantFail(libraryShapes(target(shape), kind));
      LibraryIndex index;
      index.partitions = plan.partitions;
      for (const PlannedShape& planned : plan.shapes)
        index.shapes.push_back({planned.topology});
      index.sub_tori = plan.sub_tori;
      EXPECT_EQ(validate(index).message(), "") << shape;
    }
  }
}

TEST(LibraryShapes, BoxesHaveAllExtents) {
  const LibraryShapes plan = cantFail(libraryShapes(target("3x4m"), SubToriKind::kAll));
  EXPECT_EQ(plan.sub_tori.size(), 11u);
  std::set<std::string> shapes;
  for (const PlannedShape& shape : plan.shapes)
    shapes.insert(shape.topology.shape());
  // 3mx2m is 2x3m turned. Lines of one length are one shape, whatever they are lines of.
  EXPECT_EQ(shapes, (std::set<std::string>{"2m", "3", "3m", "4m", "2mx2m", "3x2m", "3mx2m", "3x3m",
                                           "4mx2m", "4mx3"}));
}

TEST(LibraryShapes, PartitionsShareShapes) {
  const LibraryShapes plan =
      cantFail(libraryShapes({target("4x4"), target("4x8")}, SubToriKind::kWholeAxes));
  EXPECT_EQ(plan.sub_tori.size(), 6u);
  EXPECT_EQ(plan.shapes.size(), 4u);  // 4, 4x4, 8, 8x4
}

TEST(LibraryShapes, LinksOfOtherSpeedAreOtherShapes) {
  Target slow = target("4x4");
  slow.machine.dimensions[1].bandwidth /= 2;
  slow.topology = cantFail(model::topologyOf(slow.machine));
  const LibraryShapes plan = cantFail(libraryShapes(slow, SubToriKind::kWholeAxes));
  EXPECT_EQ(plan.shapes.size(), 3u);
  // Alone on its machine a line is the fastest; its topology says so, and still there are two.
  Target line = slow;
  line.machine.dimensions = {slow.machine.dimensions[1]};
  line.topology = cantFail(model::topologyOf(line.machine));
  EXPECT_EQ(line.topology.axes[0].bandwidth, 1.0);
  EXPECT_EQ(cantFail(libraryShapes({slow, line}, SubToriKind::kWholeAxes)).shapes.size(), 4u);
}

/// A sub-torus's links are as fast as they are in the partition, whatever sets their speed.
TEST(LibraryShapes, SubToriKeepTheSpeedOfTheirLinks) {
  Target whole = target("4x4x2");
  whole.machine.dimensions[0].bandwidth *= 4;
  for (const double gap : {0.0, 1e-9}) {
    whole.machine.gap = gap;
    whole.topology = cantFail(model::topologyOf(whole.machine));
    const Extents extents = extentsOf({1, 4, 2});
    const SubTorusAxes axes = canonicalAxes(whole.topology, extents);
    const model::Machine sub_torus = subTorusMachine(whole, extents, axes);
    ASSERT_EQ(sub_torus.dimensions.size(), 2u);
    EXPECT_DOUBLE_EQ(sub_torus.linkBandwidth(0), whole.machine.linkBandwidth(1));
    EXPECT_DOUBLE_EQ(sub_torus.linkBandwidth(1), whole.machine.linkBandwidth(2));
    // Half of a ring of four is a line of two: one cable.
    const model::Machine half = subTorusMachine(whole, extentsOf({1, 2, 1}), {1});
    EXPECT_EQ(model::shapeOf(half), "2m");
    EXPECT_DOUBLE_EQ(half.linkBandwidth(0), whole.machine.linkBandwidth(1));
  }
}

TEST(LibraryShapes, Refusals) {
  const auto refusal = [](llvm::ArrayRef<Target> targets) {
    return toString(libraryShapes(targets, SubToriKind::kWholeAxes).takeError());
  };
  EXPECT_EQ(refusal(target("1x1+4")), "partition 1x1+4 has one node, there is nothing to schedule");
  EXPECT_EQ(refusal({target("4"), target("4")}), "partition 4 is there twice");
}

using json = nlohmann::json;

/// A library of a damaged partition and its shapes, without choices.
LibraryIndex indexFor(const LibraryShapes& plan) {
  LibraryIndex index;
  index.machine = "generic";
  index.version = "1.2.3";
  index.partitions = plan.partitions;
  for (const PlannedShape& planned : plan.shapes)
    index.shapes.push_back({planned.topology});
  index.sub_tori = plan.sub_tori;
  return index;
}

TEST(Manifest, SchemaKnowsTheKeys) {
  Target damaged = target("3x3");
  ASSERT_FALSE(bool(addDamage(damaged, {"0,0:X"}, {"1,1"})));
  const LibraryShapes plan = cantFail(libraryShapes(damaged, SubToriKind::kWholeAxes));
  LibraryIndex index = indexFor(plan);
  Found found = rangesOf(plan.shapes.front(), Collective::kAllreduce, {1, 64});
  const ScheduleRange& range = found.ranges.at(1);
  index.files = {{range.file_name, found.files.at(range.file_name).size(), 1}};
  index.entries = {{0, Collective::kAllreduce, range.lowest, range.highest, 0, range.predicted_to,
                    range.lowest_s, range.highest_s, range.reason}};
  index.candidates = {{1, Collective::kAllreduce, 0}};
  ASSERT_EQ(validate(index).message(), "");
  const LibrarySettings settings{"", "tori", {Collective::kAllreduce}, {1, 64}, 2};
  const std::string text = manifestText(index, damaged.machine, settings, range, {"bfb, 2 chunks"});
  schemas::Keys written;
  schemas::collectKeys(json::parse(text), "", written, "machine.");
  LibraryIndex tuned = index;
  tuned.tuned_on = "8 ranks";
  tuned.tuned = index.entries;
  tuned.tuned[0].file = kMpisOwn;
  tuned.measurements = {{0, Collective::kAllreduce, 8, 0, 1e-6},
                        {0, Collective::kAllreduce, 8, kMpisOwn, 2e-6}};
  ASSERT_EQ(validate(tuned).message(), "");
  schemas::collectKeys(json::parse(tunedJson(tuned).dump()), "", written);
  EXPECT_EQ(written, schemas::keysOfSchema("docs/schemas/library.schema.json"));
  // It says what the index says, and a change of either shows.
  const auto manifest = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(manifestFault(manifest, index), "");
  EXPECT_EQ(manifestFault(manifest, tuned), "");  // which it does not have to know
  LibraryIndex other = index;
  other.entries[0].lowest = 2;
  EXPECT_EQ(manifestFault(manifest, other), "/entries/0/lowest is 1, the index says 2");
  other = index;
  other.files[0].checksum = 0xab;
  EXPECT_EQ(manifestFault(manifest, other),
            "/files/0/checksum is \"0000000000000001\", the index says \"00000000000000ab\"");
  other = index;
  other.candidates[0].collective = Collective::kReduce;
  EXPECT_EQ(manifestFault(manifest, other),
            "/candidates/0/collective is \"allreduce\", the index says \"reduce\"");
  other.candidates.clear();
  EXPECT_EQ(manifestFault(manifest, other), "/candidates has 1 elements, the index has 0");
  other = index;
  other.sub_tori.pop_back();
  EXPECT_EQ(manifestFault(manifest, other), "/sub_tori has 3 elements, the index has 2");
  auto less = manifest;
  less["entries"][0].erase("reason");
  EXPECT_EQ(manifestFault(less, index), "/entries/0/reason is missing");
  EXPECT_EQ(manifestFault("text", index), "is not an object");
}

TEST(Manifest, WhatTuningAdds) {
  LibraryIndex index;
  index.files = {{"a.torc", 1, 1}};
  EXPECT_FALSE(isTuned(index));
  index.tuned_on = "8 ranks";
  index.tuned = {{0, Collective::kReduce, 1, kOpenEnd, kMpisOwn, 4096, 0.5, 2, "faster"}};
  index.measurements = {{0, Collective::kReduce, 1, 0, 0.75},
                        {0, Collective::kReduce, 1, kMpisOwn, 0.5}};
  EXPECT_TRUE(isTuned(index));
  EXPECT_EQ(tunedJson(index).dump(),
            R"({"tuned_on":"8 ranks","tuned":[{"shape":0,"collective":"reduce","lowest":1,)"
            R"("highest":null,"file":null,"measured_to":4096,"lowest_s":0.5,"highest_s":2.0,)"
            R"("reason":"faster"}],"measurements":[{"shape":0,"collective":"reduce","bytes":1,)"
            R"("file":"a.torc","seconds":0.75},{"shape":0,"collective":"reduce","bytes":1,)"
            R"("file":null,"seconds":0.5}]})");
  EXPECT_EQ(fileText(index, 0), "a.torc");
  EXPECT_EQ(fileText(index, kMpisOwn), "MPI's own");
}

/// A folder of this test, which goes with it.
class Folder {
 public:
  Folder() : path_(testing::TempDir() + "/add_test." + std::to_string(::getpid())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A schedule of an allgather on a ring of four, the one for that size.
LoadedSchedule ringOfFour(std::uint64_t bytes) {
  const Found found = rangesOf(shapeFor("4"), Collective::kAllgather, {bytes, bytes});
  return std::move(*readSchedule(found.files.begin()->second, "ring"));
}

/// Links of another speed make other shapes; a schedule serves all that have its axes.
TEST(AddToLibrary, AScheduleServesEveryShapeOfItsAxes) {
  const Folder folder;
  Target slow = target("4x4");
  slow.machine.dimensions[1].bandwidth /= 2;
  slow.topology = cantFail(model::topologyOf(slow.machine));
  const LibraryShapes plan = cantFail(libraryShapes(slow, SubToriKind::kWholeAxes));
  const LibrarySettings settings{"", "whole-axes", {Collective::kAllgather}, {1, 1 << 20}, 1};
  Progress progress(/*quiet=*/true);
  cantFail(buildLibrary(plan, slow.machine, settings, folder / "lib", 2, progress));
  const LoadedSchedule own = ringOfFour(1);
  ASSERT_TRUE(writeFileAtomically(folder / "own.torc", writeSchedule(own.view())).ok());

  Addition addition;
  addition.path = folder / "own.torc";
  addition.lowest = 1 << 16;
  const AddedToLibrary added = cantFail(addToLibrary(folder / "lib", addition, progress));
  ASSERT_EQ(added.ranges.size(), 2u);
  const LibraryEntry& half = added.ranges[0].entry;  // 1x4 comes first
  const LibraryEntry& fast = added.ranges[1].entry;
  EXPECT_NE(fast.shape, half.shape);
  EXPECT_NE(fast.file, half.file);
  EXPECT_NEAR(half.highest_s / fast.highest_s, 2, 0.1);
  EXPECT_TRUE(isAdded(fast));
  const Library library = cantFail(loadLibrary(folder / "lib"));
  EXPECT_EQ(library.index, added.index);
  for (const AddedRange& range : added.ranges) {
    const LibraryEntry* found =
        library.index.findEntry(range.entry.shape, Collective::kAllgather, 1 << 18);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, range.entry);
    EXPECT_EQ(library.index.findEntry(range.entry.shape, Collective::kAllgather, 8)->lowest, 1u);
  }
}

TEST(AddToLibrary, WhatIsNotProvedIsRefused) {
  const Folder folder;
  const LoadedSchedule own = ringOfFour(1 << 20);
  // Nothing waits for anything.
  std::vector<Operation> operations(own.view().operations.begin(), own.view().operations.end());
  for (Operation& operation : operations)
    operation.first_dependence = operation.dependence_count = 0;
  ScheduleView view = own.view();
  view.operations = operations;
  view.dependences = {};
  view.iterations = {};
  ASSERT_TRUE(writeFileAtomically(folder / "own.torc", writeSchedule(view)).ok());
  const OwnSchedule read = cantFail(OwnSchedule::read(folder / "own.torc"));
  const std::string error = toString(read.provedFor(own.view().topology).takeError());
  EXPECT_TRUE(llvm::StringRef(error).starts_with(folder / "own.torc: is not proved: ")) << error;
}

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
