#!/bin/bash
# told_test.sh PRELOAD PROGRAM LIBRARY TORC
# Reports of torc in a job of 6 ranks, and counts of the statistics. For all variables, the
# program's result is right.
set -u
source tests/checks.sh
preload=$1 program=$2 library=$3 torc=$4

# run CASE [NAME=VALUE...] [--rank-env=...]: the program with these variables.
run() {
  case=$1
  preloaded 6 "${@:2}" "$program"
  status=$?
}

expectRight() {
  [[ $status -eq 0 ]] || fail "exit status $status"
  [[ $(cat "$work/stdout") == 18183 ]] || fail "the result is $(cat "$work/stdout")"
}

# The lines on stderr are these regular expressions, in some order.
expectLines() {
  local line
  [[ $(wc -l <"$work/stderr") -eq $# ]] || fail "expected $# lines"
  for line in "$@"; do
    grep -qxE -- "$line" "$work/stderr" || fail "no line: $line"
  done
}

unset='torc: hint: TORC_LIBRARY is not set, so that MPI serves all calls; `torc launch mpiexec \.\.\.` sets it'

# Cases, their variables, and the line that is said; none: nothing.
while IFS='|' read -r name variables line; do
  read -ra variables <<<"$variables"
  run "$name" "${variables[@]}"
  expectRight
  expectLines ${line:+"$line"}
done <<END
nothing is set||$unset
TORC_VERBOSE=1|TORC_LIBRARY=$library TORC_VERBOSE=1|torc: 6 ranks on 3x2, order XY, served from $library \(machine generic\); set up in [0-9.]+ ms
a file that cannot be written|TORC_LIBRARY=$library TORC_STATS=/no/folder/table|torc: warning: TORC_STATS: cannot write /no/folder/table: No such file or directory
a form that is none|TORC_LIBRARY=$library TORC_STATS=jsn:a|torc: warning: TORC_STATS is 'jsn:a'; allowed: .*json:FILE.*; it is ignored
a placeholder that is none|TORC_LIBRARY=$library TORC_STATS=json:a-%q|torc: warning: TORC_STATS is 'json:a-%q'; allowed: %j .*, not '%q'; it is ignored
a full disk|TORC_LIBRARY=$library TORC_STATS=json:/dev/full|torc: warning: TORC_STATS: cannot write /dev/full: No space left on device
lines of JSON|TORC_LIBRARY=$library SLURM_JOB_ID=77 TORC_STATS=json:$work/%j-%h%%.jsonl|
lines of JSON|SLURM_JOB_ID=77 TORC_STATS=json:$work/%j-%h%%.jsonl|$unset
hints are silenced|TORC_ORDER=XY TORC_VERBOSE=0|
wrong values|TORC_LIBRARY=$library TORC_LIMITS=memory=lots TORC_MAPPING=file TORC_ORDER=XY|torc: warning: TORC_LIMITS is 'memory=lots'; allowed: memory=bytes, .*; TORC_MAPPING is 'file' and TORC_ORDER is 'XY': .*; torc is off
disabled|TORC_DISABLE=1 TORC_LIBRARY=$library TORC_LIMITS=memory=lots TORC_STATS=1 TORC_NOTHING=1|
a library on some ranks only|--rank-env=2:TORC_LIBRARY=$library --rank-env=4:TORC_LIBRARY=$library|torc: warning: TORC_LIBRARY differs between ranks: not set on rank 0, '$library' on rank 2; torc is off
switched off on one rank|TORC_LIBRARY=$library --rank-env=3:TORC_DISABLE=1|torc: warning: TORC_DISABLE differs between ranks: '0' on rank 0, '1' on rank 3; torc is off
statistics on a rank that is not 0|TORC_LIBRARY=$library --rank-env=3:TORC_STATS=1 --rank-env=3:TORC_VERBOSE=2 --rank-env=3:TORC_NOTHING=1|
strict, and a communicator that no library has|TORC_LIBRARY=$library TORC_STRICT=1|
END

run "everything" TORC_LIBRARY="$library" TORC_VERBOSE=explain TORC_STATS="$work/table"
expectRight
grep -qx "torc: communicator of 6 ranks: 3x2" "$work/stderr" || fail "MPI_COMM_WORLD"
[[ $(grep -cx "torc: communicator of 3 ranks: 3 sub-torus of 3x2" "$work/stderr") -eq 2 ]] || fail "rows"
grep -q "^torc: communicator of 5 ranks: .*do not fill the box" "$work/stderr" || fail "5 ranks"
served='allreduce-3x2-[0-9a-f]{16}\.torc, predicted [0-9.]+ us: .+'
grep -qE "^torc: rank 0: MPI_Allreduce on 3x2, 8000 bytes of MPI_DOUBLE, MPI_SUM: $served" \
  "$work/stderr" || fail "no explanation of a served call"
[[ $(grep -c "MPI_Allreduce on 3x2" "$work/stderr") -eq 1 ]] || fail "explained more than once"
why='handed to MPI: the members form no box of the torus'
grep -qx "torc: rank 0: MPI_Allreduce on 5 ranks, 80 bytes of MPI_DOUBLE, MPI_SUM: $why" \
  "$work/stderr" || fail "no explanation of a call that MPI got"

# The lines of a row in one.
sed -z -i 's/\n   \+/  /g' "$work/table"
# expectRow FUNCTION COMMUNICATOR BY BYTES RANKS CALLS TYPE
expectRow() {
  grep -qE "^  $1 +$2 +$3 +$4 +$5 +$6 .*  $7\$" "$work/table" || {
    fail "no row $*"
    cat "$work/table"
  }
}
sums='MPI_DOUBLE, MPI_SUM'
expectRow MPI_Allreduce 3x2 'allreduce-3x2-[0-9a-f]+\.torc' 8000 6 18 "$sums"
expectRow MPI_Allgather '3 sub-torus of 3x2' 'allgather-3-[0-9a-f]+\.torc' 2400 6 6 MPI_DOUBLE
expectRow MPI_Allreduce '5 ranks' 'the members form no box of the torus' 80 5 5 "$sums"
expectRow MPI_Allreduce '1 rank' 'one rank' 80 1 1 "$sums"
expectRow MPI_Bcast '3 sub-torus of 3x2' 'broadcast-3-[0-9a-f]+\.torc' 80 6 6 MPI_DOUBLE
grep -qE '^Calls served by torc: 30, ' "$work/table" || fail "calls served"
grep -qE '^Calls handed to MPI: 6, ' "$work/table" || fail "calls handed to MPI"
grep -qE '^  3 sub-torus of 3x2 +yes +2 +12 +0 +[0-9.]+$' "$work/table" || fail "rows among communicators"
grep -qE '^  schedules +3 loaded, ' "$work/table" || fail "schedules"

# What takes scratch is MPI's where it may have none; a gather and a broadcast take none.
run "no scratch" TORC_LIBRARY="$library" TORC_STATS="$work/table" TORC_LIMITS=scratch=0
expectRight
expectLines
sed -z -i 's/\n   \+/  /g' "$work/table"
expectRow MPI_Allreduce 3x2 'its schedule needs more memory than TORC_LIMITS=scratch' 8000 6 18 "$sums"
expectRow MPI_Allgather '3 sub-torus of 3x2' 'allgather-3-[0-9a-f]+\.torc' 2400 6 6 MPI_DOUBLE

# MPI itself ends where its shared memory is longer than the limit.
truncate -s 200M "$work/long"
ulimit -Sf 150000
run "a file that may not be longer" TORC_LIBRARY="$library" TORC_STATS="json:$work/long"
ulimit -Sf unlimited
expectRight
expectLines "torc: warning: TORC_STATS: cannot write $work/long: File too large: files may have 153600000 bytes \(ulimit -f\)"
rm "$work/long"

lines="$work/77-$(hostname -s)%.jsonl"
[[ $(wc -l <"$lines") -eq 2 ]] || fail "no two lines in $lines"
row='"function":"MPI_Allreduce","communicator":"3x2","datatype":"MPI_DOUBLE","operation":"MPI_SUM"'
row+=',"by":"allreduce-3x2-[0-9a-f]+\.torc","ranks":6,"calls":18,"bytes":144000'
grep -qE "^\{\"torc_stats\":1,.*\"job\":\"77\",.*\"ranks\":6,\"off\":\"\",.*$row,.*\]\}$" "$lines" ||
  fail "$(cat "$lines")"
grep -qE '^\{"torc_stats":1,.*"off":"TORC_LIBRARY is not set",.*"calls":\[\],.*\}$' "$lines" ||
  fail "$(cat "$lines")"

run "statistics without a library" TORC_STATS=1
expectRight
grep -qE '^  torc +[0-9.]+, off: TORC_LIBRARY is not set$' "$work/stderr" || fail "no reason"

run "unknown and without effect" TORC_LIBARY="$library" TORC_ORDER=XY
expectRight
expectLines "torc: warning: TORC_LIBARY is no variable of torc's; is TORC_LIBRARY meant\?" \
  "torc: hint: TORC_ORDER has no effect without TORC_LIBRARY" "$unset"

# Relative paths mean files from the folder in which the program was started; the mapping is that of 3x2.
here=$(realpath --relative-to=. "$work")
mkdir "$work/elsewhere"
for y in 0 1; do for x in 0 1 2; do echo "$x $y"; done; done >"$work/mapping"
for when in before after; do
  case="another folder $when MPI_Init"
  preloaded 6 TORC_LIBRARY="$library" TORC_STRICT=1 TORC_STATS="$here/table" TORC_TRACE="$here/trace" \
    TORC_MAPPING="$here/mapping" "$program" "$when" "$work/elsewhere"
  status=$?
  expectRight
  grep -q '^  MPI_Allreduce .*\.torc$' "$work/table" || fail "MPI_Allreduce is not served"
  grep -q '"producer":"torc"' "$work/trace" || fail "no trace"
  [[ -z $(ls "$work/elsewhere") ]] || fail "files elsewhere"
  rm -f "$work/trace"
done

run "stricter, and a communicator that is no box" TORC_LIBRARY="$library" TORC_STRICT=2
[[ $status -ne 0 ]] || fail "exit status 0"
grep -qE "^torc: error: rank [0-4]: MPI_Allreduce: on 5 ranks: 5 ranks do not fill the box 3x2 from \(0, 0\): \(2, 1\) is missing" \
  "$work/stderr" || fail "no error that names the communicator"

run "strict, and a wrong value" TORC_LIBRARY="$library" TORC_STRICT=1 TORC_LIMITS=memory=lots
[[ $status -ne 0 ]] || fail "exit status 0"
grep -qE "^torc: error: rank 0: TORC_LIMITS is 'memory=lots'; allowed: memory=bytes" "$work/stderr" || fail "no error"

# A job that torc launch starts: with the library that it makes, and with one that is there.
mpiexec=(mpiexec.hydra) mpi=MPICH
if [[ ${TEST_MPI-} == openmpi ]]; then
  mpiexec=(mpiexec.openmpi --allow-run-as-root --oversubscribe --mca orte_tmpdir_base "$work" --mca btl_vader_backing_directory "$work")
  mpi="Open MPI"
fi
mkdir "$work/cache"
case="torc launch"
LD_PRELOAD= XDG_CACHE_HOME=$work/cache "$torc" launch "${mpiexec[@]}" -n 6 "$program" >"$work/stdout" 2>"$work/stderr"
status=$?
expectRight
grep -qx "torc: 6 ranks on 3x2 (the most cubic box of 6 ranks), $mpi" "$work/stderr" || fail "no shape"
grep -qx 'torc: served 30 of 36 collective calls, 83 %' "$work/stderr" || fail "no sum of calls"
grep -qxE 'torc: [0-9.]+ s in served calls, [0-9.]+ s in others, summed over 6 ranks' "$work/stderr" || fail "no time"
[[ $(ls -A "$work"/cache/torc/*) == 3x2-generic ]] || fail "left: $(ls -A "$work"/cache/torc/*)"
# Lines of progress, on a machine on which the library takes long, end with the current step.
[[ $(grep '^torc: ' "$work/stderr" | grep -cvE ', [0-9]+ s(, about [0-9]+ s left)?; ') -le 5 ]] ||
  fail "more than three lines at the end"
case="torc launch with a library"
XDG_CACHE_HOME=$work/cache TORC_LIBRARY=$library "$torc" launch "${mpiexec[@]}" -n 6 "$program" \
  >"$work/stdout" 2>"$work/stderr"
status=$?
expectRight
grep -qx "torc: 6 ranks on 3x2 (of $library), $mpi" "$work/stderr" || fail "no shape"
grep -qx 'torc: served 30 of 36 collective calls, 83 %' "$work/stderr" || fail "no sum of calls"
