#!/bin/bash
# ends_test.sh PRELOAD PROGRAM LIBRARY
# A program that ends without MPI_Finalize, by a signal, late, or in a child process, ends with torc
# as without: the same lines, the same exit status, no hang; the statistics are printed at most
# once.
set -u
source tests/checks.sh
torc=$PWD/$1 program=$PWD/$2 library=$PWD/$3
preload=
# Without MPI_Finalize MPI's own threads stay, of which ThreadSanitizer has a status of its own.
export TSAN_OPTIONS="${TSAN_OPTIONS-}:report_thread_leaks=0"

# What each rank runs: the program with PRELOAD, whose exit status it writes down. It ends when all
# RANKS have written, for the launcher kills the others once it sees that a rank has failed.
cat >"$work/rank.sh" <<'END'
rank=${PMI_RANK-$OMPI_COMM_WORLD_RANK}
status=0
env LD_PRELOAD="$PRELOAD:$LD_PRELOAD" "$@" || status=$?
if [[ ${TORC_DEDICATED-} != "$rank" ]]; then
  echo "exit status $status" >"$ENDED.$rank"
  mv "$ENDED.$rank" "$ENDED/$rank"
fi
for ((turn = 0; turn < 50; turn++)); do
  ended=("$ENDED"/*)
  [[ ${#ended[@]} -lt $RANKS ]] || break
  sleep 0.1
done
exit "$status"
END

# job RANKS [NAME=VALUE...]: the program on two ranks of its own; what it says, and how its ranks end.
job() {
  rm -rf "$work/ended"
  mkdir "$work/ended"
  RANKS=2 ENDED=$work/ended within 30 preloaded "$@" bash "$work/rank.sh" "$program" "$kind"
  grep '^rank' "$work/stdout" | sort >"$work/lines"
  if [[ $kind == MPI_Abort ]]; then  # which ends all ranks at once, by way of the launcher
    echo "the job: exit status $status" >>"$work/lines"
  else
    cat "$work/ended"/* >>"$work/lines"
  fi
}

# served HOW RANKS [NAME=VALUE...]
served() {
  case="$kind: $1"
  rm -f "$work/trace"
  job "$2" PRELOAD="$torc" TORC_LIBRARY="$library" TORC_STATS="$work/table" "${@:3}"
  diff "$work/wanted" "$work/lines" || fail "other lines or ends than without torc"
  expectQuiet
  case $kind in
    atexit | destructor | fork) [[ $(grep -c '^torc statistics' "$work/table") -eq 1 ]] || fail "the table" ;;
    *) [[ ! -e $work/table ]] || fail "a table" ;;
  esac
}

for kind in exit return quick_exit _exit abort terminate SIGTERM SIGSEGV MPI_Abort other_thread under_way \
  operation atexit destructor fork; do
  # A job of Open MPI takes a second.
  [[ ${TEST_MPI-} != openmpi || $kind =~ ^(exit|terminate|under_way|destructor|fork)$ ]] || continue
  case="$kind: plain"
  job 2 PRELOAD=
  [[ $(grep -c '^rank' "$work/lines") -ge 2 ]] || fail "no case"
  mv "$work/lines" "$work/wanted"
  served thread 2 TORC_PROGRESS=thread
  case $kind in
    exit | under_way | fork | destructor)
      served traced 2 TORC_TRACE="$work/trace"
      served dedicated 3 TORC_DEDICATED=2
      ;;
  esac
done
