#!/usr/bin/env bash
# Measures a program's blocking collectives in loops on this machine: plain, and preloaded with
#   generic      a library for the preset `generic`, chosen by the model
#   described    one for this machine as `torc-run --calibrate` describes it, chosen by the model
#   TORC_TUNE=1  the same, which the program's first calls try
#   tuned        the same after `torc-run --tune`
#
#   bash bench/blocking_calls.sh [TORUS]        default: 2, a rank to each of two cores
#
# Variants run in turns, a collective at a time, as a virtual machine's cores may copy at half the
# speed for minutes; the result of each is the minimum of 9 runs, a run being the lower quartile of
# 21 batches of calls. On a busy machine: chrt -f 1 bash bench/blocking_calls.sh.
# TEST_MPI=openmpi: with Open MPI.
#   $BLOCKING_CALLS_SIZES        smallest, largest and factor, in bytes (default: 8 67108864 8)
#   $BLOCKING_CALLS_COLLECTIVES  allreduce, ... (default: all)
#   $BLOCKING_CALLS_MINUTES      of tuning (default: 4)
#   $BLOCKING_CALLS_VARIANTS     default: plain generic described trying tuned
set -euo pipefail
cd "$(dirname "$0")/.."
torus=${1:-2}
shape=${torus//m/}
ranks=$((${shape//x/*}))
rounds=9
read -r smallest largest factor <<<"${BLOCKING_CALLS_SIZES:-8 67108864 8}"
collectives=${BLOCKING_CALLS_COLLECTIVES:-allreduce reduce_scatter allgather alltoall broadcast reduce scatter gather}
variants=${BLOCKING_CALLS_VARIANTS:-plain generic described trying tuned}
runtime=runtime program=bench/blocking_calls
[[ ${TEST_MPI-} != openmpi ]] || runtime=runtime/openmpi program+=_openmpi

bazel build -c opt //compiler:torc "//$runtime:torc-run" "//$runtime:libtorc_pmpi.so" \
  "//bench:${program#*/}" 2>/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build() { bazel-bin/compiler/torc library build --candidates 6 --quiet "$@"; }
torc_run() { tools/mpiexec.sh -n "$ranks" "bazel-bin/$runtime/torc-run" "$@" </dev/null; }

build --partition "$torus" -o "$work/generic"
if [[ $variants == *described* || $variants == *trying* || $variants == *tuned* ]]; then
  torc_run --calibrate "$work/described.json" --torus "$torus" --minutes 0.5
  build --machine "$work/described.json" -o "$work/described"
fi
if [[ $variants == *tuned* ]]; then
  torc_run --tune="$work/described" --output "$work/tuned" --sizes "$smallest:$largest" \
    --collectives "${collectives// /,}" --minutes "${BLOCKING_CALLS_MINUTES:-4}" | tail -n 1
fi

# run VARIANT COLLECTIVE
run() {
  local preload=()
  if [[ $1 != plain ]]; then
    preload=(-genv LD_PRELOAD "$PWD/bazel-bin/$runtime/libtorc_pmpi.so" -genv TORC_STRICT 1
      -genv TORC_LIBRARY "$work/${1/trying/described}")
  fi
  [[ $1 != trying ]] || preload+=(-genv TORC_TUNE 1)
  tools/mpiexec.sh "${preload[@]}" -n "$ranks" "bazel-bin/$program" "$smallest" "$largest" "$factor" \
    "$2" </dev/null
}

for collective in $collectives; do
  for ((round = 0; round < rounds; ++round)); do
    for variant in $variants; do
      run "$variant" "$collective" | sed "s/^/$variant /" >>"$work/times"
    done
  done
done
echo
((ranks <= $(nproc))) || echo "NOTE: $ranks ranks share $(nproc) cores: times are those of waiting for one"
# Microseconds, and ratios. Both tables have only measured variants.
awk -v variants="$variants" -v title="$ranks ranks, torus $torus" '
  { key = $3 " | " $4
    if (!(key in order)) { order[key] = ++keys; list[keys] = key }
    if (!(($1, key) in least) || $2 < least[$1, key]) least[$1, key] = $2 }
  function label(name) { return name == "trying" ? "TORC_TUNE=1" : name }
  END {
    count = split(variants, name, " ")
    head = "| " title " | bytes |"; rule = "| --- | --- |"
    for (i = 1; i <= count; ++i) { head = head " " label(name[i]) ", us |"; rule = rule " --- |" }
    for (i = 2; i <= count; ++i) { head = head " " label(name[i]) " / plain |"; rule = rule " --- |" }
    print head; print rule
    for (k = 1; k <= keys; ++k) {
      line = "| " list[k] " |"
      for (i = 1; i <= count; ++i) line = line sprintf(" %.2f |", least[name[i], list[k]])
      for (i = 2; i <= count; ++i)
        line = line sprintf(" %.2f |", least[name[i], list[k]] / least["plain", list[k]])
      print line
    }
  }' "$work/times"
echo
awk -v variants="$variants" '
  { if (!($3 in row)) { row[$3] = ++names; list[names] = $3 }
    if (!($4 in column)) { column[$4] = ++sizes; bytes[sizes] = $4 }
    if (!(($1, $3, $4) in least) || $2 < least[$1, $3, $4]) least[$1, $3, $4] = $2 }
  END {
    count = split(variants, name, " ")
    line = "| plain, us;"
    for (i = 2; i <= count; ++i) line = line (i > 2 ? ", " : " ") (name[i] == "trying" ? "TORC_TUNE=1" : name[i])
    line = line " over plain |"; rule = "| --- |"
    for (j = 1; j <= sizes; ++j) { line = line " " bytes[j] " |"; rule = rule " --- |" }
    print line; print rule
    for (i = 1; i <= names; ++i) {
      line = "| " list[i] " |"
      for (j = 1; j <= sizes; ++j) {
        plain = least["plain", list[i], bytes[j]]
        cell = sprintf(" %.2f;", plain)
        for (k = 2; k <= count; ++k)
          cell = cell sprintf("%s %.2f", k > 2 ? "," : "", least[name[k], list[i], bytes[j]] / plain)
        line = line (plain ? cell : "") " |"
      }
      print line
    }
  }' "$work/times"
