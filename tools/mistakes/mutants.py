#!/usr/bin/env python3
"""Writes random mutants of the code as a list for tools/mistakes/mistakes.sh:
  python3 tools/mistakes/mutants.py SEED COUNT [ROOM]... >LIST && bash tools/mistakes/mistakes.sh --list LIST
COUNT of each room (top-level folder; none: all that have tests), the same ones for the same seed and code.
A mutant is a comparison, an operator or a constant that is off by one. Those that do not compile are left
out: each file is read by the compiler once.
"""
import pathlib
import random
import re
import subprocess
import sys
import tempfile

# The nearest tests of each room, the quickest first.
TESTS = {
    "schedules": ["tests/schedules:schedules_test", "tests/schedules:expand_properties_test", "tests/ir:ir_test",
                  "tests/ir:file_check", "tests/properties:agreement_test"],
    "ir": ["tests/ir:ir_test", "tests/ir:file_check", "tests/ir:export_test", "tests/fuzz:mutations_test",
           "tests/properties:cells_test", "tests/properties:mutants_test"],
    "passes": ["tests/passes:passes_test", "tests/passes:file_check", "tests/compiler:algorithms_test"],
    "compiler": ["tests/compiler:algorithms_test", "tests/compiler:compiler_test", "tests/compiler:file_check",
                 "tests/compiler:choice_test", "tests/compiler:trees_test"],
    "model": ["tests/model:model_test", "tests/model:model_properties_test", "tests/compiler:file_check"],
    "runtime": ["tests/runtime:execution_test", "tests/runtime:put_transport_test", "tests/mpi:job_test_4",
                "tests/runtime/pmpi:pmpi_test", "tests/runtime/pmpi/conformance:all_4",
                "tests/runtime/run:file_check", "tests/runtime/pmpi:told_test", "tests/runtime/dedicated:dedicated_test",
                "tests/runtime:core_threads_test"],
    "settings": ["tests/settings:settings_test", "tests/runtime/dedicated:dedicated_test", "tests/runtime/pmpi:told_test"],
    "linalg": ["tests/linalg:linalg_test_8", "tests/linalg:linalg_test_27", "tests/linalg:linalg_test_1",
               "tests/linalg:torc_gemm_test"],
    "studies": ["tests/studies:studies_test", "tests/studies:file_check", "tests/studies:claims_test"],
}

OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "+",
         "/": "*", "%": "/"}
OPERAND = r"[A-Za-z_0-9](?:[\w.]|->|::|\[[\w.]+\]|\(\))*"
# Between these the expression is whole: its neighbours bind less tightly than the operator.
EXPRESSION = re.compile(
    r"(?:(?<=[(\[])|(?<=[=?&|,:;] )|(?<=return ))(%s) (<=|>=|==|!=|[-<>+*/%%]) (%s)(?=\)|\]|,|;| [?:&|])" % (OPERAND, OPERAND))


def mutants_of(text):
    """[(begin, expression, mutant)] of a source."""
    found = []
    for match in EXPRESSION.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1:text.find("\n", match.start())]
        if re.search(r"//|constexpr|static_assert|^#|template|operator|\" *[+<]", line):
            continue
        left, operator, right = match.groups()
        expression = match.group(0).strip()
        if text.count(expression) != 1:
            continue
        mutants = ["%s %s %s" % (left, OTHER[operator], right)]
        if re.fullmatch(r"\d+", right):
            mutants.append("%s %s %d" % (left, operator, int(right) + 1))
        found += [(match.start(1), expression, mutant) for mutant in mutants]
    return found


def compiles(source, mutants):
    """Whether the source compiles with its mutants in the place of what they stand for."""
    text = pathlib.Path(source).read_text()
    for _, expression, mutant in mutants:
        text = text.replace(expression, "(::rand() ? (%s) : (%s))" % (mutant, expression))
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
        file.write("#include <cstdlib>\n" + text)
        file.flush()
        flags = ["-std=c++20", "-fsyntax-only", "-w", "-DXXH_INLINE_ALL", "-I.", "-I" + str(pathlib.Path(source).parent),
                 "-isystem", "/usr/lib/llvm-19/include", "-isystem", "/usr/include/x86_64-linux-gnu/mpich"]
        return subprocess.run(["g++", *flags, file.name], capture_output=True).returncode == 0


def main():
    if len(sys.argv) < 3 or not all(argument.isdigit() for argument in sys.argv[1:3]):
        sys.exit(__doc__)
    draw = random.Random(int(sys.argv[1]))
    for room in sys.argv[3:] or TESTS:
        files = sorted(map(str, pathlib.Path(room).rglob("*.cc")))
        places = [(file, *mutant) for file in files for mutant in mutants_of(pathlib.Path(file).read_text())]
        draw.shuffle(places)
        chosen = {}  # mutants by file, of different expressions
        left = int(sys.argv[2])
        for file, begin, expression, mutant in places:
            others = chosen.setdefault(file, [])
            if left == 0 or any(expression in other[1] or other[1] in expression for other in others):
                continue
            if compiles(file, others + [(begin, expression, mutant)]):
                others.append((begin, expression, mutant))
                left -= 1
        for file in files:
            for _, expression, mutant in chosen.get(file, []):
                print("\n%s\n- %s\n+ %s" % (file, expression, mutant))
                print("\n".join("//" + test for test in TESTS[room]))


main()
