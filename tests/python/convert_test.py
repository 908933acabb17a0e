#!/usr/bin/env python3
"""convert_test.py TORC: the converters. What other tools' machines become, and what is said of files that are malformed, with
its line; mutated files are converted, or refused with a line. Schedules: tests/compiler/exchange/import_plans.test."""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = ["tools/convert", "tools"]
import astra
import mscclpp
import places
import sccl
import simgrid
import tacos
import torc

EXAMPLES = "tests/ir/exchange/make_links.py"
PLANS = "tests/ir/exchange/make_mscclpp.py"


def convert(module, text):
    """What it becomes, or the fault."""
    try:
        return module.convert(text, "dir/m.x")
    except places.Fault as fault:
        return str(fault)


def network(topology, sizes, bandwidth="[1]", latency="[1]"):
    return f"# a network\ntopology: {topology}\nnpus_count: {sizes}\nbandwidth: {bandwidth}  # GB/s\nlatency: {latency}\n"


def platform(inside):
    return ("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"simgrid.dtd\">\n<platform version=\"4.1\">\n"
            f"<zone id=\"z\" routing=\"Full\">\n{inside}\n</zone></platform>\n")


def cluster(sizes="4", radical="0-3", bandwidth="1Gbps", latency="1us", more=""):
    return platform(f"<cluster id='t' topology='TORUS' topo_parameters='{sizes}' prefix='n-' suffix='' speed='1Gf' "
                    f"radical='{radical}' bw='{bandwidth}' lat='{latency}' {more}/>")


class Machines(unittest.TestCase):
    def check(self, machine, shape):
        """torc reads it, as a torus of that shape."""
        self.assertIsInstance(machine, dict, machine)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"name": "m", **machine}, file)
            file.flush()
            said = subprocess.run([os.environ["TORC"], "bounds", "allreduce", "--torus", file.name], capture_output=True, text=True)
        self.assertEqual((said.stderr, said.stdout.split("\n")[0].split(" of ")[0]), ("", "allreduce on " + shape))

    def refused(self, module, text, fault):
        self.assertEqual(convert(module, text), "dir/m.x:" + fault)

    def begins(self, module, text, fault):
        self.assertEqual(str(convert(module, text))[:len(fault) + 8], "dir/m.x:" + fault, text)

    def test_astra(self):
        machine = convert(astra, network("[ Ring, Ring, Ring ]", "[8, 4, 2]", "[50.0, 25, 1e1]", "[500.0, 700, 0]"))
        self.assertEqual([one["bandwidth"] for one in machine["dimensions"]], [50.0 * (1 << 30), 25.0 * (1 << 30), 10.0 * (1 << 30)])
        self.assertAlmostEqual(machine["dimensions"][1]["latency"], 7e-7, delta=1e-15)
        self.assertEqual(machine["description"], "ASTRA-sim network: Ring of 8, Ring of 4, Ring of 2")
        self.check(machine, "8x4x2m")  # one cable joins two nodes
        self.check(convert(astra, "---\ntopology:\r\n- Ring\r\nnpus_count:\r\n  - 5\r\nbandwidth: [1]\r\nlatency: [\n 1 ]\r\n"), "5")

    def test_astra_faults(self):
        self.refused(astra, network("[Ring, Switch]", "[4, 8]", "[1, 1]", "[1, 1]"),
                     "2: error: dimension 2 is a 'Switch'; a torus is made of Ring alone")
        self.refused(astra, network("[FullyConnected]", "[4]"), "2: error: dimension 1 is a 'FullyConnected'; a torus is made of Ring alone")
        self.refused(astra, network("[Ring]", "[4, 4]"), "3: error: npus_count has 2 dimensions, topology has 1")
        self.refused(astra, network("Ring", "[4]"), "2: error: topology must be a list of 1 to 7 dimensions")
        for size in ("[0]", "[1]", "[-4]", "[4000000000]", "[1e3]", "[nan]"):
            self.begins(astra, network("[Ring]", size), "3: error: npus_count is '")
        self.begins(astra, network("[Ring]", "[[4]]"), "3: error: '[' stands where a list of dimensions does not have it")
        self.refused(astra, network("[Ring, Ring]", "[65536, 65536]", "[1, 1]", "[1, 1]"),
                     "3: error: npus_count is '65536'; allowed: 2 and more, in all dimensions 2147483647 nodes")
        for bandwidth in ("[0]", "[-1]", "[1e9]", "[.nan]", "[nan]", "[inf]", "[fast]"):
            self.begins(astra, network("[Ring]", "[4]", bandwidth), "4: error: bandwidth is '")
        self.refused(astra, network("[Ring]", "[4]", "[1]", "[-1]"), "5: error: latency is '-1'; allowed: a number from 0 to 1e+12")
        self.refused(astra, "topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\n", "1: error: an ASTRA-sim network without latency")
        self.refused(astra, "topology: [Ring]\nnpus_count: [4]\nlinks: [1]\n",
                     "3: error: key 'links' is not known in an ASTRA-sim network (topology, npus_count, bandwidth, latency)")
        self.refused(astra, "latency: [1]\nlatency: [1]\n", "2: error: key 'latency' occurs twice")
        self.refused(astra, "latency: [1\n", "1: error: a list is not closed")
        self.begins(astra, "topology: &a [Ring]\nnpus_count: *a\n", "1: error: ")

    def test_simgrid(self):
        machine = convert(simgrid, cluster("4,4,4", "0-63", "425MBps", "100ns"))
        smpi = json.loads(torc.run("machines", "smpi", json=True))  # which was measured
        for one, other in zip(machine["dimensions"], smpi["dimensions"]):
            self.assertEqual([one[key] for key in ("size", "bandwidth", "width")], [other[key] for key in ("size", "bandwidth", "width")])
            self.assertAlmostEqual(one["latency"], other["latency"], delta=1e-20)
        self.check(machine, "4x4x4")
        self.check(convert(simgrid, cluster("3,2,1", "0-2,5,7-8", "1Gbps", "0")), "3x2mx1")
        for text, value in (("1Gbps", 125e6), ("2.5 kBps", 2500), ("1MiBps", 1 << 20), ("1e3", 1000)):
            self.assertEqual(convert(simgrid, cluster(bandwidth=text))["dimensions"][0]["bandwidth"], value)
        for text, value in (("2ms", 2e-3), ("2m", 120)):
            self.assertEqual(convert(simgrid, cluster(latency=text))["dimensions"][0]["latency"], value)
        self.assertEqual(convert(simgrid, cluster(bandwidth="8Bps", more="sharing_policy='SHARED'"))["dimensions"][0]["bandwidth"], 4)

    def test_simgrid_faults(self):
        self.refused(simgrid, platform("<host id='a' speed='1Gf'/>"),
                     "5: error: <host> describes no torus: of a platform one <cluster topology=\"TORUS\"> is read")
        self.begins(simgrid, platform("\n<link id='l'/>"), "6: error: <link> des")
        self.refused(simgrid, platform("<cluster id='t' bw='1' lat='1'/>"), "5: error: <cluster>: topology is 'FLAT', not TORUS")
        self.refused(simgrid, platform("<cluster topology='FAT_TREE'/>"), "5: error: <cluster>: topology is 'FAT_TREE', not TORUS")
        self.refused(simgrid, platform(""), "7: error: has no <cluster topology=\"TORUS\">")
        self.refused(simgrid, cluster("4,4", "0-14"), "5: error: <cluster>: radical '0-14' does not name the 16 hosts of the torus")
        for sizes in ("", "0", "-1", "4,,4", "1000000000,1000000000", "1,1,1,1,1,1,1,1", "4x4", "nan"):
            self.begins(simgrid, cluster(sizes), "5: error: <cluster>: topo_parameters is '")
        for bandwidth in ("", "0", "-1GBps", "nanBps", "1e30", "1xBps", "GBps", "1.2.3Bps"):
            self.begins(simgrid, cluster(bandwidth=bandwidth), "5: error: <cluster>: bw is '")
        self.refused(simgrid, cluster(latency="-1s"), "5: error: <cluster>: lat is '-1s'; allowed: as 50us, 0 to 1000")
        self.refused(simgrid, cluster(more="sharing_policy='FATPIPE'"),
                     "5: error: <cluster>: sharing_policy is 'FATPIPE'; allowed: SPLITDUPLEX, SHARED")
        self.begins(simgrid, cluster(more="limiter_link='1Gbps'"), "5: error: <cluster>: limiter_link bounds")
        self.refused(simgrid, "<svg/>", "1: error: <svg> stands where <platform> is expected")
        self.refused(simgrid, "<platform>\n<zone>", "2: error: is no XML that can be read: no element found")
        self.refused(simgrid, "<!DOCTYPE p [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>\n<platform>&b;</platform>",
                     "1: error: declares the entity 'a', which no machine needs")


class Anything(unittest.TestCase):
    def test_json(self):
        for text, fault in (('{"a":\n [ }', "2: error: no JSON: Expecting value"), ('{"a": 1,\n "a": 2}', "2: error: key 'a' occurs twice"),
                            ("[" * 20, "1: error: is nested too deeply"), ("[]", "1: error: has no object here, whose 'msccl_type' is wanted"),
                            ('{"msccl_type": "step"}', "1: error: is of type 'step'; algorithms are imported"), ("", "1: error: no JSON: Expecting value")):
            self.assertEqual(convert(sccl, text), "dir/m.x:" + fault)

    def test_mutants(self):
        def example(*arguments, made_by=EXAMPLES):
            return subprocess.run([sys.executable, made_by, *arguments], capture_output=True, text=True, check=True).stdout

        words = ["-1", "0", "1e9", "null", "None", "[[[[[[[[[[[[[[[[[[", '"sends"', '"pre"', '"addr"', '"chunks": 65536', '"nodes": 3', "[0, 1, 2]",
                 "NPUs Count,2", "Chunks Count,8", ",", "9223372036854775808", "nan", "]", "&a", "Ring", "- ", ":", "\n", "<", "/>", "0-3", "{}",
                 '"put"', '"pwsf"', '"rre"', '"rppkt"', '"glres"', '"switch"', '"port"', '"sem_acquire"', '"tbg_size": 4096', '"pipeline"', '{"buffer_id": 0']
        draw = random.Random(7)
        for module, text in ((sccl, example("sccl-allgather", "4", "2")), (sccl, example("sccl-allreduce", "4", "2")),
                             (sccl, example("sccl-alltoall", "4")), (tacos, example("tacos-allgather", "4", "2")),
                             (mscclpp, example("port-allgather", "3", made_by=PLANS)), (mscclpp, example("group-allreduce", "3", made_by=PLANS)),
                             (mscclpp, example("packet-allreduce", "3", made_by=PLANS)), (mscclpp, example("semaphore-alltoall", "3", made_by=PLANS)),
                             (astra, network("[ Ring, Ring ]", "[ 4, 8 ]", "[ 80.0, 20 ]", "[ 1000.0, 5 ]")), (simgrid, cluster("3,2,2", "0-11"))):
            self.assertNotIsInstance(convert(module, text), str)
            for _ in range(1000):
                mutant = text
                for _ in range(draw.randint(1, 3)):
                    at, length = draw.randrange(len(mutant)), draw.choice((0, 1, 1, 4, 40))
                    mutant = mutant[:at] + draw.choice(words + ["", mutant[at:at + length] * 2]) + mutant[at + length:]
                result = convert(module, mutant)
                if isinstance(result, (torc.Program, mscclpp.Program)):
                    "".join(result.xml_lines())
                elif isinstance(result, str):
                    self.assertRegex(result, r"^dir/m\.x:[0-9]+: error: [ -~]+$", mutant)


if __name__ == "__main__":
    os.environ["TORC"] = os.path.abspath(sys.argv.pop(1))
    unittest.main()
