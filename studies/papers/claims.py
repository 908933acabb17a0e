#!/usr/bin/env python3
"""Holds the numbers of docs/research/papers/*.md against those that claims.txt, beside this file, derives.

    studies/papers/claims.py [PROGRAM...]

Run in the root of the repository; PROGRAM: paths of torc and torc-model, unless PATH has them. Listed are numbers that
differ from the derived ones at the printed precision, and numbers that claims.txt has no expression for. A number needs
one in each column of a table but the first and OTHERS, and with a unit (UNIT) in text and in the judges' column; not in
code, links and heads of tables.

Lines of claims.txt; an indented one continues the one before:
    // COMMENT
    @ PAGE FOLDER [SECTION]         what the next lines are about; files are those of FOLDER
    NAME = FILE.csv: TITLE          the rows after "# TITLE..."; without such a line NAME is NAME.csv
    NAME = $ COMMAND                the lines that a cheap command prints
    KEY -> EXPRESSION | ...         the numbers at KEY, in order
KEY is text that stands once in the section, # for each number; or without #, text of one row of a table, whose numbers
are meant, or of its head: those of all rows. EXPRESSION is Python, in which NAME[ROW; COLUMN; N] is a cell. ROW: its
first cells; FROM.., FROM..TO or *: a list of rows. COLUMN: a head or its beginning, or its place from 0; PLACE..: a list
from there on; none: the line. N: which number of the cell, from 0. A number alone is an input, or the paper's; instead
of expressions, ? says that no kept data has the numbers. No row of README.md may have that.
"""
import csv
import functools
import math
import os
import re
import subprocess
import sys

PAPERS = "docs/research/papers/"
NUMBER = r"(?<![\w.,:^/·])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w^²·√]|[.,:/]\w|-D)"
UNIT = rf"{NUMBER}(?=(?:(?:,| to| and| or|, and) {NUMBER})* (?:%|[num]?s\b|[MG]B/s|times\b|points\b|[MGT]flop/s))"
OTHERS = re.compile(r"paper$|publish|command|^page|words|messages|^$")


def each(function):
  return lambda a, b: [function(x, y) for x, y in zip(a, b)] if isinstance(a, list) else function(a, b)


ratio = each(lambda a, b: a / b)
more = each(lambda a, b: 100 * (a / b - 1))
less = each(lambda a, b: 100 * (1 - a / b))


@functools.cache
def rows_of(source):
  """The head and the rows of a table; of a command no head, and the lines."""
  if source.startswith("$"):
    run = subprocess.run(source[1:], shell=True, check=True, capture_output=True, text=True)
    return [], [[line.strip()] for line in run.stdout.split("\n")]
  name, _, title = source.partition(": ")
  with open(PAPERS + name, encoding="utf-8") as file:
    text = file.read()
  text = re.search(rf"^# {re.escape(title)}.*\n((?:[^#].*\n)*)", text, re.M)[1] if title else text
  head, *rows = csv.reader(text.splitlines())
  return head, rows


def value(text, which=0):
  try:
    return float(text or "nan")
  except ValueError:
    return float(re.findall(NUMBER, text)[which].replace(",", ""))


def one(found, what):
  if len(found) != 1:
    raise ValueError(f"{len(found)} {what}")
  return found[0]


def cell(source, row, column="", which="0"):
  head, rows = rows_of(source)
  first, is_list, last = ("", row, "") if row == "*" else row.partition("..")
  if is_list:
    keys = [cells[0] for cells in rows]
    rows = rows[keys.index(first) if first else 0:keys.index(last) + 1 if last else None]
  else:
    starts = lambda end: [cells for cells in rows if (",".join(cells) + end).startswith(row + end)]
    rows = [one(starts(",") or starts(""), f"rows {row}")]
  if not column:
    return value(",".join(rows[0]), int(which))
  if column.endswith(".."):
    return [value(text) for cells in rows for text in cells[int(column[:-2]):]]
  if not column.isdigit():
    column = one([column] if column in head else [name for name in head if name.startswith(column)], f"columns {column}")
  place = int(column) if column.isdigit() else head.index(column)
  values = [value(cells[place], int(which)) for cells in rows]
  return values if is_list else values[0]


def wanted_numbers(text):
  """The numbers that need an expression: {(begin, end): whether in a column of numbers}."""
  blank = lambda match: re.sub(r"[^\n]", " ", match[0])
  text = re.sub(r"^```.*?^```", blank, text, flags=re.M | re.S)
  text = re.sub(r"`[^`\n]*`|!?\[[^]\n]*\]\([^)\n]*\)|^#.*", blank, text, flags=re.M)
  wanted, at, head = {}, 0, None
  for line in text.split("\n"):
    cells = line.split("|") if line.startswith("|") else [line]
    row, head = head, None if len(cells) == 1 else head or [name.strip() for name in cells]
    for i, part in enumerate(cells):
      is_text = len(cells) == 1 or row and row[i] == "judge"
      if is_text or row and i > 1 and not OTHERS.search(row[i]):
        for match in re.finditer(UNIT if is_text else NUMBER, part):
          wanted[at + match.start(), at + match.end()] = not is_text
      at += len(part) + 1
  return wanted


def places(text, wanted, key):
  if "#" in key:
    pattern = r"\s+".join(re.escape(word).replace(r"\#", f"({NUMBER})") for word in key.split())
    match = one(list(re.finditer(pattern, text)), "such places")
    return [match.span(i + 1) for i in range(match.re.groups)]
  begin, end = one([match.span() for match in re.finditer(r"^\|.*", text, re.M) if key in match[0]], "such rows")
  if text.startswith("| ---", end + 1):
    end = text.index("\n\n", end)
  return [place for place in wanted if wanted[place] and begin <= place[0] < end]


def numbers(expressions, folder, names):
  def source(match):
    name, *where = match[1], *(part.strip() for part in match[2].split(";"))
    return f"cell(*{[names.get(name, f'{folder}/{name}.csv'), *where]})"

  for text in expressions.split(" | "):
    found = eval(re.sub(r"(?<![\w\]])([\w.][\w./-]*)\[([^\]]+)\]", source, text))
    yield from found if isinstance(found, list) else [found]


def main():
  os.environ["PATH"] = ":".join([os.path.dirname(os.path.abspath(path)) for path in sys.argv[1:]] + [os.environ["PATH"]])
  sections, names, bad, count, without = {}, {}, [], 0, 0
  for name in filter(lambda name: name.endswith(".md"), sorted(os.listdir(PAPERS))):
    with open(PAPERS + name, encoding="utf-8") as file:
      for i, text in enumerate(re.split(r"^## ", file.read(), flags=re.M) if name == "README.md" else [file.read()]):
        sections[f"{name} {text.partition(chr(10))[0]}" if i else name] = text + "\n", wanted_numbers(text), set()
  with open("studies/papers/claims.txt", encoding="utf-8") as file:
    lines = re.sub(r"\n[ \t]+", " ", re.sub(r"^//.*\n", "", file.read(), flags=re.M)).split("\n")
  for line in filter(None, lines):
    if line.startswith("@"):
      _, page, folder, *name = line.split(" ", 3)
      page = " ".join([page] + name)
      text, wanted, known = sections[page]
      continue
    key, is_entry, expressions = line.partition(" -> ")
    if not is_entry:
      name, _, source = line.partition(" = ")
      names[name] = source if source.startswith("$") else f"{folder}/{source}"
      continue
    try:
      spans = places(text, wanted, key)
      known.update(spans)
      if expressions == "?" and not page.startswith("README"):
        without += len(spans)
        continue
      found = list(numbers(expressions, folder, names))
      if len(found) != len(spans):
        raise ValueError(f"{len(spans)} numbers, found {' '.join(f'{x:.6g}' for x in found)}")
    except Exception as error:
      bad.append(f"{page}: {key}: {error}")
      continue
    count += len(spans)
    for (begin, end), number in zip(spans, found):
      half = 0.5 * 10**-len(text[begin:end].partition(".")[2])
      if not abs(value(text[begin:end]) - number) <= half + 1e-9 * abs(number):
        bad.append(f"{page}: {key}: printed {text[begin:end]}, found {number:.6g}")
  for page, (text, wanted, known) in sections.items():
    for begin, end in sorted(set(wanted) - known):
      at = text.rfind("\n", 0, begin) + 1
      bad.append(f"{page}: no expression for {text[begin:end]} in: {text[at:text.index(chr(10), at)][:80]}")
  print("\n".join(bad + [f"{count} numbers held against data, {without} have none; {len(bad)} faults"]))
  return bool(bad)


sys.exit(main())
