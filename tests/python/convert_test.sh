#!/bin/bash
# convert_test.sh TORC: the converters' tests.
exec python3 tests/python/convert_test.py "$1"
