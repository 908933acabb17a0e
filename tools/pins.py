#!/usr/bin/env python3
"""What a change of structure must not change: about a thousand dumps and choices of torc, and the
keys of its JSON.

  tools/pins.py write TORC FILE    runs all of them with the program TORC, and writes a line each
  tools/pins.py compare OLD NEW    compares two such files (a program is run first): dumps and keys
                                   are to be the same, choices at most 2 % slower in the median of
                                   those that changed, and none by 10 %; exit code 1 where not

A line is KIND, the arguments of `torc`, and the result: of a given algorithm the hash of its dump, of
a choice the predicted seconds and the algorithm with its options, of keys their paths.
"""

import concurrent.futures
import hashlib
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile

MOST_SECONDS = 120  # of the processor: a machine that others use changes no result
TAKES_LONG = "<takes longer than %d s>" % MOST_SECONDS
MOST_SLOWER, MOST_SLOWER_MEDIAN = 0.10, 0.02

SHAPES = ["8", "2x2", "4x4", "4x4m", "8x4x2", "4x3x2", "3x5", "3x3x3", "2x2x2x2x2", "4x2+4", "1000x2",
          "2x1000", "512x2x2"]
SMALL = SHAPES[:10]
DAMAGE = [["4x4", "--dead-node", "1,2"], ["4x4x3", "--dead-link", "0,0,1:Z"],
          ["5x4", "--dead-link", "0,0:X", "--dead-link", "2,1:Y"], ["3x3x3", "--dead-node", "1,1,1"]]
COLLECTIVES = ["allreduce", "reduce_scatter", "allgather", "broadcast", "reduce", "scatter", "gather",
               "alltoall", "scan", "exscan", "neighbor_allgather", "neighbor_alltoall"]
ROUND_DAMAGE = ["allreduce", "reduce_scatter", "allgather", "alltoall", "broadcast"]
SIZES = ["8", "4K", "256K", "16M"]
MACHINES = ["generic", "bgl", "bgp", "cluster"]
# Options that change the program of one algorithm.
OPTIONS = {
    "bucket": [["--weights", "balanced"], ["--weights", "overlapped"], ["--segments", "4"],
               ["--dependences", "phase"], ["--chunks", "3", "--segment-order", "phases"],
               ["--directions", "half-duplex"], ["--sends", "synchronous"], ["--in-flight", "2"]],
    "rectangular": [["--chunks", "8", "--in-flight", "2"], ["--weights", "balanced"]],
    "direct": [["--peers", "nearest"], ["--window", "3"]],
    "aggregated": [["--leaders"]],
    "closed-trees": [["--chunks", "4"]],
}
JSON = [["compile", "allreduce", "--torus", "4x4", "--bytes", "1M", "--explain", "--json", "-o", "@"],
        ["verify", "@", "--json"], ["simulate", "@", "--bytes", "1M", "--json"],
        ["bounds", "allreduce", "--torus", "4x4", "--bytes", "1M", "--json"],
        ["machines", "bgp", "--json"], ["machines", "--json"], ["info", "--json"]]


def limitTime():
  resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 1))


def run(torc, arguments):
  """The result of a command: its output, or in angle brackets why there is none."""
  done = subprocess.run([torc, *arguments], capture_output=True, preexec_fn=limitTime)
  if done.returncode == -signal.SIGXCPU:
    return None, TAKES_LONG
  if done.returncode == 0:
    return done.stdout, ""
  return None, "<exit code %d>" % done.returncode


def algorithms(torc):
  """Names of algorithms, and the collectives that each serves."""
  serves, name = {}, ""
  for line in run(torc, ["compile", "--list-algorithms"])[0].decode().splitlines():
    if not line.startswith(" "):
      name = line.strip()
    elif line.strip().startswith("serves "):
      serves[name] = line.strip()[len("serves "):].split(", ")
  return serves


def dump(torc, arguments):
  text, why = run(torc, arguments)
  return why or hashlib.sha256(text).hexdigest()[:16]


def choice(torc, arguments):
  text, why = run(torc, arguments)
  if why:
    return why
  made = json.loads(text)
  options = " ".join("%s=%s" % item for item in sorted(made["options"].items()))
  return "%.9g %s %s" % (made["predicted_s"], made["algorithm"], options)


def paths(value, path=""):
  """The paths of all keys in a JSON value; lists are one step."""
  if isinstance(value, dict):
    for key, inner in value.items():
      yield path + "." + key
      yield from paths(inner, path + "." + key)
  elif isinstance(value, list):
    for inner in value:
      yield from paths(inner, path + "[]")


def keys(torc, arguments):
  text, why = run(torc, arguments)
  return why or " ".join(sorted(set(paths(json.loads(text)))))


def specs(torc):
  """(kind, function, arguments) of all that is pinned."""
  for name, served in algorithms(torc).items():
    for collective in served:
      for shape in SMALL:
        for options in [[]] + (OPTIONS.get(name, []) if shape in ("4x4", "8x4x2", "4x2+4") else []):
          yield "dump", dump, ["compile", collective, "--torus", shape, "--algorithm", name, *options,
                               "--quiet", "--emit", "text", "-o", "-"]
      for damage in DAMAGE:
        yield "dump", dump, ["compile", collective, "--torus", *damage, "--algorithm", name, "--quiet",
                             "--emit", "text", "-o", "-"]
  for collective in COLLECTIVES:
    for machine in MACHINES:
      for shape in SHAPES if machine == "generic" else ["8", "4x4", "4x3x2"]:
        for size in SIZES:
          yield "choice", choice, ["compile", collective, "--torus", shape, "--machine", machine,
                                   "--bytes", size, "--quiet", "--json", "-o", "/dev/null"]
  for collective in ROUND_DAMAGE:
    for damage in DAMAGE:
      for size in SIZES:
        yield "choice", choice, ["compile", collective, "--torus", *damage, "--bytes", size, "--quiet",
                                 "--json", "-o", "/dev/null"]


def pinned(torc):
  """The results of all, by kind and arguments."""
  with tempfile.TemporaryDirectory() as folder:
    schedule = os.path.join(folder, "allreduce.torc")
    results = {}
    for arguments in JSON:
      named = [schedule if argument == "@" else argument for argument in arguments]
      results["keys", " ".join(arguments)] = keys(torc, named)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
      jobs = [(kind, arguments, pool.submit(function, torc, arguments))
              for kind, function, arguments in specs(torc)]
      for kind, arguments, job in jobs:
        results[kind, " ".join(arguments)] = job.result()
    return results


def read(path):
  """Of a file, or of a program, which is run."""
  if os.access(path, os.X_OK):
    return pinned(path)
  with open(path) as file:
    return {tuple(fields[:2]): fields[2] for fields in (line.rstrip("\n").split("\t") for line in file)}


def write(path, results):
  with open(path, "w") as file:
    for (kind, arguments), result in results.items():
      file.write("%s\t%s\t%s\n" % (kind, arguments, result))


def compare(old, new):
  """Prints what differs; whether that is more than may be."""
  bad, slower, counts = 0, [], {}
  for spec, before in old.items():
    kind, arguments = spec
    after = new.get(spec)
    counts[kind] = counts.get(kind, 0) + 1
    if before in (after, TAKES_LONG):
      continue
    if after is None:
      print("gone     torc %s" % arguments)
      continue
    if kind == "choice" and not (before + after).count("<"):
      seconds = float(before.split()[0]), float(after.split()[0])
      slower.append(seconds[1] / seconds[0] - 1)
      bad += slower[-1] > MOST_SLOWER
      print("choice   torc %s: %+.2f %%: %s -> %s" % (arguments, 100 * slower[-1], before, after))
      continue
    bad += 1
    print("%-8s torc %s: %s -> %s" % (kind, arguments, before, after))
  if slower:
    median = statistics.median(slower)
    bad += median > MOST_SLOWER_MEDIAN
    print("%d choices differ: %+.2f %% in the median, %+.2f %% at most" %
          (len(slower), 100 * median, 100 * max(slower)))
  print(", ".join("%d of %s" % (number, kind) for kind, number in counts.items()) +
        ": %d differ more than may be" % bad)
  return bad == 0


def main(arguments):
  if len(arguments) == 3 and arguments[0] == "write":
    write(arguments[2], pinned(arguments[1]))
  elif len(arguments) == 3 and arguments[0] == "compare":
    sys.exit(0 if compare(read(arguments[1]), read(arguments[2])) else 1)
  else:
    sys.exit(__doc__)


main(sys.argv[1:])
