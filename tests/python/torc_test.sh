#!/bin/bash
# torc_test.sh TORC: the module's tests, and the examples.
set -eu
python3 tests/python/torc_test.py "$1"
export TORC=$PWD/$1 PYTHONPATH=$PWD/tools
PYTHONPATH=$PYTHONPATH:$PWD/docs/examples python3 tests/python/twisted_test.py
example=$PWD/docs/examples/rings.py
cd "$TEST_TMPDIR"
python3 "$example" | tee output
grep -q '^ring, 2 ways: 1.0[0-9] of the bound at 64 MiB$' output
