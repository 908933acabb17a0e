#!/bin/bash
# Checks that the tests find mistakes in the code: those of tools/mistakes/mistakes.txt, one at a time.
#   tools/mistakes/mistakes.sh [--list FILE] [--all] [NUMBER | FIRST-LAST]...
#       each of them, or those of these numbers: the nearest tests, up to the first that
#       fails, then with --all all others; first the same tests without a mistake, which must pass.
#       FILE has others: tools/mistakes/mutants.py writes random ones
#   tools/mistakes/mistakes.sh --check    only whether the list fits the code and the tests
#   tools/mistakes/mistakes.sh --write    only the copy of the code that has them, whose folder it names
# All mistakes are in one copy, which is built once: the variable MISTAKE tells a test which of them is
# made; programs run by the build itself make none. Copy and logs are kept in ~/.cache/torc-mistakes (or
# TORC_MISTAKES). A process of a test has 8 GiB at most, and a test that hangs fails at its time limit.
# The last line is `N places, M found`; exits with 0 only if all are found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
  sed -n '2,/^set/s/^# \?//p' "$0" >&2
  exit 2
}
fail() {
  echo "mistakes: $*" >&2
  exit 1
}

list=tools/mistakes/mistakes.txt
if [[ ${1-} == --list ]]; then
  [[ -f ${2-} ]] || fail "${2-no list}: no such file"
  list=$2
  shift 2
fi
files=()
originals=()
mistakes=()
tests=()  # labels of one mistake, with a blank before each

readList() {
  local line last=-1
  while IFS= read -r line; do
    case $line in
      '' | '#'*) continue ;;
      '- '* | '+ '* | //*) [[ $last -ge 0 ]] || fail "$list: '$line' stands before the first file" ;;
      *)
        last=${#files[@]}
        files+=("$line")
        originals+=('')
        mistakes+=('')
        tests+=('')
        ;;
    esac
    case $line in
      '- '*) originals[last]+=${line#- } ;;
      '+ '*) mistakes[last]+=${line#+ } ;;
      //*) tests[last]+=" $line" ;;
    esac
  done <"$list"
}

# textOf FILE: into `text`, the newlines at its end too.
textOf() {
  IFS= read -rd '' text <"$1" || true
}

# isLabel LABEL: whether a BUILD file may have it: as a name, as one that a macro extends
# ("errors_test" for errors_test_2), or as file_check in a folder with text tests.
isLabel() {
  local folder=${1#//} name
  if [[ $folder == */... ]]; then
    [[ -n $(find "${folder%...}" -name BUILD -print -quit 2>/dev/null) ]]
    return
  fi
  name=${folder#*:}
  folder=${folder%%:*}
  [[ $1 == *:* && -f $folder/BUILD ]] || return 1
  if [[ $name == file_check ]]; then
    grep -q file_check_test "$folder/BUILD"
    return
  fi
  while ! grep -qE "\"$name(\.sh)?(\"|_%)" "$folder/BUILD"; do
    [[ $name == *_* ]] || return 1
    name=${name%_*}
  done
}

# Prints one line for each entry of the list that does not fit.
checkList() {
  local i label text rest faults=0
  fault() {
    echo "mistakes: $list: number $((i + 1)), ${files[i]}: $*" >&2
    faults=$((faults + 1))
  }
  [[ ${#files[@]} -gt 0 ]] || fail "$list: it has no mistakes"
  for i in "${!files[@]}"; do
    if [[ -z ${originals[i]} || -z ${mistakes[i]} || -z ${tests[i]} ]]; then
      fault "it lacks a line '- ...', '+ ...' or '//...'"
      continue
    fi
    if [[ ${files[i]} != *.cc && ${files[i]} != *.h ]]; then
      fault "only C++ can have a mistake"
    elif [[ -f ${files[i]} ]]; then
      textOf "${files[i]}"
      rest=${text//"${originals[i]}"/}
      case $(((${#text} - ${#rest}) / ${#originals[i]})) in
        0) fault "there is no '${originals[i]}'" ;;
        1) ;;
        *) fault "'${originals[i]}' stands there more than once" ;;
      esac
    else
      fault "there is no such file"
    fi
    for label in ${tests[i]}; do
      isLabel "$label" || fault "no BUILD file has $label"
    done
  done
  [[ $faults -eq 0 ]]
}

# The begin of a file with mistakes.
prelude='#ifndef TORC_MISTAKE_
#define TORC_MISTAKE_
#include <cstdlib>
static inline int torcMistake() {
  static const int number = [] {
    const char* const text = std::getenv("MISTAKE");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return number;
}
#endif
#line 1
'

# The copy: files known to git, new ones included, with all mistakes.
writeCopy() {
  local i file text
  mkdir -p "$copy"
  find "$copy" -mindepth 1 -maxdepth 1 ! -name 'bazel-*' -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard |
    while IFS= read -rd '' file; do
      [[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file"
    done | tar --null --files-from=- --create | tar --extract --directory="$copy"
  [[ ! -e user.bazelrc ]] || cp user.bazelrc "$copy"
  for i in "${!files[@]}"; do
    file=$copy/${files[i]}
    textOf "$file"
    [[ $text == "$prelude"* ]] || text=$prelude$text
    printf '%s(torcMistake() == %d ? (%s) : (%s))%s' "${text%%"${originals[i]}"*}" $((i + 1)) \
      "${mistakes[i]}" "${originals[i]}" "${text#*"${originals[i]}"}" >"$file"
  done
}

# runTests NUMBER TARGET...: those on the copy, with a mistake, or without for 0. Status of Bazel: 0
# if all pass, 3 if one fails.
runTests() {
  local number=$1 options=()
  shift
  # Results with a mistake are not cached: only the variable distinguishes them.
  [[ $number -eq 0 ]] || options=(--notest_keep_going --nocache_test_results)
  (
    cd "$copy"
    MISTAKE=$number bazel test -c opt --copt=-w --test_env=MISTAKE \
      --run_under="prlimit --as=$((8 << 30))" \
      --test_tag_filters=-more --build_tag_filters=-more \
      --test_summary=short --color=no --curses=no --noshow_loading_progress "${options[@]}" -- "$@"
  ) >"$folder/$number.log" 2>&1
}

# tryMistake NUMBER: one line of the table; succeeds if the mistake is found.
tryMistake() {
  local number=$1 i=$(($1 - 1)) status=0 begin=$SECONDS found='NOT FOUND' text line
  # shellcheck disable=SC2086  # labels
  runTests "$number" ${tests[i]} || status=$?
  if [[ $status -eq 0 && $all == yes ]]; then
    runTests "$number" "${everything[@]}" || status=$?
  fi
  case $status in
    0) ;;
    3) found=$(sed -nE 's/^(FAIL|TIMEOUT): (\/\/[^ ]+) .*/\2/p' "$folder/$number.log" | head -1) ;;
    *) found="bazel test: exit status $status; see $folder/$number.log" ;;
  esac
  textOf "${files[i]}"
  text=${text%%"${originals[i]}"*}
  line=$(wc -l <<<"$text")
  printf '%3d  %4d s  %-55s  %s:%d: %s -> %s\n' "$number" $((SECONDS - begin)) \
    "${found:-a test: see $folder/$number.log}" "${files[i]}" "$line" "${originals[i]}" "${mistakes[i]}"
  [[ $status -eq 3 ]]
}

all=no
mode=run
chosen=()
for argument in "$@"; do
  case $argument in
    --all) all=yes ;;
    --check | --write) mode=${argument#--} ;;
    *)
      [[ $argument =~ ^([1-9][0-9]{0,3})(-([1-9][0-9]{0,3}))?$ ]] || usage
      for ((number = BASH_REMATCH[1]; number <= ${BASH_REMATCH[3]:-${BASH_REMATCH[1]}}; ++number)); do
        chosen+=("$number")
      done
      [[ ${BASH_REMATCH[3]:-${BASH_REMATCH[1]}} -ge ${BASH_REMATCH[1]} ]] || usage
      ;;
  esac
done
[[ $mode == run || $# -eq 1 ]] || usage

readList
checkList || exit 1
[[ $mode != check ]] || exit 0
if [[ ${#chosen[@]} -eq 0 ]]; then
  mapfile -t chosen < <(seq "${#files[@]}")
fi
for number in "${chosen[@]}"; do
  [[ $number -le ${#files[@]} ]] || fail "there is no mistake $number: $list has ${#files[@]}"
done

folder=${TORC_MISTAKES:-${XDG_CACHE_HOME:-$HOME/.cache}/torc-mistakes}
copy=$folder/copy
writeCopy
if [[ $mode == write ]]; then
  echo "$copy"
  exit 0
fi

# Tests of the sources find the mistakes themselves.
everything=(//... -//tests/tools/...)
wanted=()
if [[ $all == yes ]]; then
  wanted=("${everything[@]}")
else
  for number in "${chosen[@]}"; do
    # shellcheck disable=SC2206  # labels
    wanted+=(${tests[number - 1]})
  done
fi
trap '(cd "$copy" && bazel shutdown) >/dev/null 2>&1 || true' EXIT
echo "mistakes: building $copy, and its tests without a mistake"
runTests 0 "${wanted[@]}" ||
  fail "not all pass without a mistake: see $folder/0.log"

found=0
for number in "${chosen[@]}"; do
  if tryMistake "$number"; then
    found=$((found + 1))
  fi
done
echo "${#chosen[@]} places, $found found"
[[ $found -eq ${#chosen[@]} ]]
