// Schedules of one's own in a library.
#include "compiler/library/add.h"

#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/library/build.h"
#include "compiler/library/own_schedule.h"
#include "compiler/progress_line.h"
#include "compiler/target.h"
#include "schedules/format/file.h"
#include "tests/compiler/library/found_ranges.h"

namespace torc::compiler {
namespace {

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

}  // namespace
}  // namespace torc::compiler
