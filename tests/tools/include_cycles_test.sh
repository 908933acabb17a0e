#!/bin/bash
# No two folders include each other, directly or indirectly: the dependences of a folder are below
# it.
set -euo pipefail
cd "$(dirname "$(realpath WORKSPACE)")"
source tests/checks.sh

# Lines of two folders, the first of which includes a file of the second.
find ./* -type d -name 'bazel-*' -prune -o -type f -regex '.*\.\(c\|cc\|h\)' -print0 |
  xargs -0 grep -HoE '^#include "[^"]+/[^"/]+"' |
  sed -E 's|^\./([^:]*)/[^/:]*:#include "(.*)/[^/]*"$|\1 \2|' |
  awk '$1 != $2 && !seen[$0]++' >"$work/includes"
[[ $(wc -l <"$work/includes") -gt 100 ]] || fail "no includes found in $PWD"
tsort "$work/includes" >/dev/null 2>"$work/loops" || fail "folders include each other, in a circle:" \
  "$(awk '/contains a loop/ { if (loops++) exit; next } { print $2 }' "$work/loops")"
