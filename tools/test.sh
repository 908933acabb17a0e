#!/bin/bash
# Sets up, builds and runs every test: tools/test.sh [BAZEL OPTION | TARGET]...
#   tools/test.sh --config=asan            under a sanitizer (also ubsan, tsan)
#   tools/test.sh //tests/schedules/...    only these tests
# The last line is `N passed, N failed`, counted in test targets; exits with 0 only if none failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

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
# The sanitizers choose their own optimization.
[[ " ${options[*]-} " == *" --config="* ]] || options=(-c opt "${options[@]}")

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# --keep_going: what builds is tested, and what does not counts as failed.
bazel test --keep_going --color=no --curses=no --noshow_loading_progress \
  --show_progress_rate_limit=20 --test_summary=short \
  "${options[@]}" -- "${targets[@]}" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

# Bazel's summary has one line per test: `//tests:x   (cached) PASSED in 0.1s`.
passed=0
failed=()
while read -r label result; do
  result=${result#(cached) }
  case $result in
    PASSED* | FLAKY*) passed=$((passed + 1)) ;;
    "FAILED TO BUILD"* | FAILED* | TIMEOUT* | "NO STATUS"* | INCOMPLETE* | "REMOTE FAILURE"*)
      failed+=("$label: ${result%% in *}") ;;
  esac
done < <(grep -E '^//[^ ]+ +(\(cached\) )?(PASSED|FLAKY|FAILED|TIMEOUT|NO STATUS|INCOMPLETE|REMOTE)' "$log")

# A program that is no test may fail to build, or a BUILD file to load.
if [[ $status -ne 0 && ${#failed[@]} -eq 0 ]]; then
  failed+=("bazel test: exit status $status; see the errors above")
fi

echo
if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'FAILED  %s\n' "${failed[@]}"
fi
echo "$passed passed, ${#failed[@]} failed"
[[ ${#failed[@]} -eq 0 ]]
