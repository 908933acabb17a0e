// Manifests: their keys, and what they must say of an index.
#include "compiler/library/manifest.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/library/library_shapes.h"
#include "compiler/target.h"
#include "tests/compiler/library/found_ranges.h"
#include "tests/ir/json/schema_keys.h"

namespace torc::compiler {
namespace {

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
  index.files = {{range.file, found.files.at(range.file).size(), 1}};
  index.entries = {{.shape = 0,
                    .collective = Collective::kAllreduce,
                    .lowest = range.lowest,
                    .highest = range.highest,
                    .file = 0,
                    .predicted_to = range.predicted_to,
                    .lowest_s = range.lowest_s,
                    .highest_s = range.highest_s,
                    .reason = range.reason}};
  index.candidates = {{1, Collective::kAllreduce, 0}};
  ASSERT_EQ(validate(index).message(), "");
  const LibrarySettings settings{"", "tori", {Collective::kAllreduce}, {1, 64}, 2};
  const std::string text =
      manifestText(index, damaged.machine, settings, &range, {"bfb, 2 chunks"});
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
  index.tuned = {{.shape = 0,
                  .collective = Collective::kReduce,
                  .lowest = 1,
                  .highest = kOpenEnd,
                  .file = kMpisOwn,
                  .predicted_to = 4096,
                  .lowest_s = 0.5,
                  .highest_s = 2,
                  .reason = "faster"}};
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

}  // namespace
}  // namespace torc::compiler
