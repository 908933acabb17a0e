"""A ring allreduce of one's own beside what torc chooses, on a ring of 16: predicted times, drawn by gnuplot.

    python3 rings.py rings.svg
"""

import subprocess
import sys

import torc

NODES = 16
SIZES = "1K:64M"


def ring(directions):
    """Half of the chunks go round each way, where there are two."""
    chunks = NODES * directions
    program = torc.Program("allreduce", ranks=NODES, chunks=chunks, name=f"ring{directions}")
    for chunk in range(chunks):
        way = 1 if chunk % directions == 0 else -1
        home = chunk // directions
        for i in range(1, 2 * NODES - 1):
            rank, source = (home + way * i) % NODES, (home + way * (i - 1)) % NODES
            move = program.add if i < NODES else program.copy
            move(rank, chunk, source=source, channel=chunk % directions)
    return program


def main():
    curves = []
    for directions in (1, 2):
        path = f"ring{directions}.torc"
        ring(directions).compile(path)
        curves.append((f"ring, {directions} way{'s' if directions > 1 else ''}", torc.simulate(path, bytes=SIZES)))
    torc.compile("allreduce", NODES, "chosen.torc", bytes="16M")
    curves.append(("torc's choice for 16 MiB", torc.simulate("chosen.torc", bytes=SIZES)))
    for name, points in curves:
        print(f"{name}: {points[-1]['ratio']:.2f} of the bound at {points[-1]['bytes'] >> 20} MiB")
    if len(sys.argv) > 1:
        plot = ["set terminal svg size 720,480", f"set output '{sys.argv[1]}'", "set logscale xy", "set grid",
                "set xlabel 'bytes of the vector'", "set ylabel 'time over the bound'", "set key top right",
                "plot " + ", ".join(f"'-' with linespoints title \"{name}\"" for name, _ in curves)]
        for _, points in curves:
            plot += [f"{point['bytes']} {point['ratio']}" for point in points] + ["e"]
        subprocess.run(["gnuplot"], input="\n".join(plot) + "\n", text=True, check=True)


main()
