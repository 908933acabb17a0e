#!/bin/bash
# faults_test.sh PRELOAD PROGRAM
# Faults with dedicated ranks: one line each, and the program runs without them, or the job ends.
set -u
source tests/checks.sh
preload=$1 program=$2

# run DEDICATED ARGUMENT...: four ranks.
run() {
  local dedicated=$1
  shift
  TORC_DEDICATED=$dedicated tools/mpi_test.sh "--preload=$preload" 4 "$program" "$@" >"$work/out" 2>&1
}
# expect TEXT: a line of torc's says so, and there is no other.
expect() {
  [[ $(grep -c '^torc: ' "$work/out") -eq 1 ]] || fail "not one line of torc's"
  grep -qF "$1" "$work/out" || fail "not said: $1"
}

run 1:3 alike || fail "fails where all is well"
grep -q '^3 ranks, sum 3$' "$work/out" || fail "not three ranks"
grep -q '^torc: ' "$work/out" && fail "torc has something to say"

while IFS='|' read -r value text; do
  run "$value" alike || fail "TORC_DEDICATED=$value: the program fails"
  expect "torc: warning: TORC_DEDICATED$text"
  grep -q '^4 ranks, sum 4$' "$work/out" || fail "TORC_DEDICATED=$value: not four ranks"
done <<'END'
1:8|: of 4 ranks none would be dedicated; at least 9 are needed; no rank is dedicated
=4|: of 4 ranks none would be the program's; no rank is dedicated
2,9|: the job has no rank 9; its ranks are 0 to 3; no rank is dedicated
0-16777215,0-16777215,0-16777215,0-16777215,0-16777215,0-16777215,0-16777215|: the job has no rank 16777215; its ranks are 0 to 3; no rank is dedicated
all| is 'all'; allowed: a ratio as 1:8
END

tools/mpi_test.sh "--preload=$preload" --rank-env=0:TORC_DEDICATED=1:3 --rank-env=1:TORC_DEDICATED=1:3 \
  --rank-env=2:TORC_DEDICATED=1:1 --rank-env=3:TORC_DEDICATED=1:3 4 "$program" >"$work/out" 2>&1 ||
  fail "the program fails where ranks disagree"
expect "TORC_DEDICATED differs between ranks: '1:3' on rank 0, '1:1' on rank 2"

run 1:3 unequal && fail "calls that do not go together are right"
expect "dedicated rank 0: call 1 on a communicator of 3 ranks differs between its ranks: allreduce of"

run 1:3 refused || fail "the program ends where MPI refuses a call"
grep -q '^2 calls refused, 2 told$' "$work/out" || fail "not each refused call is told of once"
grep -q '^3 ranks, sum 3$' "$work/out" || fail "calls after those that were refused"

run 1:3 abort && fail "MPI_Abort ends well"
grep -q "mpi_test: .* exit status" "$work/out" || fail "the job did not end"

# A dedicated rank that dies: its number is that of the last of four. (A status says no more: Open
# MPI's mpiexec ends with that of a time limit. Where the job hangs, this test runs into its own.)
cat >"$work/known" <<END
#!/bin/sh
echo \$\$ >"$work/process.\${PMI_RANK:-\$OMPI_COMM_WORLD_RANK}"
exec "\$@"
END
chmod +x "$work/known"
TORC_DEDICATED=1:3 tools/mpi_test.sh "--preload=$preload" 4 "$work/known" "$program" forever \
  >"$work/out" 2>&1 &
job=$!
for ((i = 0; i < 300; ++i)); do
  grep -q '^3 ranks' "$work/out" && break
  sleep 0.1
done
kill -9 "$(cat "$work/process.3")" || fail "there is no dedicated rank to die"
wait "$job" && fail "the job outlives its dedicated rank"

TORC_STRICT=1 run 1:8 alike && fail "TORC_STRICT=1 lets the job run"
grep -q "torc: error: .*TORC_DEDICATED: of 4 ranks none would be dedicated" "$work/out" ||
  fail "TORC_STRICT=1 does not say why"
