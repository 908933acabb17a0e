#!/usr/bin/env bash
# Runs the examples of pages: blocks of commands that begin with `$ torc`, with their output. A line
# `...` stands for any lines; printed seconds are not compared. Examples that need a file that the
# page does not make, another program, or a library are skipped. Of a tutorial every block is run,
# as by a reader, in one shell: there nothing is skipped, and every command must succeed.
#
#   bash tests/tools/pages_test.sh FILE...      the files of install_files.sh, the pages among them
set -euo pipefail
root=$PWD
source tests/checks.sh
prefix=$work/prefix
bash tools/install_files.sh "$prefix" "$@"
export PATH=/usr/lib/llvm-19/bin:$prefix/bin:$PATH
export LD_LIBRARY_PATH=$prefix/lib PYTHONPATH=$prefix/lib/python3/dist-packages
# Ranks that wait sleep, as in all tests.
mkdir "$work/bin"
printf '#!/bin/bash\nPATH=%q exec timeout 60 %q "$@"\n' "$PATH" "$root/tools/mpiexec.sh" >"$work/bin/mpiexec.hydra"
chmod +x "$work/bin/mpiexec.hydra"

run=0 passed_over=0
# The page that is made of the rows of options.
for page in "$@"; do
  [[ $page == */options.md ]] || continue
  bash tools/pages/options_page.sh torc torc-model torc-run | diff - "$page" || fail "$page is not that of today"
done
# check BLOCK OUTPUT: whether a block has printed what the page says.
check() {
  ((++run))
  sed '/^$/d' "$2" | FileCheck "$1.check" >"$work/why" 2>&1 && return
  fail "$page: not what this prints: $(head -n 1 "$1.sh"): $(sed -n '2,9p' "$work/why")"
}

for page in "$@"; do
  [[ $page == *.md ]] || continue
  rm -rf "$work/page"
  mkdir -p "$work/page/place"
  # A file for each block that has a command. What is installed, and the folder, are elsewhere here.
  sed "s,/usr/\(bin\|lib\|share\)/,$prefix/\1/,g; s,/tutorial/,$work/page/place/,g" "$page" | awk -v folder="$work/page" '
    /^```/ { blocks += inside && any; inside = !inside; any = 0; next }
    inside && /^\$ / { any = 1 }
    inside && any { print > sprintf("%s/%03d", folder, blocks) }'
  for block in "$work/page"/[0-9]*; do
    [[ -e $block ]] || continue
    # FILE.sh has the commands, FILE.check what they print, in order.
    awk -v name="$block" '
      here { print > (name ".sh"); if ($0 == here) here = ""; next }
      /^\$ / || continued {
        sub(/^\$ /, ""); continued = /\\$/; print > (name ".sh"); start = 1
        if (match($0, /<<\047[A-Z]+\047$/)) here = substr($0, RSTART + 3, RLENGTH - 4)
        next
      }
      /^(\.\.\.|…)$/ { start = 1; next }
      NF { print (start ? "CHECK: " : "CHECK-NEXT: ") $0 > (name ".check"); start = 0 }' "$block"
    [[ ! -e $block.check ]] || sed -Ei 's/[0-9.]+ s$/{{[0-9.]+}} s/; s/[0-9.]+ s;/{{[0-9.]+}} s;/g' "$block.check"
  done

  if [[ $page == */tutorial.md ]]; then
    # Nor are dates, names of files made of their content, times of jobs, and what a library has: another choice of
    # schedules is no fault of a tutorial.
    for block in "$work/page"/*.check; do
      sed -Ei 's/2[0-9]{3}-[0-9]{2}-[0-9]{2}/{{[0-9-]+}}/g; s/-[0-9a-f]{16}\.torc/-{{[0-9a-f]+}}.torc/g' "$block"
      ! grep -qE 'mpiexec|torc stats' "${block%.check}.sh" || sed -Ei 's/[0-9]+\.[0-9]+/{{[0-9.]+}}/g' "$block"
      ! grep -q 'torc library' "${block%.check}.sh" ||
        perl -pi -e 's/\{\{.*?\}\}(*SKIP)(*FAIL)|\b\d+(\.\d+)?\b/{{[0-9.]+}}/g unless /checksum/' "$block"
    done
    (
      cd "$work/page/place"
      PATH=$work/bin:$PATH
      set +u +o pipefail
      # shellcheck source=/dev/null
      for block in ../*.sh; do source "$block" >"$block.out" 2>&1 || exit; done
    ) || fail "$page: a command fails"
    for block in "$work/page"/*.sh; do
      if [[ ! -e $block.out ]]; then
        echo "$page: not run: $(head -n 1 "$block")"
      elif [[ -e ${block%.sh}.check ]]; then
        check "${block%.sh}" "$block.out"
      else
        ((++run))
      fi
    done
    continue
  fi

  for block in "$work/page"/*.sh; do
    [[ -e $block ]] || continue
    if grep -qvE '^(torc|torc-model) ' "$block" || grep -q 'library build' "$block" || [[ ! -e ${block%.sh}.check ]]; then
      ((++passed_over))
      continue
    fi
    (cd "$work/page/place" && bash "$block") >"$work/out" 2>&1 || true
    if grep -q 'cannot read' "$work/out"; then
      ((++passed_over))
      continue
    fi
    check "${block%.sh}" "$work/out"
  done
done
echo "$run blocks run, $passed_over passed over"
((run > 0))
