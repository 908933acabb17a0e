// Machines in foreign formats: the results of reading, and errors for machines that are no torus or
// malformed. Places of hosts on Slurm's tori.
#include "model/machines/foreign.h"

#include <gtest/gtest.h>

#include "model/machines/slurm_machine.h"
#include "schedules/sub_torus/mapping.h"

namespace torc::model {
namespace {

/// "shape name", with dead nodes; or what is wrong.
std::string read(llvm::StringRef text, llvm::StringRef origin = "dir/m.x") {
  llvm::Expected<Machine> machine = parseForeignMachine(text, origin);
  if (!machine) {
    llvm::Error error = machine.takeError();
    EXPECT_TRUE(error.isA<MachineFault>());
    return toString(std::move(error));
  }
  const std::string json = machineJson(*machine);
  llvm::Expected<Machine> again = parseMachine(json, "again");
  EXPECT_EQ(again ? machineJson(*again) : toString(again.takeError()), json);
  EXPECT_TRUE(bool(topologyOf(*machine)));
  std::string result = shapeOf(*machine) + " " + machine->name;
  if (machine->damaged()) result += " dead " + std::to_string(machine->dead_nodes.size());
  return result;
}

// Others: tests/compiler/commands/refused.test.
TEST(Yaml, WhatIsRefused) {
  EXPECT_EQ(read("a: " + std::string(100, '[')), "dir/m.x:1: error: is nested too deeply");
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(read(many), "dir/m.x:65: error: has too many keys");
  EXPECT_TRUE(llvm::StringRef(read("a: b\n")).starts_with("dir/m.x: is YAML that describes no "));
}

// --- Slurm
// -----------------------------------------------------------------------------------------

constexpr char kYaml[] = R"(- topology: tree1
  cluster_default: false
  tree:
    switches:
    - switch: s
      nodes: node[01-04]
- topology: torus1
  cluster_default: true
  torus3d:
    toruses:
      - name: pod1
        dims: {x: 4, y: 3, z: 2}
        nodes: node[01-24]
        placements:
          - dims: {x: 2, y: 2, z: 2}
      - name: pod2
        dims: {x: 4, y: 3, z: 2}
        regions:
          - anchor: {x: 0, y: 0, z: 0}
            dims: {x: 4, y: 2, z: 2}
            nodes: r1n[01-16]
          - anchor: {x: 0, y: 2, z: 0}
            dims: {x: 3, y: 1, z: 2}
            nodes: r2n[01-06]
)";

TEST(Slurm, Tori) {
  EXPECT_EQ(read(kYaml, "topology.yaml"), "4x3x2 topology");
  EXPECT_EQ(read("RingName=a Nodes=n[1-8]\nringname=b nodes=m[1-8]\n"), "8 m");
  EXPECT_EQ(read("ClusterName=c\nNodeName=login\nNodeName=tux[000x133,200x332] CPUs=4 # x\n"),
            "4x4x4 m dead 8");
  EXPECT_EQ(read("- topology: a\n  ring:\n    rings:\n    - ring: r\n      nodes: n[1-5]\n"),
            "5 m");
  const std::string text(kYaml);
  // Places without hosts, of the first torus.
  EXPECT_EQ(read(text.substr(0, text.find("      - name: pod1")) +
                 text.substr(text.find("      - name: pod2"))),
            "4x3x2 m dead 2");
}

std::string replaced(llvm::StringRef what, llvm::StringRef with) {
  std::string text(kYaml);
  const std::size_t at = text.find(what.str());
  EXPECT_NE(at, text.npos) << what.str();
  return text.replace(at, what.size(), with.str());
}

// A file is never larger than it looks.
TEST(Slurm, HostsInAll) {
  std::string rings, tori = "- topology: a\n  torus3d:\n    toruses:\n";
  for (int i = 0; i < 40000; ++i) {
    rings += "RingName=r Nodes=n[1-100000]\n";
    tori += "    - {name: t, dims: {x: 100, y: 100, z: 10}, regions: []}\n";
  }
  EXPECT_EQ(read(rings), "dir/m.x:2: error: hostlist 'n[1-100000]': has more than 31072 hosts");
  EXPECT_EQ(read(tori), "dir/m.x:5: error: torus 't', 100x100x10: more than 131072 places in all");
}

TEST(Slurm, WhereHostsLie) {
  const std::vector<SlurmTorus> tori = llvm::cantFail(readSlurmTori(kYaml, "t"));
  const auto mapping = [&](llvm::StringRef hosts, std::uint32_t ranks = 1) {
    llvm::Expected<std::string> text = mappingOfHosts(tori, hosts, ranks);
    if (!text) return toString(text.takeError());
    // What a job reads, on the torus that the first line names.
    const llvm::StringRef shape = llvm::StringRef(*text).split('=').second.split(':').first;
    const StatusOr<RankSites> sites =
        parseMapping(*parseTopology({shape.data(), shape.size()}), *text, "job.map");
    EXPECT_TRUE(sites.ok()) << sites.status().message();
    return *text;
  };
  // x counts fastest, and the order is the list's.
  EXPECT_EQ(mapping("node[06,02,05,01]", 2),
            "# TORC_TORUS=2mx2mx1+2: 4 hosts of 'pod1', 4x3x2, from (0,0,0) on\n"
            "1 1 0 0\n1 1 0 1\n1 0 0 0\n1 0 0 1\n0 1 0 0\n0 1 0 1\n0 0 0 0\n0 0 0 1\n");
  // Round the torus; an axis that is filled is a ring.
  EXPECT_EQ(mapping("node[13,16]"),
            "# TORC_TORUS=2mx1x1: 2 hosts of 'pod1', 4x3x2, from (3,0,1) on\n1 0 0\n0 0 0\n");
  EXPECT_EQ(mapping("node[01-04]"),
            "# TORC_TORUS=4x1x1: 4 hosts of 'pod1', 4x3x2, from (0,0,0) on\n"
            "0 0 0\n1 0 0\n2 0 0\n3 0 0\n");
  EXPECT_EQ(mapping("node[01,06]"),
            "# TORC_TORUS=4x3x2: 2 hosts of 'pod1', 4x3x2, which fill no box\n0 0 0\n1 1 0\n");
  EXPECT_EQ(mapping("r2n01"),
            "# TORC_TORUS=1x1x1: 1 host of 'pod2', 4x3x2, from (0,2,0) on\n"
            "0 0 0\n");
  EXPECT_EQ(mapping("node01.x.org"),
            "# TORC_TORUS=1x1x1: 1 host of 'pod1', 4x3x2, from (0,0,0) on\n0 0 0\n");
  EXPECT_EQ(mapping("node01.x.org\nnode01.y.org\n"),
            "host 'node01.y.org' is named twice, also as 'node01.x.org'");
  std::vector<SlurmTorus> full = tori;
  for (SlurmTorus& torus : full) {
    for (std::string& host : torus.hosts)
      host += host.empty() ? "" : torus.name == "pod1" ? ".x.org" : ".y.org";
  }
  full.back().hosts.front() = "node02.y.org";
  EXPECT_EQ(mappingOfHosts(full, "node01", 1)->substr(0, 18), "# TORC_TORUS=1x1x1");
  EXPECT_EQ(toString(mappingOfHosts(full, "node01.y.org", 1).takeError()),
            "host 'node01.y.org' is on no torus");
  EXPECT_EQ(toString(mappingOfHosts(full, "node02", 1).takeError()),
            "host 'node02' may be 'node02.x.org' or 'node02.y.org': give its full name");
  EXPECT_EQ(mapping("node[01-24]", 4000000000u), "a mapping of more than 16777216 ranks");
  const auto twice = [](llvm::StringRef what, llvm::StringRef with) {
    const std::vector<SlurmTorus> wrong = llvm::cantFail(readSlurmTori(replaced(what, with), "t"));
    return toString(mappingOfHosts(wrong, "r1n01", 1).takeError());
  };
  EXPECT_EQ(twice("node[01-24]", "node[01-06,01,08-24]"),
            "host 'node01' is at (0,0,0) of 'pod1' and at (2,1,0) of 'pod1'");
  EXPECT_EQ(twice("r2n[01-06]", "node[01-06]"),
            "host 'node01' is at (0,0,0) of 'pod1' and at (0,2,0) of 'pod2'");
}

TEST(Foreign, OtherFiles) {
  EXPECT_TRUE(llvm::StringRef(read("hello\n")).starts_with("dir/m.x: is no description of a mach"));
}

}  // namespace
}  // namespace torc::model
