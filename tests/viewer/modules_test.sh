#!/bin/bash
# Runs the tests of the viewer's modules, and checks that they can be joined into one script: no two
# may have one name.
set -euo pipefail
node --preserve-symlinks --preserve-symlinks-main --test tests/viewer/
sed -n '/^<script>$/,/^<\/script>$/p' viewer/viewer.html | sed '1d;$d' >"$TEST_TMPDIR/joined.js"
[[ -s $TEST_TMPDIR/joined.js ]]
node --check "$TEST_TMPDIR/joined.js"
if grep -nE '(src|href)="(https?:|//)|url\(|@import|\bfetch\(|XMLHttpRequest|WebSocket' viewer/viewer.html; then
  echo "the page asks for something from elsewhere" >&2
  exit 1
fi
