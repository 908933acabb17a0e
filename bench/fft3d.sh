#!/usr/bin/env bash
# Compares the three ways of the multi-core all-to-all paper in a three-dimensional FFT on this
# machine's ranks: bench/fft3d plain, and preloaded with a library of one all-to-all of torc at a
# time. Ways run in turns; the result of each is the minimum of some runs.
#
#   bash bench/fft3d.sh [NODES+CORES [SIDE...]]        default: 2+2 32 64
set -euo pipefail
cd "$(dirname "$0")/.."
torus=${1:-2+2}
sides=(${@:2})
((${#sides[@]})) || sides=(32 64)
ranks=$((${torus//+/*}))
rounds=3
bazel build -c opt //compiler:torc //runtime:libtorc_pmpi.so //bench:fft3d 2>/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ways=(plain direct leader aggregated distributed)

for way in "${ways[@]:1}"; do
  bazel-bin/compiler/torc compile alltoall --torus "$torus" --algorithm "$way" --quiet -o "$work/$way.torc"
  bazel-bin/compiler/torc library build --partition "$torus" --collectives broadcast --quiet -o "$work/$way"
  bazel-bin/compiler/torc library add "$work/$way" "$work/$way.torc" --bytes 1:256M --quiet
done

for ((round = 0; round < rounds; ++round)); do
  for side in "${sides[@]}"; do
    for way in "${ways[@]}"; do
      preload=()
      if [[ $way != plain ]]; then
        preload=(-genv LD_PRELOAD "$PWD/bazel-bin/runtime/libtorc_pmpi.so" -genv TORC_STRICT 1
          -genv TORC_COLLECTIVES alltoall -genv TORC_LIBRARY "$work/$way")
      fi
      tools/mpiexec.sh "${preload[@]}" -n "$ranks" bazel-bin/bench/fft3d "$side" "$((1024 / side))" </dev/null |
        sed "s/^/$side $way /" >>"$work/times"
    done
  done
done

echo "3-D FFT on $torus, us of a transform (of which MPI_Alltoall); least of $rounds medians"
printf '| side | bytes of a block |'
printf ' %s |' "${ways[@]}"
printf ' largest error |\n| --- | --- |'
printf ' --- |%.0s' "${ways[@]}"
printf ' --- |\n'
awk -v ways="${ways[*]}" '
  { key = $1 SUBSEP $2; bytes[$1] = $4
    if (!(key in best) || $5 < best[key]) { best[key] = $5; exchange[key] = $6 }
    if ($7 + 0 > error[$1] + 0) error[$1] = $7
    if (!($1 in seen)) { seen[$1]; order[++count] = $1 } }
  END {
    many = split(ways, name, " ")
    for (i = 1; i <= count; ++i) {
      row = "| " order[i] " | " bytes[order[i]] " |"
      for (w = 1; w <= many; ++w) row = row sprintf(" %.0f (%.0f) |", best[order[i], name[w]], exchange[order[i], name[w]])
      print row " " error[order[i]] " |"
    }
  }' "$work/times"
