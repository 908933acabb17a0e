// The JSON form: its text, the round trip to the same schedule, every kind of fault, and equal keys
// in the published schema.
#include "ir/json/json.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/StringRef.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "schedules/format/file.h"
#include "schedules/validation/validate.h"
#include "tests/ir/json/schema_keys.h"
#include "tests/ir/random_schedule.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::ir {
namespace {

using nlohmann::json;

std::string errorOf(llvm::StringRef text) {
  llvm::Expected<Schedule> schedule = readJson(text, "a.json");
  if (!schedule) return llvm::toString(schedule.takeError());
  return "no error";
}

/// The error of a small valid schedule after `change`.
std::string errorAfter(llvm::function_ref<void(json&)> change) {
  json document = json::parse(writeJson(samples::ringReduceScatter(3).view()));
  change(document);
  return errorOf(document.dump());
}

#define JSON_FAULT(edit, message) EXPECT_EQ(errorAfter([&](json& d) { edit; }), message)

TEST(Json, Writes) {
  EXPECT_EQ(writeJson(samples::ringReduceScatter(2).view()),
            R"({
  "torc_schedule": 8,
  "name": "reduce_scatter",
  "producer": "sample",
  "collective": "reduce_scatter",
  "promises": [],
  "topology": {"axes":[{"name":"X","size":2,"kind":"torus","bandwidth":1.0,"latency":0.0}],"order":"X"},
  "colors": [
    {"weight":1,"order":"X","directions":1,"chunks":1}
  ],
  "streams": [
    {"part":0,"core":0}
  ],
  "boxes": [
    [{"kind":"relative","start":-1,"length":1}],
    [{"kind":"relative","start":-2,"length":1}],
    [{"kind":"relative","start":0,"length":1}]
  ],
  "pairs": [],
  "pieces": [],
  "shifts": [
    [1],
    [-1]
  ],
  "peer_loops": [],
  "slots": 1,
  "segments": 1,
  "window": 1,
  "frames": [
    {"part":0,"box":1,"slot":0}
  ],
  "loops": [],
  "iterations": [],
  "operations": [
    {"kind":"send","phase":0,"stream":0,"a":{"buffer":"in","part":0,"box":0},"peer":0,"after":[]},
    {"kind":"recv_reduce","phase":0,"stream":0,"dst":{"buffer":"out","part":0,"box":2},"a":{"buffer":"in","part":0,"box":1},"b":{"buffer":"scratch","part":0,"box":1,"frame":0},"peer":1,"after":[]}
  ]
}
)");
}

TEST(Json, FileJsonFile) {
  for (const Schedule& schedule : samples::all()) {
    llvm::Expected<Schedule> again = readJson(writeJson(schedule.view()), "a.json");
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
    EXPECT_EQ(again->view(), schedule.view());
    EXPECT_EQ(writeSchedule(again->view()), writeSchedule(schedule.view()));
  }
}

RC_GTEST_PROP(Json, ReadsBack, ()) {
  const Schedule schedule = randomSchedule([](std::int64_t lowest, std::int64_t highest) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(lowest, highest + 1));
  });
  RC_ASSERT(validate(schedule.view()).ok());
  const std::string text = writeJson(schedule.view());
  llvm::Expected<Schedule> again = readJson(text, "a.json");
  if (!again) RC_FAIL(llvm::toString(again.takeError()) + "\n" + text);
  RC_ASSERT(again->view() == schedule.view());
  RC_ASSERT(writeJson(again->view()) == text);
}

TEST(Json, Syntax) {
  EXPECT_EQ(errorOf(""),
            "a.json:1:1: error: unexpected end of input; "
            "expected '[', '{', or a literal\n\n^");
  EXPECT_EQ(errorOf("{\n  \"a\": 1,\n  b\n}"),
            "a.json:3:3: error: invalid literal; last read: '1,<U+000A>  b'; expected string "
            "literal\n  b\n  ^");
  EXPECT_EQ(errorOf("{} {}").substr(0, 14), "a.json:1:4: er");
  EXPECT_EQ(errorOf("{\"a\": 1e999}"),
            "a.json:1:11: error: number overflow parsing '1e999'\n{\"a\": 1e999}\n          ^");
  EXPECT_EQ(errorOf("{\"\xff\": 1}").substr(0, 22), "a.json:1:3: error: inv");
  // What makes a line long is left out: what was read, and then what was expected.
  const std::string letters(40, 'x');
  EXPECT_EQ(errorOf("{\"a\": \"" + letters + "\t\"}"),
            "a.json:1:48: error: invalid string: control character U+0009 (HT) must be escaped to "
            "\\u0009 ...\n"
            "{\"a\": \"" +
                letters + " \"}\n" + std::string(47, ' ') + "^");
  EXPECT_EQ(errorOf("{\"" + letters + "\" 1e}").substr(0, 78),
            "a.json:1:47: error: invalid number; expected '+', '-', or digit after exponent");
  EXPECT_EQ(errorOf(std::string(100000, '[')),
            "a.json: /0/0/0/0/0/0/0/0/0/0/0/0/0/0/0: nested too deeply");
}

TEST(Json, KeysOccurOnce) {
  EXPECT_EQ(errorOf("{\"name\": \"a\", \"name\": \"b\"}"), "a.json: /: key 'name' occurs twice");
  std::string text = writeJson(samples::ringReduceScatter(3).view());
  const std::string key = "\"phase\":0,";
  text.insert(text.rfind(key), key);
  EXPECT_EQ(errorOf(text), "a.json: /operations/3: key 'phase' occurs twice");
}

TEST(Json, Form) {
  EXPECT_EQ(errorOf("[]"), "a.json: /: expected an object");
  EXPECT_EQ(errorOf("{}"), "a.json: /: missing key 'torc_schedule': this is not a schedule");
  JSON_FAULT(d["torc_schedule"] = 9,
             "a.json: /torc_schedule: form 9 is not supported (this torc reads form 8)");
  JSON_FAULT(d["torc_schedule"] = "1",
             "a.json: /torc_schedule: expected an integer from 1 to 2147483647");
}

TEST(Json, Keys) {
  JSON_FAULT(d.erase("slots"), "a.json: /: missing key 'slots'");
  JSON_FAULT(d["topology"]["extra"] = 1,
             "a.json: /topology: unknown key 'extra' (docs/schemas has the keys)");
  JSON_FAULT(d["operations"][2].erase("stream"), "a.json: /operations/2: missing key 'stream'");
  JSON_FAULT(d["operations"][2]["a/\n"] = 0,
             "a.json: /operations/2: unknown key 'a/?' (docs/schemas has the keys)");
  EXPECT_EQ(errorAfter([](json& d) {
              d["boxes"][0][0] = {{"kind", "all"}, {"start", 0}};
            }),
            "a.json: /boxes/0/0: unknown key 'start' (keys are kind)");
  JSON_FAULT(d["boxes"][0][0].erase("length"), "a.json: /boxes/0/0: missing key 'length'");
}

TEST(Json, Types) {
  JSON_FAULT(d["name"] = 7, "a.json: /name: expected a string");
  JSON_FAULT(d["collective"] = "sort",
             "a.json: /collective: unknown name 'sort' (docs/schemas has the names)");
  JSON_FAULT(d["collective"] = "alreduce",
             "a.json: /collective: unknown name 'alreduce'; did you mean 'allreduce'?");
  JSON_FAULT(d["collective"] = 1, "a.json: /collective: expected a string");
  EXPECT_EQ(
      errorAfter([](json& d) { d["promises"] = {"speed"}; }),
      "a.json: /promises/0: unknown name 'speed' (names are conflict-free-phases, ordered-sums)");
  JSON_FAULT(d["streams"] = 3, "a.json: /streams: expected an array");
  JSON_FAULT(d["streams"][0] = 3, "a.json: /streams/0: expected an object");
  JSON_FAULT(d["topology"]["axes"][0]["latency"] = "0",
             "a.json: /topology/axes/0/latency: expected a number");
  JSON_FAULT(d["operations"][3]["after"] = nullptr,
             "a.json: /operations/3/after: expected an array");
}

TEST(Json, Integers) {
  auto stream = [](const json& value) {
    return errorAfter([&](json& d) { d["operations"][1]["stream"] = value; });
  };
  const std::string expected =
      "a.json: /operations/1/stream: expected an integer from 0 to 4294967294";
  for (const json& value : {json(-1), json(4294967295u), json(1.0), json(0.5), json(true),
                            json("0"), json(nullptr), json(1e20)}) {
    EXPECT_EQ(stream(value), expected) << value;
  }
  JSON_FAULT(d["operations"][1]["phase"] = 65536,
             "a.json: /operations/1/phase: expected an integer from 0 to 65535");
  JSON_FAULT(d["colors"][0]["weight"] = 9223372036854775808u,
             "a.json: /colors/0/weight: expected an integer from 1 to 9223372036854775807");
  JSON_FAULT(d["boxes"][0][0]["start"] = -2147483649,
             "a.json: /boxes/0/0/start: expected an integer from -2147483648 to 2147483647");
  JSON_FAULT(d["topology"]["axes"][0]["size"] = 0,
             "a.json: /topology/axes/0/size: expected an integer from 1 to 4294967295");
}

TEST(Json, Axes) {
  JSON_FAULT(d["topology"]["axes"] = json::array(),
             "a.json: /topology/axes: has 0 axes, must have 1 to 8");
  JSON_FAULT(d["topology"]["axes"][0]["name"] = "x",
             "a.json: /topology/axes/0/name: expected a letter from A to Z");
  JSON_FAULT(d["topology"]["order"] = "XX", "a.json: /topology/order: axis X occurs twice");
  JSON_FAULT(d["colors"][0]["order"] = "Q", "a.json: /colors/0/order: there is no axis 'Q'");
  JSON_FAULT(d["colors"][0]["order"] = "", "a.json: /colors/0/order: names 0 of 1 axes");
  EXPECT_EQ(errorAfter([](json& d) {
              d["boxes"][2].push_back({{"kind", "all"}});
            }),
            "a.json: /boxes/2: has 2 elements, the topology 1 axes");
  JSON_FAULT(d["shifts"][1] = json::array(),
             "a.json: /shifts/1: has 0 elements, the topology 1 axes");
}

// What only validation sees.
TEST(Json, Structure) {
  JSON_FAULT(d["operations"][1]["stream"] = 9,
             "a.json: /operations/1: stream 9 does not exist (schedule has 1)");
  EXPECT_EQ(errorAfter([](json& d) {
              d["operations"][2]["after"] = {1, 1};
            }),
            "a.json: /operations/2: dependence 1 comes after 1; they must ascend");
  JSON_FAULT(d["operations"][0]["a"]["frame"] = 0,
             "a.json: /operations/0: a: in has a frame, which is for scratch alone");
  JSON_FAULT(d["operations"][0].erase("a"), "a.json: /operations/0: a: is missing");
}

TEST(Json, SchemaKnowsTheKeys) {
  const std::string path = "docs/schemas/schedule.schema.json";
  std::ifstream file(path);
  EXPECT_EQ(json::parse(file)["properties"]["torc_schedule"]["const"], kJsonFormVersion);
  schemas::Keys written;
  for (Schedule& schedule : samples::all()) {
    schedule.flags |= kSynchronousSends | kDropsBroken;
    schemas::collectKeys(json::parse(writeJson(schedule.view())), "", written);
    schedule.links = {{0, 1, 1, 0}};
    // The same with what loops have besides.
    schedule.loops = {{0, 1, 2}};
    schedule.iterations = {{.depth = 1}};
    for (Frame& frame : schedule.frames)
      frame.copies = 2;
    for (std::uint32_t& dependence : schedule.dependences)
      dependence = dependenceOn(operationOf(dependence), 1);
    for (Box& box : schedule.boxes)
      box[0].loop = 1;
    schedule.boxes.emplace_back()[0] = Interval::forRoots({.first = 1, .last = 2});
    schemas::collectKeys(json::parse(writeJson(schedule.view())), "", written);
  }
  EXPECT_EQ(written, schemas::keysOfSchema(path));
}

TEST(Json, SchemasNameEveryCollective) {
  std::vector<std::string> names;
  for (const CollectiveRow& row : collectiveRows())
    names.emplace_back(row.name);
  for (const auto& [path, where] :
       {std::pair("docs/schemas/schedule.schema.json", "/properties/collective/enum"),
        std::pair("docs/schemas/library.schema.json", "/$defs/collective/enum")}) {
    std::ifstream file(path);
    const json schema = json::parse(file);
    EXPECT_EQ(schema.at(json::json_pointer(where)), names) << path;
  }
}

}  // namespace
}  // namespace torc::ir
