#!/bin/bash
# random_programs_test.sh PRELOAD PROGRAM LIBRARY RANKS SEED FIRST PROGRAMS [OPTION...]
# Runs random programs FIRST .. FIRST + PROGRAMS - 1 of SEED plain and preloaded: the results must
# be the same, to the byte, and torc must print nothing; torc must have served all forms of some of
# their calls, except for functions like SERVED_NOT. With torc a third of the programs is observed
# by statistics, and a third in all ways, which changes nothing. LIBRARY - is none. If
# TORC_DEDICATED is =N, or a list of ranks, there are as many additional ranks with torc.
set -u
source tests/checks.sh
preload=$1 program=$2 library=$3 ranks=$4 seed=$5 first=$6 programs=$7
options=("${@:8}")
arguments=(--seed "$seed" --first "$first" --programs "$programs" "${options[@]}")
# Only torc's run has them.
dedicated=${TORC_DEDICATED:-=0}
[[ $dedicated == =* ]] || dedicated=$(wc -w <<<"${dedicated//,/ }")
# fail TEXT [PROGRAM]: where one program is known, how it is run again.
fail() {
  local settings setting
  echo "random_programs_test: seed $seed on $ranks ranks${2:+, program $2}: $1"
  settings="LIBRARY=${library##*/}"
  for setting in "${!TORC_@}"; do
    [[ $setting =~ ^TORC_(LIBRARY|STATS|TRACE)$ ]] || settings+=" $setting=${!setting}"
  done
  [[ ${TEST_MPI:-mpich} == mpich ]] || settings+=" TEST_MPI=$TEST_MPI"
  [[ $program != *_handler ]] || settings+=" HANDLER=1"
  echo "again: $settings bash tools/programs/random_programs.sh $ranks $seed ${2:-$first}" \
    "$([[ $# -gt 1 ]] && echo 1 || echo "$programs") ${options[*]}"
  exit 1
}

# underWay OUTPUT: the program that had not ended.
underWay() {
  echo $((first + $(grep -c '^program .* calls$' "$1")))
}

# Two runs share the time that the test has.
export TEST_TIMEOUT=$((${TEST_TIMEOUT:-300} / 2))
tools/mpi_test.sh "$ranks" "$program" "${arguments[@]}" >"$work/plain" ||
  fail "fails without torc: $(tail -n 20 "$work/plain")" "$(underWay "$work/plain")"
if [[ $library == - ]]; then
  unset TORC_LIMITS  # .bazelrc's; torc would say that it means nothing here
else
  export TORC_LIBRARY=$library
fi
# runPart NUMBER [NAME=VALUE...]: one of three parts of the programs, observed so, and as the one before.
runPart() {
  local begin=$((programs * $1 / 3)) end=$((programs * ($1 + 1) / 3))
  [[ $# -eq 1 ]] || export "${@:2}"
  ((begin < end)) || return
  arguments[3]=$((first + begin)) arguments[5]=$((end - begin))
  tools/mpi_test.sh "--preload=$preload" "$((ranks + ${dedicated#=}))" "$program" "${arguments[@]}" \
    >>"$work/preloaded" 2>"$work/stderr" ||
    fail "fails with torc: $(tail -n 20 "$work/preloaded" "$work/stderr")" \
      "$(underWay "$work/preloaded")"
  ! grep -hE "${faults:-^torc: }" "$work/preloaded" "$work/stderr" >"$work/said" ||
    fail "torc had something to say: $(cat "$work/said")"
}
runPart 0
runPart 1 TORC_STATS="$work/statistics.1"
all=(TORC_VERBOSE=3 TORC_TRACE="$work/trace")
[[ $library != - ]] || all=()  # of which there is none without
# Of Open MPI's ranks lines may come in pieces.
[[ $library == - ]] || faults='torc: (warning|error)'
runPart 2 TORC_STATS="$work/statistics.2" "${all[@]}"
difference=$(diff <(grep '^program ' "$work/plain" | sort) <(grep '^program ' "$work/preloaded" | sort) |
  grep -m1 '^[<>]') &&
  fail "other results with torc" "$(sed -E 's/^[<>] program ([0-9]+):.*/\1/' <<<"$difference")"
tail -n 1 "$work/plain"

[[ $library != - ]] || exit 0
cat "$work"/statistics.* >"$work/table"
for function in MPI_Allreduce MPI_Iallreduce MPI_Allreduce_init MPI_Reduce_scatter MPI_Allgatherv \
  MPI_Bcast MPI_Reduce MPI_Gather MPI_Scatter MPI_Alltoall MPI_Alltoallv MPI_Alltoallw; do
  [[ -n ${SERVED_NOT:-} && $function == $SERVED_NOT ]] || expectServed "$function"
done
servedRows | head -n 1
