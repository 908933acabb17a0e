#!/usr/bin/env bash
# What blocking collectives take a program on this machine, in loops of nothing else: plain, preloaded
# with a library that was chosen by the model, with the same library and TORC_TUNE=1, and with the same
# library after tuning.
#
#   bash bench/blocking_calls.sh [TORUS]        default: 2, a rank to each of two cores
#
# Variants run in turns; of each the least of 5 medians counts. $BLOCKING_CALLS_LARGEST: bytes (default:
# 67108864). $BLOCKING_CALLS_MINUTES: of tuning (default: 4). TEST_MPI=openmpi: with Open MPI.
set -euo pipefail
cd "$(dirname "$0")/.."
torus=${1:-2}
ranks=$((${torus//x/*}))
rounds=5
largest=${BLOCKING_CALLS_LARGEST:-67108864}
runtime=runtime program=bench/blocking_calls
[[ ${TEST_MPI-} != openmpi ]] || runtime=runtime/openmpi program+=_openmpi

bazel build -c opt //compiler:torc "//$runtime:torc-run" "//$runtime:libtorc_pmpi.so" \
  "//bench:${program#*/}" 2>/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bazel-bin/compiler/torc library build --partition "$torus" --candidates 6 --quiet -o "$work/untuned"
tools/mpiexec.sh -n "$ranks" "bazel-bin/$runtime/torc-run" --tune="$work/untuned" --output "$work/tuned" \
  --sizes "8:$largest" --minutes "${BLOCKING_CALLS_MINUTES:-4}" </dev/null | tail -n 1

run() {
  local preload=()
  if [[ $1 != plain ]]; then
    preload=(-genv LD_PRELOAD "$PWD/bazel-bin/$runtime/libtorc_pmpi.so" -genv TORC_STRICT 1
      -genv TORC_LIBRARY "$work/${1/trying/untuned}")
  fi
  [[ $1 != trying ]] || preload+=(-genv TORC_TUNE 1)
  tools/mpiexec.sh "${preload[@]}" -n "$ranks" "bazel-bin/$program" "$largest" </dev/null
}

for ((round = 0; round < rounds; ++round)); do
  for variant in plain untuned trying tuned; do
    run "$variant" | sed "s/^/$variant /" >>"$work/times"
  done
done
echo
((ranks <= $(nproc))) || echo "NOTE: $ranks ranks share $(nproc) cores: times are those of waiting for one"
echo "| $ranks ranks, torus $torus | bytes | plain, us | preloaded | TORC_TUNE=1 | tuned |" \
  "preloaded / plain | TORC_TUNE=1 / plain | tuned / plain |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
awk '{
    key = $3 " | " $4
    if (!(key in order)) { order[key] = ++keys; list[keys] = key }
    if (!(($1, key) in least) || $2 < least[$1, key]) least[$1, key] = $2
  }
  END {
    for (i = 1; i <= keys; ++i) {
      key = list[i]
      plain = least["plain", key]; untuned = least["untuned", key]; tuned = least["tuned", key]
      trying = least["trying", key]
      printf "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", key, plain, untuned, trying,
        tuned, untuned / plain, trying / plain, tuned / plain
    }
  }' "$work/times"
echo
awk '{
    size = $4; name = $3
    if (!(name in row)) { row[name] = ++names; list[names] = name }
    if (!(size in column)) { column[size] = ++sizes; bytes[sizes] = size }
    if (!(($1, name, size) in least) || $2 < least[$1, name, size]) least[$1, name, size] = $2
  }
  END {
    line = "| preloaded, with TORC_TUNE=1, tuned, over plain |"; rule = "| --- |"
    for (j = 1; j <= sizes; ++j) { line = line " " bytes[j] " |"; rule = rule " --- |" }
    print line; print rule
    for (i = 1; i <= names; ++i) {
      line = "| " list[i] " |"
      for (j = 1; j <= sizes; ++j) {
        plain = least["plain", list[i], bytes[j]]
        line = line sprintf(" %.2f, %.2f, %.2f |", least["untuned", list[i], bytes[j]] / plain,
          least["trying", list[i], bytes[j]] / plain, least["tuned", list[i], bytes[j]] / plain)
      }
      print line
    }
  }' "$work/times"
