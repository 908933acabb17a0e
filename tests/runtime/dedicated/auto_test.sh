#!/bin/bash
# auto_test.sh MPI_TEST PRELOAD PROGRAM
# TORC_DEDICATED=auto on four ranks: measured, kept in a file, read from it; and what is wrong with
# such a file.
set -u
mpi_test=$1
preload=$2
program=$3
failures=0
fail() {
  echo "auto_test: $*"
  cat "$TEST_TMPDIR/out" "$TEST_TMPDIR/choice" 2>/dev/null
  failures=$((failures + 1))
}

# run RANKS [VARIABLE=VALUE]...
run() {
  local ranks=$1
  shift
  env TORC_DEDICATED=auto TORC_DEDICATED_FILE="$TEST_TMPDIR/choice" "$@" \
    "$mpi_test" "--preload=$preload" "$ranks" "$program" alike >"$TEST_TMPDIR/${out:-out}" 2>&1
}
# expect TEXT: a line of torc's says so, and there is no other.
expect() {
  [[ $(grep -c '^torc: ' "$TEST_TMPDIR/out") -eq 1 ]] || fail "not one line of torc's"
  grep -qF "$1" "$TEST_TMPDIR/out" || fail "not said: $1"
}
# expect_ranks RANKS: those of the program.
expect_ranks() { grep -q "^$1 ranks, sum $1$" "$TEST_TMPDIR/out" || fail "not $1 ranks"; }
# keep DEDICATED [NODES [COLLECTIVE]]
keep() { printf 'nodes %s\ncollective %s\ndedicated %s\n' "${2:-1x4}" "${3:-8 bytes, 0 us}" "$1" >"$TEST_TMPDIR/choice"; }

# Which is best depends on this host: the program has as many ranks as the file says.
run 4 TORC_VERBOSE=1 || fail "fails where it measures"
grep -q '^torc: .*TORC_DEDICATED=auto: measured for' "$TEST_TMPDIR/out" || fail "it has not measured"
case $(grep '^dedicated ' "$TEST_TMPDIR/choice") in
  'dedicated none') expect_ranks 4 ;;
  'dedicated =1') expect_ranks 3 ;;
  *) fail "the file has another choice" ;;
esac
[[ $(grep -c '^# .* us$' "$TEST_TMPDIR/choice") -eq 2 ]] || fail "not two ways have been measured"
compgen -G "$TEST_TMPDIR/.torc-*" && fail "a part of a file stays"

kept=$(cat "$TEST_TMPDIR/choice")
run 4 TORC_VERBOSE=1 || fail "fails with its own file"
grep -q 'measured for' "$TEST_TMPDIR/out" && fail "it measures though there is a file"
[[ $(cat "$TEST_TMPDIR/choice") == "$kept" ]] || fail "it writes a file that is there"

keep =1
run 4 || fail "fails where the file has one rank"
expect_ranks 3
keep none
run 4 || fail "fails where the file has none"
expect_ranks 4
grep -q '^torc: ' "$TEST_TMPDIR/out" && fail "torc has something to say"
keep =2@nodes 1x4 '64 bytes, 20 us'
run 4 TORC_DEDICATED=auto:64:20 || fail "fails for another collective"
expect_ranks 2

# Two jobs at a time make one file.
rm "$TEST_TMPDIR/choice"
for job in 1 2; do
  out=out.$job run 4 &
done
wait
cat "$TEST_TMPDIR"/out.[12] >"$TEST_TMPDIR/out"
[[ $(grep -c '^[34] ranks, sum' "$TEST_TMPDIR/out") -eq 2 ]] || fail "one of two jobs fails"
grep -q '^torc: ' "$TEST_TMPDIR/out" && fail "one of two jobs has something to say"
[[ $(grep -c '^dedicated ' "$TEST_TMPDIR/choice") -eq 1 ]] || fail "two jobs have made no sound file"

# Without a file; with computation that overlaps.
run 3 TORC_DEDICATED_FILE= || fail "fails without a file"
run 4 TORC_DEDICATED_FILE= TORC_DEDICATED=auto:1K:50 || fail "fails with computation"
run 2 TORC_DEDICATED_FILE= || fail "fails on two ranks"
expect_ranks 2
run 1 TORC_DEDICATED_FILE= || fail "fails on one rank"

while IFS='|' read -r dedicated nodes collective text; do
  keep "$dedicated" "$nodes" "$collective"
  run 4 || fail "$text: the program fails"
  expect "torc: warning: TORC_DEDICATED_FILE: $TEST_TMPDIR/choice $text; no rank is dedicated"
  expect_ranks 4
  run 4 TORC_STRICT=1 && fail "$text: TORC_STRICT=1 lets the job run"
  grep -qF "$text" "$TEST_TMPDIR/out" || fail "TORC_STRICT=1 does not say: $text"
done <<'TABLE'
=1|2x2|8 bytes, 0 us|is of a job whose nodes are 2x2; this one's are 1x4
=1|1x4|64 bytes, 0 us|is of 64 bytes, 0 us; this job wants 8 bytes, 0 us
two|1x4|8 bytes, 0 us|line 3: dedicated is 'two'; allowed: none, or as TORC_DEDICATED is without auto
=4|1x4|8 bytes, 0 us|line 3: of 4 ranks none would be the program's
TABLE

run 4 TORC_DEDICATED_FILE="$TEST_TMPDIR/none/choice" || fail "the program fails where the file cannot be written"
expect "torc: warning: TORC_DEDICATED_FILE: cannot write '$TEST_TMPDIR/none/choice': No such file or directory"
mkfifo "$TEST_TMPDIR/pipe"
for file in "$TEST_TMPDIR" "$TEST_TMPDIR/pipe" /dev/zero; do
  run 4 TORC_DEDICATED_FILE="$file" || fail "the program fails where the file is $file"
  expect "torc: warning: TORC_DEDICATED_FILE: $file is no regular file; no rank is dedicated"
done
exit "$((failures > 0))"
