"""torc_test.py: the module torc, with $TORC as its command. Schedules are proved for one count by `torc verify`."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, "tools")
import torc


def ring_allgather(ranks, chunks_of_block):
    program = torc.Program("allgather", ranks, ranks * chunks_of_block)
    for r in range(ranks):
        for i in range(1, ranks):
            program.copy((r + i) % ranks, r * chunks_of_block, source=(r + i - 1) % ranks, count=chunks_of_block)
    return program


def ring_reduce_scatter(ranks):
    program = torc.Program("reduce_scatter", ranks, ranks)
    for c in range(ranks):
        for i in range(1, ranks):
            program.add((c + i + 0) % ranks, c, source=(c + i - 1) % ranks)
        program.copy(c, c, source=(c - 1) % ranks)
    return program


def recursive_doubling(ranks):
    """What comes in waits in scratch until the own chunk is sent."""
    program = torc.Program("allreduce", ranks, 1)
    distance, place = 1, 0
    while distance < ranks:
        for r in range(ranks):
            program.copy(r, place, source=r ^ distance, from_chunk=0, buffer="scratch", from_buffer="in")
        for r in range(ranks):
            program.add(r, 0, from_chunk=place, from_buffer="scratch")
        distance, place = 2 * distance, place + 1
    return program


def alltoall(ranks):
    program = torc.Program("alltoall", ranks, ranks)
    for r in range(ranks):
        for q in range(ranks):
            program.copy(q, r, source=r, from_chunk=q)
    return program


class TorcTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "x.torc")

    def tearDown(self):
        self.folder.cleanup()

    def check(self, program, **options):
        program.compile(self.path, **options)
        self.assertIn("ok for count 37", torc.run("verify", self.path, count=37))
        return "\n".join(line for line in torc.run("dump", self.path).splitlines() if not line.startswith("//"))

    def test_rings_fold(self):
        self.assertNotIn(" when ", self.check(ring_allgather(6, 2)))
        self.assertIn("for i in 0..", self.check(ring_allgather(9, 1)))
        self.assertIn("collective reduce_scatter", self.check(ring_reduce_scatter(5)))

    def test_on_a_torus(self):
        self.assertNotIn(" when ", self.check(recursive_doubling(8), torus="2x2x2"))
        self.assertIn(" when ", self.check(recursive_doubling(8)))
        self.check(alltoall(6), torus="3x2")

    def test_faults(self):
        program = torc.Program("allgather", 4, 4)
        for r in range(4):
            for i in range(1, 3):
                program.copy((r + i) % 4, r, source=(r + i - 1) % 4)
        with self.assertRaisesRegex(torc.TorcError, r"gpu 0 o\[1\] is never written; it must be chunk 0 of gpu 1"):
            program.compile(self.path)
        with self.assertRaisesRegex(ValueError, "there is no rank 4: there are 4"):
            program.copy(4, 0)
        with self.assertRaisesRegex(ValueError, "there is no buffer 'inn'; there are in, out, scratch"):
            program.copy(0, 0, buffer="inn")
        with self.assertRaisesRegex(ValueError, "collective is allreduce, .*; not 'scan'"):
            torc.Program("scan", 4, 4)
        with self.assertRaisesRegex(torc.TorcError, "unknown machine"):
            torc.bounds("allreduce", torus="4x4", machine="bpg")

    def test_faults_are_at_the_authors_lines(self):
        here = sys._getframe().f_code.co_firstlineno
        program = torc.Program("allreduce", 3, 1)  # here + 2
        for r in range(1, 3):
            program.add(0, 0, source=r)
        for r in range(1, 3):
            program.copy(r, 0, source=0)
        program.compile(self.path)
        program = torc.Program("allreduce", 3, 1)  # here + 8
        program.add(0, 0, source=1)  # here + 9
        for r in range(1, 3):
            program.copy(r, 0, source=0)
        with self.assertRaisesRegex(torc.TorcError, rf"torc_test.py:{here + 9}: error: gpu 0 tb \d step 0: is the last to add to chunk 0, "
                                    r"which ends in i\[0\]=o\[0\] of gpu \d without the contribution of gpu 2$"):
            program.compile(self.path)
        program = torc.Program("allgather", 3, 3)  # here + 15
        program.copy(0, 1, source=1)
        with self.assertRaisesRegex(torc.TorcError, rf"torc_test.py:{here + 15}: error: gpu 0 o\[2\] is never written"):
            program.compile(self.path)
        program = torc.Program("allgather", 3, 2)  # here + 19
        with self.assertRaisesRegex(torc.TorcError, rf"torc_test.py:{here + 19}: error: the vector has 2 chunks"):
            program.compile(self.path)

    def test_without_a_command(self):
        command, os.environ["TORC"] = os.environ["TORC"], "/nowhere/torc"
        try:
            with self.assertRaisesRegex(torc.TorcError, "cannot run '/nowhere/torc': No such file or directory; set TORC"):
                torc.bounds("allreduce", torus="4x4")
        finally:
            os.environ["TORC"] = command

    def test_every_collective(self):
        for collective in torc.COLLECTIVES:
            torc.compile(collective, "4x2", self.path, bytes="64K")
            self.assertEqual(torc.verify(self.path, count=37)["collective"], collective)
        page = torc.view(self.path)
        self.assertIn("<html", open(page).read(100))

    def test_values(self):
        torc.compile("allreduce", "4x4", self.path, bytes="1M", machine="bgp")
        one = torc.simulate(self.path, bytes="1M", machine="bgp")
        self.assertEqual(one["bytes"], 1 << 20)
        self.assertGreaterEqual(one["makespan_s"], torc.bounds("allreduce", torus="4x4", bytes="1M", machine="bgp")["bound_s"])
        self.assertEqual(len(torc.simulate(self.path, bytes="1K:4K")), 3)
        chosen = torc.simulate(self.path)
        self.assertEqual((chosen["bytes"], chosen["machine"]), (1 << 20, "bgp"))
        torc.compile("broadcast", "4x4x4", self.path)
        self.assertLess(torc.simulate(self.path)["ratio"], 2)


if __name__ == "__main__":
    os.environ["TORC"] = os.path.abspath(sys.argv.pop())
    unittest.main()
