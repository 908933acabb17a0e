// Machines: presets and their sources, partitions and topologies of a machine, and the round trip
// through JSON; the published schema has the same keys.
#include "model/machines/machine.h"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/ir/json/schema_keys.h"

namespace torc::model {
namespace {

using nlohmann::json;

Machine parsed(const std::string& text) {
  return cantFail(parseMachine(text, "test"));
}

Machine found(llvm::StringRef name) {
  return cantFail(findMachine(name));
}

Machine part(const Machine& machine, llvm::StringRef shape) {
  return cantFail(partitionOf(machine, shape));
}

Topology topology(const Machine& machine) {
  const Topology of = cantFail(topologyOf(machine));
  EXPECT_TRUE(of.validate().ok());
  return of;
}

TEST(Presets, EveryNumberHasASource) {
  for (llvm::StringRef name : machinePresets()) {
    const Machine machine = found(name);
    EXPECT_EQ(machine.name, name);
    EXPECT_FALSE(machine.description.empty()) << name.str();
    const json document = json::parse(machineJson(machine));
    std::set<std::string> numbers;
    for (const auto& [key, value] : document.items()) {
      if (key == "name" || key == "description" || key == "sources") continue;
      if (key != "dimensions") {
        numbers.insert(key);
        continue;
      }
      for (const json& dimension : value) {
        for (const auto& [inner, number] : dimension.items()) {
          if (inner == "kind" || (inner == "latency" && number == 0.0)) continue;
          numbers.insert("dimensions." + inner);
        }
      }
    }
    if (machine.cores == 1) numbers.erase("cores");  // the default
    std::set<std::string> sourced;
    for (const auto& [key, source] : machine.sources)
      sourced.insert(key);
    for (const std::string& key : numbers) {
      EXPECT_TRUE(sourced.contains(key) ||
                  (key.starts_with("dimensions.") && sourced.contains("dimensions")))
          << name.str() << ": " << key << " has no source";
    }
  }
}

TEST(Presets, ShapesAndSpeeds) {
  EXPECT_EQ(found("bgl").nodes(), 65536u);
  EXPECT_EQ(found("bgq").nodes(), 98304u);
  EXPECT_EQ(found("fugaku").nodes(), 158976u);
  EXPECT_EQ(found("fugaku").ports, 6u);
  EXPECT_EQ(found("tpu-v5p").nodes(), 8960u);
  EXPECT_EQ(shapeOf(found("trainium2-ultra")), "4x4x4");
  EXPECT_EQ(shapeOf(found("exascale-2.5d")), "64x64x64");
  EXPECT_NEAR(found("bgp").linkBandwidth(0), 375e6, 1);  // achieved, not 425e6 * 240 / 270
  EXPECT_NEAR(found("bgq").linkBandwidth(4), 1.8e9, 1);  // two cables for two directions
  EXPECT_NEAR(found("cluster").linkBandwidth(0), 3.125e9 * 1448 / 1538, 1);
  EXPECT_DOUBLE_EQ(found("gemini").linkBandwidth(0) / found("gemini").linkBandwidth(1), 2.0);
}

TEST(Machine, JsonRoundTrip) {
  for (llvm::StringRef name : machinePresets()) {
    const std::string text = machineJson(found(name));
    EXPECT_EQ(machineJson(parsed(text)), text);
  }
  const std::string damaged = machineJson(parsed(
      R"({"name": "m", "dimensions": [{"size": 4, "bandwidth": 1e9}, {"size": 3, "kind": "mesh",
          "bandwidth": 2e9, "latency": 1e-7, "width": 3}], "ports": 2,
          "dead_links": [{"from": [3, 1], "axis": "X"}], "dead_nodes": [[0, 0]]})"));
  const Machine machine = parsed(damaged);
  EXPECT_EQ(machineJson(machine), damaged);
  ASSERT_EQ(machine.dead_links.size(), 1u);
  EXPECT_EQ(machine.dead_links[0], (DeadLink{{3, 1}, 0}));
  EXPECT_EQ(machine.dead_nodes, std::vector<Coordinates>{Coordinates{}});
  EXPECT_DOUBLE_EQ(machine.linkBandwidth(1), 6e9);
}

TEST(Machine, CablesOfTwoNodes) {
  const Machine machine = parsed(R"({"name": "m", "dimensions": [{"size": 2, "bandwidth": 1e9},
      {"size": 2, "bandwidth": 1e9, "width": 1}, {"size": 2, "bandwidth": 1e9, "width": 4},
      {"size": 2, "bandwidth": 1e9, "width": 3, "kind": "mesh"}]})");
  EXPECT_EQ(shapeOf(machine), "2x2mx2x2m");
  EXPECT_DOUBLE_EQ(machine.linkBandwidth(0), 1e9);  // a cable for each direction
  EXPECT_DOUBLE_EQ(machine.linkBandwidth(1), 1e9);  // one that both share
  EXPECT_DOUBLE_EQ(machine.linkBandwidth(2), 2e9);
  EXPECT_DOUBLE_EQ(machine.linkBandwidth(3), 3e9);
  const Topology of = topology(machine);
  EXPECT_DOUBLE_EQ(of.axes[0].capacity(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(of.axes[1].capacity(), 1.0 / 6);
  EXPECT_DOUBLE_EQ(of.axes[2].capacity(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(of.axes[3].capacity(), 1.0 / 2);
}

TEST(Machine, Partitions) {
  const Machine gemini = found("gemini");
  const Machine four = part(gemini, "4x3mx2x5+6");
  EXPECT_EQ(shapeOf(four), "4x3mx2x5+6");
  EXPECT_EQ(four.cores, 6u);
  EXPECT_DOUBLE_EQ(four.dimensions[1].bandwidth, 4.7e9);
  EXPECT_DOUBLE_EQ(four.dimensions[3].bandwidth, 9.4e9);  // as the last one of the machine
  const Topology of = topology(four);
  EXPECT_EQ(of.shape(), "4x3mx2x5+6");
  EXPECT_EQ(of.axes[4].kind, AxisKind::kCore);
  EXPECT_DOUBLE_EQ(of.axes[0].bandwidth, 1.0);
  EXPECT_DOUBLE_EQ(of.axes[1].bandwidth, 0.5);
  EXPECT_DOUBLE_EQ(of.axes[0].latency, 1.05e-7);
  // SMPI has one cable between two nodes: the ring of two is a line.
  EXPECT_EQ(topology(part(found("smpi"), "8x4x2")).shape(), "8x4x2m");
  EXPECT_EQ(topology(part(found("bgp"), "8x4x2")).shape(), "8x4x2");
  // The generic machine changes nothing in a topology.
  StatusOr<Topology> plain = parseTopology("5x4mx2x1+3");
  EXPECT_EQ(topology(part(found("generic"), "5x4mx2x1+3")), *plain);
  EXPECT_EQ(toString(partitionOf(gemini, "4x").takeError()),
            "torus '4x': a size is missing (column 3)");
}

TEST(Machine, DamageStaysWithTheShape) {
  const Machine machine = parsed(R"({"name": "m", "dimensions": [{"size": 4, "bandwidth": 1e9},
      {"size": 2, "bandwidth": 1e9, "width": 1}], "dead_nodes": [[1, 1]]})");
  EXPECT_TRUE(part(machine, "").damaged());
  EXPECT_TRUE(part(machine, "4x2").damaged());
  EXPECT_TRUE(part(machine, "4x2m+2").damaged());
  EXPECT_FALSE(part(machine, "4x4").damaged());
  EXPECT_FALSE(part(machine, "4mx2").damaged());
}

TEST(Machine, OneCableHasOneName) {
  // The only cable between two nodes is the same from either end.
  llvm::Expected<Machine> twice = parseMachine(
      R"({"name": "m", "dimensions": [{"size": 2, "bandwidth": 1, "width": 1},
          {"size": 4, "bandwidth": 1}], "dead_links": [{"from": [0, 1], "axis": "X"},
          {"from": [1, 1], "axis": "X"}]})",
      "m.json");
  ASSERT_FALSE(bool(twice));
  EXPECT_EQ(toString(twice.takeError()),
            "m.json: /dead_links/1: this link is in the list already: "
            "{\"axis\":\"X\",\"from\":[1,1]}");
}

/// A machine of `sizes` with damage, as `dead` says in JSON: whether it reads.
bool holdsTogether(const std::string& sizes, const std::string& dead) {
  llvm::Expected<Machine> machine =
      parseMachine("{\"name\": \"m\", \"dimensions\": " + sizes + ", " + dead + "}", "m");
  if (machine) return true;
  const std::string message = toString(machine.takeError());
  EXPECT_NE(message.find("disconnects"), std::string::npos) << message;
  return false;
}

TEST(Machine, Connectivity) {
  const std::string ring = R"([{"size": 1000000000, "bandwidth": 1}])";
  EXPECT_TRUE(holdsTogether(ring, R"("dead_links": [{"from": [5], "axis": "X"}])"));
  EXPECT_FALSE(holdsTogether(
      ring, R"("dead_links": [{"from": [5], "axis": "X"}, {"from": [999999999], "axis": "X"}])"));
  EXPECT_TRUE(holdsTogether(ring, R"("dead_nodes": [[0], [999999999], [1]])"));
  EXPECT_FALSE(holdsTogether(ring, R"("dead_nodes": [[0], [2]])"));
  const std::string line = R"([{"size": 9, "bandwidth": 1, "kind": "mesh"}])";
  EXPECT_FALSE(holdsTogether(line, R"("dead_nodes": [[4]])"));
  EXPECT_TRUE(holdsTogether(line, R"("dead_nodes": [[0], [1], [8]])"));
  // A node of a torus, cut off by its four neighbours; with one of them alive, not.
  const std::string torus = R"([{"size": 40000, "bandwidth": 1}, {"size": 40000, "bandwidth": 1}])";
  EXPECT_FALSE(holdsTogether(
      torus,
      R"("dead_nodes": [[7, 0], [7, 2], [6, 1]], "dead_links": [{"from": [7, 1], "axis": "X"}])"));
  EXPECT_TRUE(holdsTogether(torus, R"("dead_nodes": [[7, 0], [7, 2], [6, 1]])"));
  // The corner of a mesh, around the end of a torus.
  const std::string mesh =
      R"([{"size": 5, "bandwidth": 1, "kind": "mesh"}, {"size": 5, "bandwidth": 1}])";
  EXPECT_FALSE(holdsTogether(mesh, R"("dead_nodes": [[0, 1], [1, 0], [0, 4]])"));
  EXPECT_TRUE(holdsTogether(mesh, R"("dead_nodes": [[0, 1], [1, 0]])"));
  // Two nodes: one cable, or two.
  const std::string one = R"([{"size": 2, "bandwidth": 1, "width": 1}])";
  const std::string two = R"([{"size": 2, "bandwidth": 1}])";
  EXPECT_FALSE(holdsTogether(one, R"("dead_links": [{"from": [0], "axis": "X"}])"));
  EXPECT_TRUE(holdsTogether(two, R"("dead_links": [{"from": [0], "axis": "X"}])"));
}

TEST(Machine, SchemaKnowsTheKeys) {
  schemas::Keys read;
  const std::string all = R"({"name": "m", "description": "d", "dimensions": [{"size": 4,
      "kind": "torus", "bandwidth": 1e9, "latency": 1e-6, "width": 1}], "packet": {"payload": 240,
      "header": 16, "acknowledgement": 14}, "router": {}, "cores": 2, "ports": 2, "alpha": 1e-6, "overhead": 1e-6,
      "latency": 1e-6, "message_gap": 1e-7, "envelope": 16, "injection": 1e9, "gap": 1e-9, "eager": 1, "buffered": 2, "gamma": 1e-9, "memory_bandwidth": 1e9,
      "dead_links": [{"from": [0], "axis": "X"}], "dead_nodes": [[1]],
      "sources": {"alpha": "a clock"}})";
  schemas::collectKeys(json::parse(machineJson(parsed(all))), "", read, "sources.");
  EXPECT_EQ(read, schemas::keysOfSchema("docs/schemas/machine.schema.json"));
}

}  // namespace
}  // namespace torc::model
