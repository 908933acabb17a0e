#!/bin/bash
# mpiexec of the MPI under test: $TEST_MPI, mpich (default) or openmpi. Takes the options of MPICH's
# mpiexec that tests use: -n RANKS, -env NAME VALUE, -genv NAME VALUE first, and `:` between
# sections. While it waits, a rank of MPICH sleeps in tests (sleeping_waits.c: $SLEEPING_WAITS, or
# beside this script); one of Open MPI yields its core.
set -eu
if [[ ${TEST_MPI:-mpich} == mpich ]]; then
  sleeping=${SLEEPING_WAITS:-$(realpath "$(dirname "$0")")/libsleeping_waits.so}
  [[ -e $sleeping ]] || exec mpiexec.hydra "$@"
  arguments=()
  while [[ $# -gt 0 ]]; do
    if [[ $1 == -env || $1 == -genv ]] && [[ $2 == LD_PRELOAD ]]; then
      arguments+=("$1" "$2" "$3:$sleeping")
      shift 3
    else
      arguments+=("$1")
      shift
    fi
  done
  exec mpiexec.hydra -genv LD_PRELOAD "${LD_PRELOAD:+$LD_PRELOAD:}$sleeping" "${arguments[@]}"
fi

# Open MPI: every section has its own variables. Ranks may outnumber the cores, and root may run it.
global=()
while [[ ${1-} == -genv ]]; do
  global+=(-x "$2=$3")
  shift 3
done
options=(--allow-run-as-root --oversubscribe)
if [[ -n ${TEST_TMPDIR-} ]]; then
  # The names of its files come from process numbers, which are equal in every sandbox.
  options+=(--mca orte_tmpdir_base "$TEST_TMPDIR" --mca btl_vader_backing_directory "$TEST_TMPDIR")
fi
options+=("${global[@]}")
while [[ $# -gt 0 ]]; do
  case $1 in
    -env)
      options+=(-x "$2=$3")
      shift 3
      ;;
    -n)
      options+=(-n "$2" "$3")
      shift 3
      while [[ $# -gt 0 && $1 != : ]]; do
        options+=("$1")
        shift
      done
      ;;
    :)
      options+=(: "${global[@]}")
      shift
      ;;
    *)
      echo "mpiexec.sh: $1 is no option that it knows" >&2
      exit 2
      ;;
  esac
done
exec mpiexec.openmpi "${options[@]}"
