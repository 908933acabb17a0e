"""The example of a twisted torus: its links are those of the twisted torus, its program runs over them alone, and
is one program of all ranks within a few per cent of the bound."""

import itertools
import os
import tempfile
import unittest

import torc
import twisted


def neighbours(sizes, at):
    """In the coordinates in which links that wrap along an axis of k nodes end k further along those of 2k."""
    for axis, size in enumerate(sizes):
        for sign in (1, -1):
            to = list(at)
            to[axis] += sign
            if not 0 <= to[axis] < size:
                for other, length in enumerate(sizes):
                    to[other] += size if length == 2 * size else 0
            yield tuple(c % n for c, n in zip(to, sizes))


def plain(sizes, at):
    """The sum of the short coordinates goes onto each long one."""
    short = sum(c for c, n in zip(at, sizes) if n == min(sizes))
    return tuple((c + short) % n if n > min(sizes) else c for c, n in zip(at, sizes))


class TwistedTest(unittest.TestCase):
    def test_links(self):
        for sizes in ((3, 3, 6), (8, 4, 4), (3, 6, 6), (8, 4, 8)):
            links = set(twisted.steps(sizes))
            for at in itertools.product(*map(range, sizes)):
                here = plain(sizes, at)
                linked = {tuple((c + d) % n for c, d, n in zip(here, link, sizes)) for link in links}
                self.assertEqual(linked, {plain(sizes, to) for to in neighbours(sizes, at)})

    def test_one_program_over_links(self):
        for sizes in ((3, 3, 6), (3, 6, 6)):
            shape = "x".join(map(str, sizes))
            program, load, furthest = twisted.allreduce(sizes)
            links = set(twisted.steps(sizes))
            place = lambda rank: (rank % sizes[0], rank // sizes[0] % sizes[1], rank // sizes[0] // sizes[1])
            for _, _, rank, _, source, *_ in program._moves:
                apart = [tuple((a - b - d) % n for a, b, d, n in zip(place(rank), place(source), link, sizes))
                         for link in links]
                self.assertIn((0, 0, 0), apart)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "twisted.torc")
                program.compile(path, torus=shape)
                self.assertIn("proved on 1 cell", torc.run("verify", path))
            bound = torc.bounds("allreduce", torus=shape + "t", bytes=1000000)
            self.assertEqual(bound["neighbour_rounds"], furthest)
            share = load / program.ranks * 1000000 / 1e9 / bound["bandwidth_s"]
            self.assertGreaterEqual(share, 1)
            self.assertLess(share, 1.04)


if __name__ == "__main__":
    unittest.main()
