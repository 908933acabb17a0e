#!/usr/bin/env python3
"""No room has more code than tests/tools/budget.txt allows, and none is made to fit by denser text.

Code lines are those of C and C++ that are neither blank nor a comment. Comments are whole lines."""

import collections
import os
import re
import sys

SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".ipp", ".inc", ".def", ".tcc")
LONG_MACRO = 5


def lines_of(text):
  """(whether it is code, whether it is a comment, the line) without what is blank at its ends."""
  inside = False
  for line in text.split("\n"):
    line = line.strip()
    begins = not inside and line.startswith("/*")
    comment = inside or begins or line.startswith("//")
    yield bool(line) and not comment, comment, line
    if inside or begins:
      inside = "*/" not in line


def long_macros(text):
  for macro in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:.*\\\n)*.*", text, re.MULTILINE):
    if macro[0].count("\n") + 1 > LONG_MACRO:
      yield macro[1]


def sources(root):
  for folder, folders, files in os.walk(root):
    at = os.path.relpath(folder, root)
    folders[:] = [name for name in folders if not name.startswith((".", "bazel-"))]
    if at == ".":
      folders.remove("third_party")
    for name in files:
      if name.endswith(SUFFIXES):
        yield os.path.normpath(os.path.join(at, name))


def main():
  root = os.path.dirname(os.path.realpath("WORKSPACE"))
  ceilings, limits, allowed = {}, {}, set()
  with open(os.path.join(root, "tests/tools/budget.txt")) as budget:
    for row in (line.split() for line in budget if not line.startswith("#")):
      if row[:1] == ["macro"]:
        allowed.add(tuple(row[1:]))
      elif len(row) == 3:
        limits[row[0], row[1]] = float(row[2])
      elif row:
        ceilings[row[0]] = int(row[1])
  faults, macros, lines, outside = [], set(), collections.Counter(), collections.Counter()
  for name in sources(root):
    with open(os.path.join(root, name), errors="replace") as file:
      text = file.read()
    rooms = [room for room in ceilings if name.startswith(room + "/")]
    if not rooms:
      faults.append("%s: no room of tests/tools/budget.txt has it" % name)
      continue
    macros.update((name, macro) for macro in long_macros(text))
    for code, comment, line in lines_of(text):
      lines[max(rooms, key=len)] += code
      if not name.startswith("tests/"):
        outside.update(lines=code, bytes=len(line) * code, comments=comment)
  for room, ceiling in ceilings.items():
    print("%-24s %6d of %6d" % (room, lines[room], ceiling))
    if lines[room] > ceiling:
      faults.append("%s has %d code lines, more than %d" % (room, lines[room], ceiling))
  for (side, what), limit in limits.items():
    density = outside[what] / max(outside["lines"], 1)
    print("%-24s %6.4g, at %s %g" % (what + " a code line", density, side, limit))
    if density > limit if side == "most" else density < limit:
      faults.append("%.4g %s a code line, at %s %g are allowed" % (density, what, side, limit))
  for macro in macros - allowed:
    faults.append("%s: macro %s has more than %d lines" % (*macro, LONG_MACRO))
  for macro in allowed - macros:
    faults.append("%s: macro %s is not that long: its row can go" % macro)
  for fault in faults:
    print("budget_test: " + fault)
  sys.exit(bool(faults))


main()
