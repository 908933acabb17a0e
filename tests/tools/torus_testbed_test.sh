#!/bin/bash
# torus_testbed_test.sh TESTBED TORC TORC_RUN
# A torus of network namespaces: results of a schedule on it, without remains of it; if namespaces
# cannot be made, as in most containers, it reports that in one line. Wrong usage.
set -u
source tests/checks.sh
PATH=$PATH:/usr/sbin:/sbin
testbed=$1
torc=$2
torc_run=$3

# expect CODE TEXT ARGUMENT...: one line on stderr, with that text.
expect() {
  local code=$1 text=$2
  shift 2
  timeout 60 bash "$testbed" "$@" >"$work/stdout" 2>"$work/stderr"
  local status=$?
  [[ $status == "$code" ]] || fail "$*: exit status $status, not $code"
  [[ $(wc -l <"$work/stderr") == 1 ]] && grep -q "^torus_testbed: $text" "$work/stderr" ||
    fail "$*: says something else"
}
expect 2 "'2y2' is no shape" 2y2 -- true
expect 2 "'1' has 1 nodes" 1 -- true
expect 2 "'0x4': a size is 0" 0x4 -- true
expect 2 "what is to run?" 2x2
expect 2 "--rate: a value is missing" 2x2 --rate
expect 2 "--colour: no such option" 2x2 --colour
expect 1 "cannot read '$work/none'" 2x2 --script "$work/none"

if ! ip netns add "torctest$$" 2>/dev/null; then
  expect 1 "cannot make a network namespace: .*; it takes root's rights" 2x2 -- true
  echo "torus_testbed_test: no network namespaces here"
  exit "$((failures > 0))"
fi
ip netns del "torctest$$"
expect 1 'cannot limit a link: .*"rate"' 2x2 --rate fast -- true

"$torc" compile allreduce --torus 2x3m --algorithm bucket -o "$work/a.torc" --quiet
timeout -s TERM 60 bash "$testbed" 2x3m --rate 100mbit -- \
  "$torc_run" "$work/a.torc" --bytes 4:4K --check --iterations 2 >"$work/stdout" 2>"$work/stderr" &
job=$!
# MPI_Finalize over TCP may hang when all is done.
while kill -0 "$job" 2>/dev/null && [[ $(grep -c ' ok$' "$work/stdout") != 11 ]]; do sleep 0.2; done
sleep 1
pkill -TERM -P "$job" 2>/dev/null
wait "$job"
[[ $(grep -c ' ok$' "$work/stdout") == 11 ]] || fail "not all sizes were right"
[[ $(ip netns list) != *torc[0-9]* ]] || fail "namespaces are left: $(ip netns list)"
