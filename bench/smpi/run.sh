#!/usr/bin/env bash
# Runs a schedule on a simulated torus (SimGrid SMPI) and prints its time beside the bound.
#
#   bash bench/smpi/run.sh FILE.torc BYTES [OPTION of torc-run]...
#   bash bench/smpi/run.sh COLLECTIVE:SHAPE BYTES [OPTION of torc compile]... [-- [OPTION of torc-run]...]
#
# BYTES: sizes separated by commas: 64K,3000000,25M. Environment: SETTINGS=neutral (default) or
# default (SMPI's model of TCP); SELECTOR=mpich, ompi, mvapich2 or impi: for the collectives of --compare
# and --check; TORUS_BANDWIDTH (425e6 bytes/s), TORUS_LATENCY (100e-9 s); TORC: the compiler
# (bazel-bin/compiler/torc); SMPI_OPTIONS: further options of smpirun.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/torus.sh"
if (($# < 2)); then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
what=$1 sizes=$2
shift 2
torc=${TORC:-$here/../../bazel-bin/compiler/torc}
if ! [[ -x $torc ]]; then
  echo "run.sh: $torc is missing: bazel build -c opt //compiler:torc, or set TORC" >&2
  exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ $what == *:* ]]; then
  schedule=$work/schedule.torc
  options=()
  while (($# > 0)) && [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift $(($# > 0))
  "$torc" compile "${what%%:*}" --torus "${what#*:}" --quiet -o "$schedule" "${options[@]:---chunks=1}"
else
  schedule=$what
fi
# "allreduce on 8x4x2m, rank 0 at ..."
read -r collective _ shape _ < <("$torc" dump --rank 0 --count 1 "$schedule" | sed 's/,/ /;1q')
program=$(bash "$here/build.sh")

printf '# %s on %s, %s settings, MPI of %s, links of %s bytes/s; times in us\n' "$collective" \
  "$shape" "${SETTINGS:=neutral}" "${SELECTOR:=mpich}" "$TORUS_BANDWIDTH"
printf '#%11s %11s %11s %7s\n' bytes torc bound ratio
for size in ${sizes//,/ }; do
  line=$(torus_run "$program" "$shape" "$SETTINGS" "$SELECTOR" "$work" "$schedule" --bytes "$size" \
    --iterations 1 --warmup 0 "$@" | grep -v '^#')
  # bytes, iterations, torc, minimum, maximum and the columns of --compare and --check
  read -r bytes _ time _ _ more <<<"$line"
  bound=$(torus_bound "$collective" "$shape" "$bytes")
  awk -v bytes="$bytes" -v time="$time" -v bound="$bound" -v more="$more" 'BEGIN {
    printf "%12d %11.2f %11.2f %7.4f  %s\n", bytes, time, 1e6 * bound, time / (1e6 * bound), more
  }'
done
