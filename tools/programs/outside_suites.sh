#!/bin/bash
# Runs external test suites, plain and under libtorc_pmpi.so with puts forced: those of MPICH's
# collectives (test/mpi/coll) and of mpi4py. The schedules are this repository's; a test that passes
# plain must pass with them.
#   tools/programs/outside_suites.sh MPICH_SOURCES [MPI4PY_SOURCES]
# Both are source trees (MPICH 4.0.2; mpi4py 3.1.4, built in place by `MPICC=mpicc.mpich python3 setup.py build`).
# Settings of torc are passed on; $SUITES_TRANSPORT: TORC_TRANSPORT (default: put); $SUITES_LIST: another
# folder of MPICH's (topo, errors/coll; default: coll); $SUITES_ONLY: a pattern (grep -E) of the lines of its
# testlist; $SUITES_LIMIT: seconds of a test (default: 600); $SUITES_PYTHON: default python3.
set -euo pipefail
[[ $# -ge 1 ]] || { sed -n '2,/^set/s/^# \?//p' "$0" | head -n -1 >&2; exit 2; }
tests=$(realpath "$1")/test/mpi
list=${SUITES_LIST:-coll}
mpi4py=${2:+$(realpath "$2")}
cd "$(dirname "$0")/../.."

bazel build -c opt //compiler:torc //runtime:libtorc_pmpi.so //tools:libsleeping_waits.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -L bazel-bin/compiler/torc bazel-bin/runtime/libtorc_pmpi.so bazel-bin/tools/libsleeping_waits.so "$work"
"$work/torc" library build --quiet --sizes=1:1M --partition=2,3,2x2,5,2x3,7,2x2x2,10,11,4x4 -o "$work/library"
export SLEEPING_WAITS=$work/libsleeping_waits.so

# run VARIANT RANKS PROGRAM [ARGUMENT...]
run() {
  local variant=$1 ranks=$2 preload=()
  shift 2
  rm -f "$work/statistics"
  if [[ $variant == plain ]]; then
    preload=(-genv LD_PRELOAD libmpich.so.12) # or Python would load it out of sight
  else
    preload=(-genv LD_PRELOAD "$work/libtorc_pmpi.so" -genv TORC_LIBRARY "$work/library"
      -genv TORC_STATS "$work/statistics" -genv TORC_TRANSPORT "${SUITES_TRANSPORT:-put}")
  fi
  timeout --kill-after=3 "${SUITES_LIMIT:-600}" tools/mpiexec.sh "${preload[@]}" -n "$ranks" "$@" </dev/null 2>&1
}

# The result of configure's searches.
mkdir "$work/include" "$work/coll"
for name in STDARG_H SYS_TIME_H SYS_RESOURCE_H GETRUSAGE UNISTD_H STDLIB_H STRING_H STDINT_H INTTYPES_H \
  LONG_DOUBLE LONG_LONG LONG_LONG_INT MPI_WIN_CREATE FLOAT__COMPLEX _BOOL; do
  echo "#define HAVE_$name 1"
done >"$work/include/mpitestconf.h"
echo "#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX" >>"$work/include/mpitestconf.h"
cp "$work/include/mpitestconf.h" "$work/include/dtpoolsconf.h"
touch "$work/include/mtest_mpix.h"
options=(-w -O1 -fcommon -I"$work/include" -I"$work/include/below" -I"$tests/include" -I"$tests/dtpools/include")
mkdir "$work/include/below"   # dtpools names its header from there
helpers=("$tests"/util/{mtest,mtest_common,mtest_single,dtypes}.c "$tests"/dtpools/src/*.c)
(cd "$work" && for helper in "${helpers[@]}"; do mpicc.mpich "${options[@]}" -c "$helper"; done && ar rc helpers.a ./*.o)

passed=0 failed=0 plainly=0
while read -r name ranks settings; do
  [[ -n $name && $name != \#* && $name != @* ]] || continue
  program=$work/coll/$name
  if [[ ! -e $program ]]; then
    source=$tests/$list/$name.c nonblocking=()
    for prefix in nb nb_ i; do
      [[ -e $source ]] || source=$tests/$list/${name#$prefix}.c nonblocking=(-DUSE_MTEST_NBC)
    done
    mpicc.mpich "${options[@]}" "${nonblocking[@]}" "$source" -o "$program" "$work/helpers.a" -lm ||
      { echo "$name does not compile"; continue; }
  fi
  arguments=()
  for setting in $settings; do
    [[ $setting != arg=* ]] || arguments+=("${setting#arg=}")
  done
  for variant in plain put; do
    if run $variant "$ranks" "$program" "${arguments[@]}" >"$work/$variant" && grep -q '^ *No Errors' "$work/$variant"; then
      good=1
    else
      good=0
    fi
    [[ $good -eq 1 || $variant == put ]] || break
  done
  if [[ $variant == plain ]]; then
    plainly=$((plainly + 1))
    echo "fails plain: $name $ranks ${arguments[*]}"
  elif [[ $good -eq 1 ]]; then
    passed=$((passed + 1))
    grep '^  messages' "$work/statistics" >>"$work/messages" || true
  else
    failed=$((failed + 1))
    echo "fails with puts: $name $ranks ${arguments[*]}"
    tail -20 "$work/put"
  fi
done < <(grep -hE "${SUITES_ONLY:-}" "$tests/$list"/testlist{,.in} 2>/dev/null)
echo "MPICH: $passed passed, $failed failed, $plainly fail plain; $(grep -vc ' 0 bytes by puts' "$work/messages") of them had puts"

[[ -n $mpi4py ]] || exit "$((failed > 0))"
# Tests of functions that MPICH lacks are omitted, plain too. Spawned processes are no ranks of
# torc's job.
for variant in plain put; do
  run $variant 2 "${SUITES_PYTHON:-python3}" "$mpi4py/test/runtests.py" --path="$(echo "$mpi4py"/build/lib.*)" \
    -q -e spawn >"$work/$variant" || failed=$((failed + 1))
  echo "mpi4py, $variant: $(grep -E '^(Ran|OK|FAILED|FAIL:|ERROR:)' "$work/$variant" | tr '\n' ' ')"
done
grep '^  messages' "$work/statistics"
exit "$((failed > 0))"
