// Mutated machine descriptions, in torc's and foreign formats, through the readers: none crashes or
// hangs them, and the properties of checked.h hold.
//
//   TORC_FUZZ_MUTANTS=1000000 TORC_FUZZ_SEED=7 bazel-bin/tests/fuzz/machine_fuzz_test
#include <string>

#include <gtest/gtest.h>

#include "model/machines/machine.h"
#include "tests/fuzz/checked.h"
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

void checkMachines(Mutator mutator) {
  const std::uint64_t count = mutantCount(100000);
  std::uint64_t accepted = 0;
  const auto faultOf = [&](const Bytes& mutant) {
    const Outcome outcome = checkMachine(toText(mutant));
    accepted += outcome.accepted;
    return outcome.violation;
  };
  EXPECT_EQ(firstFault(
                count, [&] { return mutator.next(); }, faultOf),
            "");
  // Mutants that say nothing would prove nothing.
  EXPECT_GT(accepted, count / 50);
}

TEST(MachineFuzz, Mutants) {
  const std::vector<Bytes> words = wordsOf(
      "0~1~-1~2~2147483647~4294967296~1e300~1e-300~0.5~null~[]~{}~\"size\"~\"width\": 1~"
      "\"kind\": \"mesh\"~\"cores\": 4~\"dead_nodes\"~, ~[0, 0, 0]~"
      "{\"size\": 2, \"bandwidth\": 1}~\"alpha\": 0~\"sources\": {}");
  checkMachines({corpus(), fuzzSeed(), words});
}

TEST(MachineFuzz, ForeignMutants) {
  const std::vector<Bytes> files = {
      toBytes("- topology: a\n  cluster_default: true\n  torus3d:\n    toruses:\n      - name: p\n"
              "        dims: {x: 4, y: 2, z: 2}\n        regions:\n"
              "          - anchor: {x: 0, y: 0, z: 0}\n            dims: {x: 4, y: 2, z: 1}\n"
              "            nodes: n[01-08]\n          - anchor: {x: 0, y: 0, z: 1}\n"
              "            dims: {x: 4, y: 2, z: 1}\n            nodes: m[1-3,5-9]\n"),
      toBytes("ClusterName=c\nNodeName=tux[000x133,200x333] CPUs=4\n"),
      toBytes("RingName=r Nodes=n[1-4],m[1-2]x[3-4]\n")};
  const std::vector<Bytes> words = wordsOf(
      "0~-1~4294967296~1e300~nan~[~]~{~}~:~- ~&a~*a~\n~'~\"~<~/>~&#10;~<!ENTITY a 'b'>~0-3~Ring~"
      "ZZxZZ~[1-99999999]~\t~#~---\n~!!int~|~?");
  checkMachines({files, fuzzSeed(), words});
}

}  // namespace
}  // namespace torc::fuzz
