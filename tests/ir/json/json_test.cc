// The JSON form: what is written, that it reads back as the same schedule, every kind of fault, and
// that the published schema knows the same keys.
#include "ir/json/json.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/ADT/StringRef.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "schedules/format/file.h"
#include "schedules/validation/validate.h"
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
template <typename Change>
std::string errorAfter(Change change) {
  json document = json::parse(writeJson(samples::ringReduceScatter(3).view()));
  change(document);
  return errorOf(document.dump());
}

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
  EXPECT_EQ(errorAfter([](json& d) { d["torc_schedule"] = 9; }),
            "a.json: /torc_schedule: form 9 is not supported (this torc reads form 8)");
  EXPECT_EQ(errorAfter([](json& d) { d["torc_schedule"] = "1"; }),
            "a.json: /torc_schedule: expected an integer from 1 to 2147483647");
}

TEST(Json, Keys) {
  EXPECT_EQ(errorAfter([](json& d) { d.erase("slots"); }), "a.json: /: missing key 'slots'");
  EXPECT_EQ(errorAfter([](json& d) { d["topology"]["extra"] = 1; }),
            "a.json: /topology: unknown key 'extra' (docs/schemas has the keys)");
  EXPECT_EQ(errorAfter([](json& d) { d["operations"][2].erase("stream"); }),
            "a.json: /operations/2: missing key 'stream'");
  EXPECT_EQ(errorAfter([](json& d) { d["operations"][2]["a/\n"] = 0; }),
            "a.json: /operations/2: unknown key 'a/?' (docs/schemas has the keys)");
  EXPECT_EQ(errorAfter([](json& d) {
              d["boxes"][0][0] = {{"kind", "all"}, {"start", 0}};
            }),
            "a.json: /boxes/0/0: unknown key 'start' (keys are kind)");
  EXPECT_EQ(errorAfter([](json& d) { d["boxes"][0][0].erase("length"); }),
            "a.json: /boxes/0/0: missing key 'length'");
}

TEST(Json, Types) {
  EXPECT_EQ(errorAfter([](json& d) { d["name"] = 7; }), "a.json: /name: expected a string");
  EXPECT_EQ(errorAfter([](json& d) { d["collective"] = "sort"; }),
            "a.json: /collective: unknown name 'sort' (docs/schemas has the names)");
  EXPECT_EQ(errorAfter([](json& d) { d["collective"] = "alreduce"; }),
            "a.json: /collective: unknown name 'alreduce'; did you mean 'allreduce'?");
  EXPECT_EQ(errorAfter([](json& d) { d["collective"] = 1; }),
            "a.json: /collective: expected a string");
  EXPECT_EQ(
      errorAfter([](json& d) { d["promises"] = {"speed"}; }),
      "a.json: /promises/0: unknown name 'speed' (names are conflict-free-phases, ordered-sums)");
  EXPECT_EQ(errorAfter([](json& d) { d["streams"] = 3; }), "a.json: /streams: expected an array");
  EXPECT_EQ(errorAfter([](json& d) { d["streams"][0] = 3; }),
            "a.json: /streams/0: expected an object");
  EXPECT_EQ(errorAfter([](json& d) { d["topology"]["axes"][0]["latency"] = "0"; }),
            "a.json: /topology/axes/0/latency: expected a number");
  EXPECT_EQ(errorAfter([](json& d) { d["operations"][3]["after"] = nullptr; }),
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
  EXPECT_EQ(errorAfter([](json& d) { d["operations"][1]["phase"] = 65536; }),
            "a.json: /operations/1/phase: expected an integer from 0 to 65535");
  EXPECT_EQ(errorAfter([](json& d) { d["colors"][0]["weight"] = 9223372036854775808u; }),
            "a.json: /colors/0/weight: expected an integer from 1 to 9223372036854775807");
  EXPECT_EQ(errorAfter([](json& d) { d["boxes"][0][0]["start"] = -2147483649; }),
            "a.json: /boxes/0/0/start: expected an integer from -2147483648 to 2147483647");
  EXPECT_EQ(errorAfter([](json& d) { d["topology"]["axes"][0]["size"] = 0; }),
            "a.json: /topology/axes/0/size: expected an integer from 1 to 4294967295");
}

TEST(Json, Axes) {
  EXPECT_EQ(errorAfter([](json& d) { d["topology"]["axes"] = json::array(); }),
            "a.json: /topology/axes: has 0 axes, must have 1 to 8");
  EXPECT_EQ(errorAfter([](json& d) { d["topology"]["axes"][0]["name"] = "x"; }),
            "a.json: /topology/axes/0/name: expected a letter from A to Z");
  EXPECT_EQ(errorAfter([](json& d) { d["topology"]["order"] = "XX"; }),
            "a.json: /topology/order: axis X occurs twice");
  EXPECT_EQ(errorAfter([](json& d) { d["colors"][0]["order"] = "Q"; }),
            "a.json: /colors/0/order: there is no axis 'Q'");
  EXPECT_EQ(errorAfter([](json& d) { d["colors"][0]["order"] = ""; }),
            "a.json: /colors/0/order: names 0 of 1 axes");
  EXPECT_EQ(errorAfter([](json& d) {
              d["boxes"][2].push_back({{"kind", "all"}});
            }),
            "a.json: /boxes/2: has 2 elements, the topology 1 axes");
  EXPECT_EQ(errorAfter([](json& d) { d["shifts"][1] = json::array(); }),
            "a.json: /shifts/1: has 0 elements, the topology 1 axes");
}

// What only validation sees.
TEST(Json, Structure) {
  EXPECT_EQ(errorAfter([](json& d) { d["operations"][1]["stream"] = 9; }),
            "a.json: /operations/1: stream 9 does not exist (schedule has 1)");
  EXPECT_EQ(errorAfter([](json& d) {
              d["operations"][2]["after"] = {1, 1};
            }),
            "a.json: /operations/2: dependence 1 comes after 1; they must ascend");
  EXPECT_EQ(errorAfter([](json& d) { d["operations"][0]["a"]["frame"] = 0; }),
            "a.json: /operations/0: a: in has a frame, which is for scratch alone");
  EXPECT_EQ(errorAfter([](json& d) { d["operations"][0].erase("a"); }),
            "a.json: /operations/0: a: is missing");
}

/// All ways to properties in a schema: "topology.axes.name".
void collectProperties(const json& schema, const json& root, const std::string& path,
                       std::set<std::string>& paths) {
  if (schema.contains("$ref")) {
    const std::string reference = schema["$ref"];
    ASSERT_EQ(reference.rfind("#/", 0), 0u) << reference;
    const json::json_pointer pointer(reference.substr(1));
    ASSERT_TRUE(root.contains(pointer)) << reference;
    collectProperties(root.at(pointer), root, path, paths);
  }
  if (schema.contains("items")) collectProperties(schema["items"], root, path, paths);
  if (schema.contains("oneOf")) {
    for (const json& choice : schema["oneOf"])
      collectProperties(choice, root, path, paths);
  }
  if (!schema.contains("properties")) return;
  EXPECT_EQ(schema.value("additionalProperties", true), false) << path;
  for (const auto& [key, value] : schema["properties"].items()) {
    paths.insert(path + key);
    collectProperties(value, root, path + key + ".", paths);
  }
  for (const json& key : schema["required"]) {
    EXPECT_TRUE(schema["properties"].contains(std::string(key))) << path << key;
  }
}

/// The same of a document.
void collectKeys(const json& value, const std::string& path, std::set<std::string>& paths) {
  if (value.is_array()) {
    for (const json& element : value)
      collectKeys(element, path, paths);
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      paths.insert(path + key);
      collectKeys(member, path + key + ".", paths);
    }
  }
}

TEST(Json, SchemaKnowsTheKeys) {
  std::ifstream file("docs/schemas/schedule.schema.json");
  const json schema = json::parse(file);
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["properties"]["torc_schedule"]["const"],
            json::parse(writeJson(samples::ringAllreduce(4).view()))["torc_schedule"]);
  std::set<std::string> in_schema, written;
  collectProperties(schema, schema, "", in_schema);
  for (Schedule& schedule : samples::all()) {
    schedule.flags |= kSynchronousSends | kDropsBroken;
    collectKeys(json::parse(writeJson(schedule.view())), "", written);
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
    collectKeys(json::parse(writeJson(schedule.view())), "", written);
  }
  EXPECT_EQ(written, in_schema);
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
