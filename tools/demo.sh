#!/usr/bin/env bash
# The main use of torc, on a bare Debian 12: compiles an allreduce for a 3-dimensional asymmetric
# torus, shows the result of each pass and proves the schedule. It chooses another for a size by
# simulation, and replays both on that many MPICH ranks. It compares with MPI_Allreduce. Then it
# makes the library of schedules of that partition, and runs an MPI program without changes, without
# and with it.
#
#   bash tools/demo.sh [SHAPE]        a torus of up to 64 ranks, 4x3x2 if none is given
set -euo pipefail
cd "$(dirname "$0")/.."

shape=${1:-4x3x2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
run() {
  printf '$ %s\n' "$*"
  "$@"
}

bash tools/setup.sh

say "Building"
bazel build -c opt //compiler:torc //runtime:torc-run //runtime:libtorc_pmpi.so \
  2>"$work/build.log" || {
  cat "$work/build.log" >&2
  exit 1
}
export PATH="$PWD/bazel-bin/compiler:$PWD/bazel-bin/runtime:$PATH"
echo "bazel-bin/compiler/torc, bazel-bin/runtime/torc-run, bazel-bin/runtime/libtorc_pmpi.so"

say "Compiling an allreduce for the torus $shape: what each pass leaves (excerpts)"
schedule=$work/allreduce.torc
printf '$ %s\n' "torc compile allreduce --torus $shape --algorithm bucket --print-after-all -o allreduce.torc"
torc compile allreduce --torus "$shape" --algorithm bucket --print-after-all -o "$schedule" 2>"$work/passes.txt" || {
  tail -n 5 "$work/passes.txt" >&2
  exit 1
}
# Of each dump: its title, then the colors and the first lines of the plan or of the steps.
awk '/^\/\/ ---- after / { print ""; print "after " substr($0, 15); shown = 0; next }
     /^ *\/\// || /^ *$/ || /^schedule/ { next }
     /^  (collective|topology|producer|promise|stream|slots|frame) / { next }
     shown < 12 { print }
     shown == 12 { print "      ..." }
     { shown++ }' "$work/passes.txt"

say "The schedule proved, once more from the file"
run torc verify "$schedule"

say "What torc would take for 1 MiB, on a machine with links of 1 GB/s"
chosen=$work/chosen.torc
run torc compile allreduce --torus "$shape" --bytes 1M --explain -o "$chosen"
run torc simulate "$chosen" --bytes 1M

ranks=$(torc verify --json "$schedule" | sed -n 's/.*"nodes": *\([0-9]*\).*/\1/p' | head -n 1)
say "Replaying on $ranks MPICH ranks, checked against and compared with MPI_Allreduce"
echo "($(nproc) cores here: with more ranks than cores the times say little, the check says all)"
run mpiexec.hydra -n "$ranks" torc-run "$schedule" --bytes 0:1M --check --compare
run mpiexec.hydra -n "$ranks" torc-run "$chosen" --bytes 1M --check --compare

say "A library: the best schedule for every sub-torus of the partition, collective and size"
library=$work/library
run torc library build --machine generic --partition "$shape" -o "$library"

say "An MPI program that knows nothing of torc: docs/examples/grid_cg.c, compiled with mpicc"
run mpicc.mpich -std=c99 -O2 docs/examples/grid_cg.c -lm -o "$work/grid_cg"
run mpiexec.hydra -n "$ranks" "$work/grid_cg" | tee "$work/plain.txt"

say "The same program, its collectives served from the library"
run mpiexec.hydra -n "$ranks" env LD_PRELOAD="$PWD/bazel-bin/runtime/libtorc_pmpi.so" \
  TORC_LIBRARY="$library" TORC_STATS="$work/statistics.txt" "$work/grid_cg" | tee "$work/served.txt"
cat "$work/statistics.txt"

# The first line of each is the command.
if ! diff <(tail -n +2 "$work/plain.txt") <(tail -n +2 "$work/served.txt"); then
  echo "demo: the program's results differ" >&2
  exit 1
fi
echo
echo "The same results, $(sed -n 's/^Calls served by torc: \([0-9]*\),.*/\1/p' "$work/statistics.txt") \
collective calls served by torc."
