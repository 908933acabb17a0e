// Mutated machine descriptions, torc's and other tools', through the readers: none crashes or hangs
// them. A refusal is one line that names the file (JSON's syntax: with the line and a caret). What
// is accepted reads back as the same, has a valid topology, and bounds that are finite numbers.
//
//   TORC_FUZZ_MUTANTS=1000000 TORC_FUZZ_SEED=7 bazel-bin/tests/fuzz/machine_fuzz_test
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <llvm/ADT/StringExtras.h>

#include "model/bounds/bounds.h"
#include "model/machines/foreign.h"
#include "model/machines/machine.h"
#include "tests/fuzz/mutate.h"

namespace torc::fuzz {
namespace {

constexpr char kDamaged[] = R"({"name": "m", "dimensions": [{"size": 4, "bandwidth": 1e9},
 {"size": 3, "kind": "mesh", "bandwidth": 2e9, "latency": 1e-7, "width": 3},
 {"size": 2, "bandwidth": 5e8, "width": 1}], "ports": 2, "gap": 6e-10,
 "dead_links": [{"from": [3, 1, 0], "axis": "X"}, {"from": [0, 0, 1], "axis": "Z"}],
 "dead_nodes": [[0, 2, 1], [1, 1, 1]]})";

std::vector<Bytes> corpus() {
  std::vector<Bytes> texts = {toBytes(kDamaged), toBytes(kDamaged), toBytes(kDamaged)};
  for (llvm::StringRef name : model::machinePresets()) {
    model::Machine machine = cantFail(model::findMachine(name));
    machine.sources.clear();  // long, and one like the other
    texts.push_back(toBytes(model::machineJson(machine)));
  }
  return texts;
}

/// What is wrong with an error message; empty if nothing is.
std::string messageFault(llvm::StringRef message) {
  if (!message.starts_with("m.json:")) return "does not name the file";
  const bool syntax = message.contains(": error: ");
  if (message.count('\n') != (syntax ? 2u : 0u)) return "has the wrong number of lines";
  // Of a syntax fault the line follows, as it is.
  const bool printable = llvm::all_of(message.split('\n').first, llvm::isPrint);
  return printable ? "" : "has characters that cannot be printed";
}

void checkBounds(const model::Machine& machine) {
  for (const llvm::StringRef name : model::boundedCollectives()) {
    const CollectiveRow row = llvm::cantFail(model::parseBoundedCollective(name));
    const model::Bound bound = model::lowerBound(machine, {row, 1e6});
    EXPECT_TRUE(std::isfinite(bound.bound_s) && bound.bound_s >= 0)
        << name.str() << ": " << bound.bound_s << " for " << model::machineJson(machine);
    EXPECT_TRUE(std::isfinite(bound.reduce_scatter_allgather_s.value_or(0)));
    EXPECT_TRUE(row.blocks == BlockSpace::kNone || bound.nodes < 2 || bound.bandwidth_s > 0)
        << name.str() << " for " << model::machineJson(machine);
  }
}

/// Machines that `parse` takes are read back as the same, have a sound topology, and bounds.
void checkMachines(Mutator mutator,
                   llvm::Expected<model::Machine> (*parse)(llvm::StringRef, llvm::StringRef),
                   std::string (*fault_of)(llvm::StringRef)) {
  const std::uint64_t count = mutantCount(100000);
  std::uint64_t accepted = 0;
  const auto faultOf = [&](const Bytes& mutant) -> std::string {
    const std::string_view text = toText(mutant);
    llvm::Expected<model::Machine> machine = parse({text.data(), text.size()}, "m.json");
    if (!machine) {
      const std::string message = toString(machine.takeError());
      const std::string fault = fault_of(message);
      return fault.empty() ? "" : fault + ": " + message;
    }
    ++accepted;
    const std::string json = model::machineJson(*machine);
    llvm::Expected<model::Machine> again = model::parseMachine(json, "m.json");
    if (!again) return toString(again.takeError());
    EXPECT_EQ(model::machineJson(*again), json);
    llvm::Expected<Topology> topology = model::topologyOf(*machine);
    if (!topology) return toString(topology.takeError());
    checkBounds(*machine);
    return topology->validate().message();
  };
  EXPECT_EQ(firstFault(
                count, [&] { return mutator.next(); }, faultOf),
            "");
  // Mutants that say nothing would prove nothing.
  EXPECT_GT(accepted, count / 50);
}

TEST(MachineFuzz, Mutants) {
  const std::vector<Bytes> words = toBytes({"0",
                                            "1",
                                            "-1",
                                            "2",
                                            "2147483647",
                                            "4294967296",
                                            "1e300",
                                            "1e-300",
                                            "0.5",
                                            "null",
                                            "[]",
                                            "{}",
                                            "\"size\"",
                                            "\"width\": 1",
                                            "\"kind\": \"mesh\"",
                                            "\"cores\": 4",
                                            "\"dead_nodes\"",
                                            ", ",
                                            "[0, 0, 0]",
                                            "{\"size\": 2, \"bandwidth\": 1}",
                                            "\"alpha\": 0",
                                            "\"sources\": {}"});
  checkMachines({corpus(), fuzzSeed(), words}, model::parseMachine, messageFault);
}

TEST(MachineFuzz, ForeignMutants) {
  const std::vector<Bytes> files =
      toBytes({"- topology: a\n  cluster_default: true\n  torus3d:\n    toruses:\n      - name: p\n"
               "        dims: {x: 4, y: 2, z: 2}\n        regions:\n"
               "          - anchor: {x: 0, y: 0, z: 0}\n            dims: {x: 4, y: 2, z: 1}\n"
               "            nodes: n[01-08]\n          - anchor: {x: 0, y: 0, z: 1}\n"
               "            dims: {x: 4, y: 2, z: 1}\n            nodes: m[1-3,5-9]\n",
               "ClusterName=c\nNodeName=tux[000x133,200x333] CPUs=4\n",
               "RingName=r Nodes=n[1-4],m[1-2]x[3-4]\n"});
  const std::vector<Bytes> words = toBytes({"0",   "-1",   "4294967296", "1e300",
                                            "nan", "[",    "]",          "{",
                                            "}",   ":",    "- ",         "&a",
                                            "*a",  "\n",   "'",          "\"",
                                            "<",   "/>",   "&#10;",      "<!ENTITY a 'b'>",
                                            "0-3", "Ring", "ZZxZZ",      "[1-99999999]",
                                            "\t",  "#",    "---\n",      "!!int",
                                            "|",   "?"});
  checkMachines({files, fuzzSeed(), words}, model::parseForeignMachine,
                [](llvm::StringRef message) -> std::string {
                  const bool is_line = llvm::all_of(message, llvm::isPrint);
                  return message.starts_with("m.json:") && is_line ? "" : "not a line of the file";
                });
}

}  // namespace
}  // namespace torc::fuzz
