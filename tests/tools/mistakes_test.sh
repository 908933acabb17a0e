#!/bin/bash
# Every mistake of tools/mistakes/mistakes.txt can be made, and its nearest tests exist. Lists that
# do not fit the code are refused, each fault in one line.
set -uo pipefail
cd "$(dirname "$(realpath WORKSPACE)")" || exit 1
bash tools/mistakes/mistakes.sh --check || exit 1

source tests/checks.sh
mkdir -p "$work/tools/mistakes" "$work/tests/room"
cp tools/mistakes/mistakes.sh "$work/tools/mistakes"
printf 'int half(int n) { return n / 2; }\nint third(int n) { return n / 3; }\n' >"$work/numbers.cc"
printf 'torc_cc_test(name = "numbers_test")\n"loops_%%d"\nfile_check_test()\n' >"$work/tests/room/BUILD"

# expect TEXT LINE...: what is said of a list of these lines; "" is nothing.
expect() {
  local text=$1 said
  shift
  printf '%s\n' "$@" >"$work/tools/mistakes/mistakes.txt"
  said=$(bash "$work/tools/mistakes/mistakes.sh" --check 2>&1)
  [[ $said == "${text:+mistakes: tools/mistakes/mistakes.txt: $text}" ]] || fail "of '$*' it is said: $said"
}
mistake=('# Comment.' numbers.cc '- n / 2' '+ n / 3')
expect "" "${mistake[@]}" //tests/room:numbers_test //tests/room:loops_4 //tests/room:file_check
expect "" "${mistake[@]}" //tests/...
expect "it has no mistakes" '# None.'
expect "'- n / 2' stands before the first file" '- n / 2'
expect "number 1, numbers.cc: there is no 'n / 4'" numbers.cc '- n / 4' '+ n' //tests/...
expect "number 1, numbers.cc: 'return n' stands there more than once" \
  numbers.cc '- return n' '+ n' //tests/...
expect "number 1, letters.cc: there is no such file" letters.cc '- n' '+ m' //tests/...
expect "number 1, numbers.cc: it lacks a line '- ...', '+ ...' or '//...'" "${mistake[@]}"
for label in //tests/room:letters_test //tests/room:lines.tir_test //tests/hall:numbers_test //hall/...; do
  expect "number 1, numbers.cc: no BUILD file has $label" "${mistake[@]}" "$label"
done
