#!/bin/bash
# illegal_programs_test.sh PRELOAD PROGRAM LIBRARY RANKS FIRST_SEED PROGRAMS
# Runs programs with one fault each, preloaded; PRELOAD "-" runs them plain. Each must end within 60
# seconds, or torc must name the call in which it waits; then this script ends it. A crash is a
# failure, and so is a job that hangs without a message. Preloaded, each is run once more, with
# statistics, lines on its calls and a trace: it must complete exactly if it completes without them.
set -u
source tests/checks.sh
preload=$1 program=$2 library=$3 ranks=$4 first=$5 programs=$6
patience=60 # seconds for the job to end, or for torc to say why it does not
grace=3     # seconds for the job to end by itself after torc has said so

environment=()
if [[ $preload != - ]]; then
  environment=(-genv LD_PRELOAD "$(realpath "$preload")" -genv TORC_LIMITS stall=2
    -genv TORC_LIBRARY "$(realpath "$library")")
fi

fail() {
  echo "illegal_programs_test: seed $seed on $ranks ranks: $*"
  cut -c1-500 "$output" | head -n 30 | sed 's/^/  | /'
}

isRunning() {
  kill -0 "$job" 2>/dev/null
}

# awaitEnd SECONDS [PATTERN]: until the job has ended, or a line of its output matches.
awaitEnd() {
  local tenths=$(($1 * 10))
  while ((tenths-- > 0)) && isRunning; do
    [[ $# -lt 2 ]] || ! grep -qE "$2" "$output" || return
    sleep 0.1
  done
}

endJob() {
  kill -TERM "$job" 2>/dev/null
  awaitEnd 5
  kill -KILL "$job" 2>/dev/null
}

said='^torc: (error|warning): .*MPI_[A-Z]'
crashed='signal (4|6|7|8|11)\b|[Ss]egmentation|terminate called|EXIT CODE: (134|136|139)\b'

# tryProgram SEED [-genv NAME VALUE]...: prints what has become of the program, behind what is wrong with
# that.
tryProgram() {
  local seed=$1 output=$work/output-$1 job status was_told
  : >"$output"
  tools/mpiexec.sh "${environment[@]}" "${@:2}" -n "$ranks" "$program" --seed "$seed" \
    </dev/null >"$output" 2>&1 &
  job=$!
  awaitEnd "$patience" "$said"
  # What is said may be an error, after which the job ends.
  ! isRunning || ! grep -qE "$said" "$output" || awaitEnd "$grace"
  if isRunning; then
    was_told=$(grep -cE "$said" "$output")
    grep -qE "$crashed" "$output" && fail "crashed"
    endJob
    wait "$job" 2>/dev/null
    ((was_told > 0)) || fail "hangs, and nothing says in which call"
    echo stalled
    return
  fi
  wait "$job"
  status=$?
  if ((status == 139)) || grep -qE "$crashed" "$output"; then
    fail "crashed, exit status $status"
  elif ((status != 0)); then
    echo failed
  elif [[ $(grep -c '^illegal_programs: rank .*: finished$' "$output") -ne $ranks ]]; then
    fail "exit status 0, but not all ranks have finished"
  else
    echo completed
  fi
}

tryTwice() {
  local seed=$1 output=$work/output-$1 outcome watched
  outcome=$(tryProgram "$seed")
  echo "$outcome"
  [[ $preload != - ]] || return
  watched=$(tryProgram "$seed" -genv TORC_STATS "$work/statistics-$seed" -genv TORC_VERBOSE 3 \
    -genv TORC_TRACE "$work/trace-$seed")
  grep -vxE 'stalled|failed|completed' <<<"$watched"
  [[ $outcome == "$watched" || "$outcome $watched" != *completed* ]] ||
    fail "$outcome, and $watched if it is watched"
}

# Those that stall wait: some go at a time.
for ((seed = first; seed < first + programs; ++seed)); do
  [[ $(jobs -rp | wc -l) -lt 3 ]] || wait -n
  tryTwice "$seed" >"$work/outcome-$seed" &
done
wait
cat "$work"/outcome-* >"$work/outcomes"
grep -vxE 'stalled|failed|completed' "$work/outcomes"
failures=$(grep -c '^illegal_programs_test: ' "$work/outcomes")
known=$(grep -cxE 'stalled|failed|completed' "$work/outcomes")
if ((known + failures < programs)); then
  echo "illegal_programs_test: of some programs nothing is known"
  failures=$((failures + 1))
fi
# Stalled ones were ended after torc had named the call.
echo "illegal_programs_test: of $programs programs on $ranks ranks $failures are failures," \
  "$(grep -xE 'stalled|failed|completed' "$work/outcomes" | sort | uniq -c | xargs)"
