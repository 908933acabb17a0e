#!/bin/bash
# Sets up, builds and runs tests.
#   tools/test.sh [BAZEL OPTION | TARGET]...   every test, or these: //tests/schedules/...
#       but those that repeat others on Open MPI, or on more ranks: tools/which_mpi.bzl says which
#   tools/test.sh --more [OPTION | TARGET]...
#       the same with all of them
#   tools/test.sh --config=asan                every test under a sanitizer (also ubsan, tsan)
#   tools/test.sh --sanitized [OPTION | TARGET]...
#       unit, property and one-rank tests under AddressSanitizer and UndefinedBehaviorSanitizer, then
#       tests with threads under ThreadSanitizer; on MPICH, for Open MPI leaks, and inverts locks, itself
#   tools/test.sh --fuzz MINUTES [OPTION | TARGET]...
#       each libFuzzer target for MINUTES, as many at a time as there are cores. Their findings are
#       kept in ~/.cache/torc-fuzz (or TORC_FUZZ), a folder a target: the next run goes on from there.
#   tools/test.sh --odr
#       links the programs with -flto, by which the linker finds two definitions of one name
#   tools/test.sh --ci
#       every test, --sanitized, --odr, clang-tidy on files of the last commit, and a build of all else
# The last line is `N passed, N failed`, counted in test or libFuzzer targets; exits with 0 only if
# none failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  sed -n '2,/^set/s/^# \?//p' "$0" >&2
  exit 2
}

mode=plain
filters=(--test_tag_filters=-more --build_tag_filters=-more)
case ${1-} in
  --more)
    filters=()
    shift
    ;;
  --sanitized)
    mode=sanitized
    shift
    ;;
  --odr | --ci)
    mode=${1#--}
    shift
    ;;
  --fuzz)
    mode=fuzz
    minutes=${2-}
    [[ $minutes =~ ^[1-9][0-9]{0,4}$ ]] || usage
    shift 2
    ;;
esac

bash tools/setup.sh || exit 1

options=()
targets=()
for argument in "$@"; do
  case $argument in
    //* | -//* | :* ) targets+=("$argument") ;;
    *) options+=("$argument") ;;
  esac
done
[[ ${#targets[@]} -gt 0 ]] || targets=(//...)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=()

# runTests OPTION... -- TARGET...: adds to `passed` and `failed`.
runTests() {
  local before=${#failed[@]} status label result
  # --keep_going: targets that build are tested, others count as failed.
  bazel test --keep_going --color=no --curses=no --noshow_loading_progress \
    --build_tests_only --show_progress_rate_limit=20 --test_summary=short "$@" 2>&1 | tee "$work/log"
  status=${PIPESTATUS[0]}

  # Bazel's summary has one line per test: `//tests:x   (cached) PASSED in 0.1s`.
  while read -r label result; do
    result=${result#(cached) }
    case $result in
      PASSED* | FLAKY*) passed=$((passed + 1)) ;;
      "FAILED TO BUILD"* | FAILED* | TIMEOUT* | "NO STATUS"* | INCOMPLETE* | "REMOTE FAILURE"*)
        failed+=("$label: ${result%% in *}") ;;
    esac
  done < <(grep -E '^//[^ ]+ +(\(cached\) )?(PASSED|FLAKY|FAILED|TIMEOUT|NO STATUS|INCOMPLETE|REMOTE)' "$work/log")

  # A target that is no test may fail to build, or a BUILD file to load.
  if [[ $status -ne 0 && ${#failed[@]} -eq $before ]]; then
    failed+=("bazel test: exit status $status; see the errors above")
  fi
}

# findTests EXPRESSION: the tests among `targets` that are in EXPRESSION of Bazel's query, in which
# `all` stands for them. Tests that run only by name are excluded.
findTests() {
  local target all='set()'
  for target in "${targets[@]}"; do
    if [[ $target == -* ]]; then
      all="($all except ${target#-})"
    else
      all="($all union $target)"
    fi
  done
  bazel query --noshow_progress --noshow_loading_progress \
    "let all = tests($all) except attr(tags, '\bmanual\b', tests($all)) in $1"
}

runSanitized() {
  local tests threaded
  # SimGrid compiles its own programs and has its own stacks; exclusive tests measure time.
  mapfile -t tests < <(findTests "\$all except attr(tags, '\b(mpi|smpi|exclusive)\b', \$all) union
    attr(tags, '\bone-rank\b', \$all) except filter('_openmpi\$', \$all)")
  # A test has threads if a source of it uses them, or a setting of the preloaded library.
  local starts='std::j?thread\b|pthread_create|MPI_THREAD_MULTIPLE|TORC_PROGRESS=thread|\bWorkQueue\b'
  threaded=$(grep -rlE "$starts" tests \
    --include='*.cc' --include='*.h' --include='*.c' --include='*.sh' --include='*.test')
  mapfile -t threads < <(findTests "(\$all intersect rdeps(\$all, set(${threaded//$'\n'/ }))) union
    attr(env, 'TORC_PROGRESS', \$all) except filter('_openmpi\$', \$all)")
  echo "${#tests[@]} tests of memory, ${#threads[@]} of threads"
  [[ ${#tests[@]} -eq 0 ]] || runTests --config=asan-ubsan "${options[@]}" -- "${tests[@]}"
  [[ ${#threads[@]} -eq 0 ]] || runTests --config=tsan "${options[@]}" -- "${threads[@]}"
}

# fuzzOne LABEL: prints one line.
fuzzOne() {
  local label=$1 folder log runs
  folder=$keep/${label#//}
  folder=${folder/://}
  log=$folder/log
  mkdir -p "$folder/inputs"
  if ! [[ -x $work/run${label//[:\/]/_} ]]; then
    echo "FAILED  $label: FAILED TO BUILD"
  elif "$work/run${label//[:\/]/_}" -max_total_time=$((60 * minutes)) -timeout=300 \
    -print_final_stats=1 -artifact_prefix="$folder/" "$folder/inputs" >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "PASSED  $label: $runs runs in $minutes min"
  else
    echo "FAILED  $label: $(grep -m1 -E '^SUMMARY|^==.*ERROR' "$log"); see $log"
  fi
}

runOdr() {
  local programs=(//compiler:torc //studies:torc-model //runtime:torc-run //runtime:libtorc_pmpi.so) program
  for program in "${programs[@]}"; do
    if bazel build --config=odr --color=no --curses=no --show_progress_rate_limit=20 \
      "${options[@]}" -- "$program"; then
      passed=$((passed + 1))
    else
      failed+=("$program: two definitions of one name, or no build; see above")
    fi
  done
}

# Reads the libraries and programs of which the last commit changed a source.
runTidy() {
  local changed=() file labels
  while read -r file; do
    [[ -f $file && $file != tests/* ]] && changed+=("$file")
  done < <(git diff --name-only HEAD~1 -- '*.cc' '*.h')
  [[ ${#changed[@]} -gt 0 ]] || return 0
  mapfile -t labels < <(bazel query --noshow_progress --keep_going \
    "kind('cc_(library|binary)', rdeps(//..., set(${changed[*]}), 1))" 2>/dev/null)
  if [[ ${#labels[@]} -eq 0 ]] || bash tools/tidy.sh "${labels[@]}"; then
    passed=$((passed + 1))
  else
    failed+=("clang-tidy: see above")
  fi
}

# Builds the targets without tests: benchmarks, and programs of the papers' tables.
runRest() {
  if bazel build -c opt --keep_going --color=no --curses=no --show_progress_rate_limit=20 //...; then
    passed=$((passed + 1))
  else
    failed+=("bazel build //...: see above")
  fi
}

runFuzz() {
  local label
  mapfile -t fuzzed < <(findTests "attr(tags, '\bfuzz\b', \$all)")
  bazel build --config=fuzz --keep_going --color=no --curses=no --show_progress_rate_limit=20 \
    "${options[@]}" -- "${fuzzed[@]}"
  for label in "${fuzzed[@]}"; do
    bazel run --config=fuzz --script_path="$work/run${label//[:\/]/_}" "${options[@]}" -- "$label" \
      >/dev/null 2>&1
  done
  export work minutes keep=${TORC_FUZZ:-${XDG_CACHE_HOME:-$HOME/.cache}/torc-fuzz}
  export -f fuzzOne
  printf '%s\n' "${fuzzed[@]}" | xargs -P "$(nproc)" -I{} bash -c 'fuzzOne {}' | tee "$work/lines"
  passed=$(grep -c '^PASSED' "$work/lines")
  mapfile -t failed < <(sed -n 's/^FAILED  //p' "$work/lines")
}

runPlain() {
  local optimized=()
  # The sanitizers choose their own optimization.
  [[ " ${options[*]-} " == *" --config="* ]] || optimized=(-c opt)
  [[ " ${targets[*]} " =~ [/:]\.\.\.\ |:all\  ]] || filters=()  # what is named runs
  runTests "${optimized[@]}" "${options[@]}" "${filters[@]}" -- "${targets[@]}"
}

case $mode in
  plain) runPlain ;;
  sanitized) runSanitized ;;
  fuzz) runFuzz ;;
  odr) runOdr ;;
  ci)
    for part in runPlain runSanitized runOdr runTidy runRest; do
      started=$SECONDS
      "$part"
      echo "${part#run}: $((SECONDS - started)) s"
    done
    ;;
esac

echo
if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'FAILED  %s\n' "${failed[@]}"
fi
echo "$passed passed, ${#failed[@]} failed"
[[ ${#failed[@]} -eq 0 && $passed -gt 0 ]]
