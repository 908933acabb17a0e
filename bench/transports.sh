#!/usr/bin/env bash
# Measures a program's blocking collectives on this machine: plain, and preloaded with messages by
# each transport (TORC_TRANSPORT=mpi, put). In turns; the median of 9 runs, a run being the lower
# quartile of 21 batches of calls. The library is the preset `generic`'s, chosen by the model.
#
#   bash bench/transports.sh [TORUS]        default: 2, a rank to each of two cores
#   bash tools/torus_testbed.sh 2 --rate none --script bench/transports.sh [TORUS]
#                                           between hosts: TORC_TRANSPORT=mpi
#
# On a busy machine: chrt -f 1 bash bench/transports.sh. Not between hosts: there the system needs a
# core for the work of the links. TEST_MPI=openmpi: with Open MPI.
#   $TRANSPORTS_SIZES        smallest, largest and factor, in bytes (default: 8 4194304 8)
#   $TRANSPORTS_COLLECTIVES  allreduce, ... (default: all, and barrier)
#   $TRANSPORTS_RUNS         default: 9
#   $TRANSPORTS_LIMIT        seconds of a run between hosts, whose end may hang (default: 60)
set -euo pipefail
cd "$(dirname "$0")/.."
torus=${1:-2}
shape=${torus//m/}
ranks=$((${shape//x/*}))
sizes=${TRANSPORTS_SIZES:-8 4194304 8}
collectives=${TRANSPORTS_COLLECTIVES:-allreduce reduce_scatter allgather alltoall broadcast reduce scatter gather barrier}
runtime=runtime program=bench/blocking_calls
[[ ${TEST_MPI-} != openmpi ]] || runtime=runtime/openmpi program+=_openmpi

bazel build -c opt //compiler:torc "//$runtime:libtorc_pmpi.so" "//bench:${program#*/}" 2>/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -L "bazel-bin/$program" "bazel-bin/$runtime/libtorc_pmpi.so" "$work"
bazel-bin/compiler/torc library build --candidates 6 --quiet --partition "$torus" -o "$work/library"

run() {
  local preload=()
  if [[ $1 != plain ]]; then
    preload=(-genv LD_PRELOAD "$work/libtorc_pmpi.so" -genv TORC_STRICT 1 -genv TORC_LIBRARY "$work/library"
      -genv TORC_TRANSPORT "$1")
  fi
  # MPI_Finalize may hang between hosts when all is done.
  local start=(tools/mpiexec.sh) count=(-n "$ranks")
  [[ -z ${TESTBED_NODES-} ]] || start=(timeout -k 1 ${TRANSPORTS_LIMIT:-60} testbed_mpiexec) count=()
  # shellcheck disable=SC2086
  "${start[@]}" "${preload[@]}" "${count[@]}" "$work/${program#*/}" $sizes $collectives </dev/null || (($? == 124))
}

for ((round = 0; round < ${TRANSPORTS_RUNS:-9}; ++round)); do
  for variant in plain mpi put; do
    run "$variant" | sed "s/^/$variant /" >>"$work/times"
  done
done
((ranks <= $(nproc))) || echo "NOTE: $ranks ranks share $(nproc) cores: times are those of waiting for one"
awk -v title="$ranks ranks, torus $torus" '
  { key = $3 " | " $4
    if (!(key in order)) { order[key] = ++keys; list[keys] = key }
    times[$1, key] = times[$1, key] " " $2 }
  function median(text,  a, count, i, j, x) {
    count = split(text, a, " ")
    for (i = 2; i <= count; ++i) {
      x = a[i]
      for (j = i - 1; j > 0 && a[j] + 0 > x + 0; --j) a[j + 1] = a[j]
      a[j + 1] = x
    }
    return a[int((count + 1) / 2)]
  }
  END {
    print "| " title " | bytes | plain, us | mpi, us | put, us | put / plain | put / mpi |"
    print "| --- | --- | --- | --- | --- | --- | --- |"
    for (k = 1; k <= keys; ++k) {
      plain = median(times["plain", list[k]]); mpi = median(times["mpi", list[k]]); put = median(times["put", list[k]])
      printf "| %s | %.2f | %.2f | %.2f | %.2f | %.2f |\n", list[k], plain, mpi, put, put / plain, put / mpi
    }
  }' "$work/times"
