// Machines that other tools describe: what they are read as, and what is said of those that are no
// torus or malformed. Where hosts lie on Slurm's tori.
#include "model/machines/foreign.h"

#include <gtest/gtest.h>

#include "model/machines/host_mapping.h"
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

Machine parsed(llvm::StringRef text) {
  return llvm::cantFail(parseForeignMachine(text, "m.x"));
}

// --- ASTRA-sim
// -------------------------------------------------------------------------------------

std::string network(llvm::StringRef topology, llvm::StringRef sizes, llvm::StringRef bandwidth,
                    llvm::StringRef latency) {
  return ("# a network\ntopology: " + topology + "\nnpus_count: " + sizes +
          "\nbandwidth: " + bandwidth + "  # GB/s\nlatency: " + latency + "\n")
      .str();
}

TEST(AstraNetwork, RingsAreATorus) {
  const std::string text =
      network("[ Ring, Ring, Ring ]", "[8, 4, 2]", "[50.0, 25, 1e1]", "[500.0, 700, 0]");
  // One cable joins two nodes.
  EXPECT_EQ(read(text, "some/network.yml"), "8x4x2m network");
  const Machine machine = parsed(text);
  EXPECT_EQ(machine.dimensions[0].bandwidth, 50.0 * (1 << 30));
  EXPECT_EQ(machine.dimensions[1].bandwidth, 25.0 * (1 << 30));
  EXPECT_NEAR(machine.dimensions[1].latency, 7e-7, 1e-15);
  EXPECT_EQ(machine.linkBandwidth(0), 50.0 * (1 << 30));
  EXPECT_EQ(machine.alpha, 0);
  EXPECT_EQ(read("\xef\xbb\xbftopology:\r\n- Ring\r\nnpus_count:\r\n- 5\r\nbandwidth: [1]\r\n"
                 "latency: [1]\r\n"),
            "5 m");
}

TEST(AstraNetwork, Faults) {
  const auto one = [](llvm::StringRef topology, llvm::StringRef size, llvm::StringRef bandwidth,
                      llvm::StringRef latency) {
    return read(network(topology, size, bandwidth, latency));
  };
  EXPECT_EQ(read(network("[Ring, Switch]", "[4, 8]", "[1, 1]", "[1, 1]")),
            "dir/m.x:2: error: dimension 2 is a 'Switch'; a torus is made of Ring alone");
  EXPECT_EQ(one("[FullyConnected]", "[4]", "[1]", "[1]"),
            "dir/m.x:2: error: dimension 1 is a 'FullyConnected'; a torus is made of Ring alone");
  EXPECT_EQ(one("[Ring]", "[4, 4]", "[1]", "[1]"),
            "dir/m.x:3: error: npus_count has 2 dimensions, topology has 1");
  EXPECT_EQ(one("Ring", "[4]", "[1]", "[1]"),
            "dir/m.x:2: error: topology must be a list of 1 to 7 dimensions");
  for (const char* size : {"[0]", "[1]", "[-4]", "[4000000000]", "[1e3]", "[nan]", "[[4]]"}) {
    EXPECT_TRUE(llvm::StringRef(one("[Ring]", size, "[1]", "[1]"))
                    .starts_with("dir/m.x:3: error: npus_count is '"))
        << size;
  }
  EXPECT_EQ(read(network("[Ring, Ring]", "[65536, 65536]", "[1, 1]", "[1, 1]")),
            "dir/m.x:3: error: npus_count is '65536'; allowed: 2 and more, in all dimensions "
            "2147483647 nodes");
  for (const char* bandwidth : {"[0]", "[-1]", "[1e9]", "[.nan]", "[nan]", "[inf]", "[fast]"}) {
    EXPECT_TRUE(llvm::StringRef(one("[Ring]", "[4]", bandwidth, "[1]"))
                    .starts_with("dir/m.x:4: error: bandwidth is '"))
        << bandwidth;
  }
  EXPECT_EQ(one("[Ring]", "[4]", "[1]", "[-1]"),
            "dir/m.x:5: error: latency is '-1'; allowed: a number from 0 to 1e+12");
  EXPECT_EQ(read("topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\n"),
            "dir/m.x:1: error: an ASTRA-sim network without latency");
  EXPECT_EQ(read("topology: [Ring]\nnpus_count: [4]\nlinks: [1]\n"),
            "dir/m.x:3: error: key 'links' is not known in an ASTRA-sim network (topology, "
            "npus_count, bandwidth, latency)");
}

TEST(Yaml, WhatIsRefused) {
  EXPECT_EQ(read("topology: &a [Ring]\nnpus_count: *a\n"),
            "dir/m.x:1: error: has an anchor, which no machine needs");
  EXPECT_EQ(read("a: 1\nb: *a\n"), "dir/m.x:2: error: has an alias, which no machine needs");
  EXPECT_EQ(read("a: 1\na: 2\n"), "dir/m.x:2: error: key 'a' occurs twice");
  EXPECT_EQ(read("a: 1\n---\nb: 2\n"), "dir/m.x:2: error: has a second document");
  EXPECT_EQ(read("a: [1\n"), "dir/m.x:2: error: is no YAML: did not find expected ',' or ']'");
  EXPECT_EQ(read("[a]: 1\n"), "dir/m.x:1: error: has a key that is no word");
  EXPECT_EQ(read("a: " + std::string(100, '[')), "dir/m.x:1: error: is nested too deeply");
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(read(many), "dir/m.x:65: error: has too many keys");
  EXPECT_TRUE(llvm::StringRef(read("a: b\n")).starts_with("dir/m.x: is YAML that describes no "));
}

// --- SimGrid
// ---------------------------------------------------------------------------------------

std::string platform(llvm::StringRef inside) {
  return ("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n" +
          inside + "\n</zone></platform>\n")
      .str();
}

std::string cluster(llvm::StringRef sizes, llvm::StringRef radical, llvm::StringRef bandwidth,
                    llvm::StringRef latency, llvm::StringRef more = "") {
  return platform(("<cluster id='t' topology='TORUS' topo_parameters='" + sizes +
                   "' prefix='n-' suffix='' speed='1Gf' radical='" + radical + "' bw='" +
                   bandwidth + "' lat='" + latency + "' " + more + "/>")
                      .str());
}

TEST(SimgridPlatform, ATorusIsTheMachineOfThatTorus) {
  const std::string text = cluster("4,4,4", "0-63", "425MBps", "100ns");
  EXPECT_EQ(read(text), "4x4x4 m");
  // As the preset, which was measured.
  const Machine machine = parsed(text), smpi = llvm::cantFail(findMachine("smpi"));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(machine.dimensions[i].bandwidth, smpi.dimensions[i].bandwidth);
    EXPECT_DOUBLE_EQ(machine.dimensions[i].latency, smpi.dimensions[i].latency);
    EXPECT_EQ(machine.dimensions[i].width, smpi.dimensions[i].width);
  }
  EXPECT_EQ(read(cluster("3,2,1", "0-2,5,7-8", "1Gbps", "0")), "3x2mx1 m");
}

TEST(SimgridPlatform, Units) {
  const auto bandwidth = [](llvm::StringRef text) {
    return parsed(cluster("4", "0-3", text, "1us")).dimensions[0].bandwidth;
  };
  EXPECT_EQ(bandwidth("1Gbps"), 125e6);
  EXPECT_EQ(bandwidth("2.5 kBps"), 2500);
  EXPECT_EQ(bandwidth("1MiBps"), 1 << 20);
  EXPECT_EQ(bandwidth("1e3"), 1000);
  EXPECT_EQ(parsed(cluster("4", "0-3", "1Gbps", "2ms")).dimensions[0].latency, 2e-3);
  EXPECT_EQ(parsed(cluster("4", "0-3", "1Gbps", "2m")).dimensions[0].latency, 120);
  EXPECT_EQ(parsed(cluster("4", "0-3", "8Bps", "0", "sharing_policy='SHARED'")).linkBandwidth(0),
            4);
}

TEST(SimgridPlatform, Faults) {
  const auto refused = [](llvm::StringRef inside) { return read(platform(inside)); };
  EXPECT_EQ(refused("<host id='a' speed='1Gf'/>"),
            "dir/m.x:5: error: <host> describes no torus: of a platform one <cluster "
            "topology=\"TORUS\"> is read");
  EXPECT_EQ(refused("\n<link id='l'/>").substr(0, 28), "dir/m.x:6: error: <link> des");
  EXPECT_EQ(refused("<cluster id='t' bw='1' lat='1'/>"),
            "dir/m.x:5: error: <cluster>: topology is 'FLAT', not TORUS");
  EXPECT_EQ(refused("<cluster topology='FAT_TREE'/>"),
            "dir/m.x:5: error: <cluster>: topology is 'FAT_TREE', not TORUS");
  EXPECT_EQ(refused(""), "dir/m.x:7: error: has no <cluster topology=\"TORUS\">");
  EXPECT_EQ(read(cluster("4,4", "0-14", "1Gbps", "1us")),
            "dir/m.x:5: error: <cluster>: radical '0-14' does not name the 16 hosts of the torus");
  for (const char* sizes :
       {"", "0", "-1", "4,,4", "1000000000,1000000000", "1,1,1,1,1,1,1,1", "4x4", "nan"}) {
    EXPECT_TRUE(llvm::StringRef(read(cluster(sizes, "0-3", "1Gbps", "1us")))
                    .starts_with("dir/m.x:5: error: <cluster>: topo_parameters is '"))
        << sizes;
  }
  for (const char* bandwidth : {"", "0", "-1GBps", "nanBps", "1e30", "1xBps", "GBps", "1.2.3Bps"}) {
    EXPECT_TRUE(llvm::StringRef(read(cluster("4", "0-3", bandwidth, "1us")))
                    .starts_with("dir/m.x:5: error: <cluster>: bw is '"))
        << bandwidth;
  }
  EXPECT_EQ(read(cluster("4", "0-3", "1Gbps", "-1s")),
            "dir/m.x:5: error: <cluster>: lat is '-1s'; allowed: as 50us, 0 to 1000");
  EXPECT_EQ(read(cluster("4", "0-3", "1Gbps", "1us", "sharing_policy='FATPIPE'")),
            "dir/m.x:5: error: <cluster>: sharing_policy is 'FATPIPE'; allowed: SPLITDUPLEX, "
            "SHARED");
  EXPECT_TRUE(llvm::StringRef(read(cluster("4", "0-3", "1Gbps", "1us", "limiter_link='1Gbps'")))
                  .starts_with("dir/m.x:5: error: <cluster>: limiter_link bounds"));
  EXPECT_EQ(read("<algo name='a'/>"),
            "dir/m.x:1: error: is an MSCCL schedule, no machine (torc import)");
  EXPECT_EQ(read("<svg/>"), "dir/m.x:1: error: <svg> stands where <platform> is expected");
  EXPECT_EQ(read("<platform>\n<zone>"),
            "dir/m.x:2: error: is no XML that can be read: no element found");
  EXPECT_EQ(read("<!DOCTYPE p [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>\n<platform>&b;</platform>"),
            "dir/m.x:1: error: declares the entity 'a', which no machine needs");
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

TEST(Slurm, Faults) {
  EXPECT_EQ(read("SwitchName=s0 Nodes=n[1-4]\n"),
            "dir/m.x:1: error: SwitchName: switches are no torus");
  EXPECT_EQ(read("# a\nBlockName=b Nodes=n[1-4]\n"),
            "dir/m.x:2: error: BlockName: a block is no torus");
  EXPECT_EQ(read("ClusterName=c\n"),
            "dir/m.x:1: error: a file of Slurm's without a torus: neither RingName nor a box of "
            "hosts, as NodeName=tux[000x733]");
  EXPECT_EQ(read("RingName=a Nodes=n[1-\n"),
            "dir/m.x:1: error: hostlist 'n[1-': '[' is not closed (column 2)");
  EXPECT_EQ(read("NodeName=t[00x11]\nNodeName=u[000x111]\n"),
            "dir/m.x:2: error: NodeName is 'u[000x111]'; allowed: boxes of 2 coordinates at the "
            "names' ends");
  EXPECT_EQ(read("NodeName=t[00x11]\nNodeName=u[11x12]\n"),
            "dir/m.x:1: error: host 'u11' is where 't11' is");
  EXPECT_EQ(read("NodeName=[00x01,5]\n"),
            "dir/m.x:1: error: host '5' does not end in 2 coordinates");
  EXPECT_EQ(read("NodeName=t[00x00,99x99]\n"),
            "dir/m.x:1: error: torus 'nodes', 10x10, has more than 16 places without a host");
  EXPECT_EQ(read("- topology: a\n  block: 1\n- topology: b\n  flat: true\n"),
            "dir/m.x:1: error: Slurm's topology without a torus3d or ring: 'a' is block, 'b' is "
            "flat");
  EXPECT_EQ(read(replaced("node[01-24]", "node[01-23]")),
            "dir/m.x:11: error: nodes names 23 hosts for 24 places");
  EXPECT_EQ(read(replaced("x: 4, y: 3, z: 2", "x: 0, y: 3, z: 2")),
            "dir/m.x:12: error: dims: x is '0'; allowed: 1 to 65535");
  EXPECT_EQ(read(replaced("x: 4, y: 3, z: 2", "x: 60000, y: 60000, z: 60000")),
            "dir/m.x:11: error: torus 'pod1', 60000x60000x60000: more than 131072 places in all");
  EXPECT_EQ(read(replaced("x: 4, y: 3, z: 2", "x: 4, y: 3")),
            "dir/m.x:12: error: has no z where Slurm's topology needs it");
  EXPECT_EQ(read(replaced("{x: 0, y: 2", "{x: 0, y: 3")),
            "dir/m.x:22: error: the region is not inside of 4x3x2");
  EXPECT_EQ(read(replaced("{x: 0, y: 2", "{x: 0, y: 1")),
            "dir/m.x:22: error: the region overlaps another one");
  EXPECT_EQ(read(replaced("        nodes: node[01-24]\n", "")),
            "dir/m.x:11: error: torus 'pod1' must have either nodes or regions");
  EXPECT_EQ(read(replaced("x: 4, y: 3, z: 2", "x: 4, y: 2, z: 3")),
            "dir/m.x:16: error: torus 'pod2' is 4x3x2, 'pod1' is 4x2x3: which one?");
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
  EXPECT_EQ(mapping("node25"), "host 'node25' is on no torus");
  EXPECT_EQ(mapping("node01,node01"), "host 'node01' is named twice");
  EXPECT_EQ(mapping("node01,r1n01"), "host 'r1n01' is on torus 'pod2', 'node01' on 'pod1'");
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
  EXPECT_EQ(read(""), "dir/m.x: is empty");
  EXPECT_EQ(read("# nothing\n\n"), "dir/m.x: is empty");
  EXPECT_EQ(read("num_ranks 4\n"), "dir/m.x: is a GOAL schedule, no machine");
  EXPECT_EQ(read("(0,0)\n"), "dir/m.x: is a mapping of ranks (TORC_MAPPING), no machine");
  EXPECT_EQ(read("0 0\n"), "dir/m.x: is a mapping of ranks (TORC_MAPPING), no machine");
  EXPECT_EQ(read("schedule @a {"), "dir/m.x: is a schedule of torc's (torc dump, torc verify)");
  EXPECT_TRUE(llvm::StringRef(read("hello\n")).starts_with("dir/m.x: is no description of a mach"));
}

}  // namespace
}  // namespace torc::model
