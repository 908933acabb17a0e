#!/bin/bash
# Links between pages lead somewhere: to a file or folder, and to a heading of it.
set -euo pipefail
cd "$(dirname "$(realpath WORKSPACE)")"
source tests/checks.sh

# anchors FILE: its headings, as GitHub names them.
anchors() {
  sed -n '/^```/,/^```/d; s/^#\{1,6\} //p' "$1" | tr '[:upper:]' '[:lower:]' |
    sed -E 's/\[([^]]*)\]\([^)]*\)/\1/g; s/[^a-z0-9_ -]//g; s/ /-/g'
}

pages=0
while IFS= read -r -d '' page; do
  pages=$((pages + 1))
  while IFS= read -r link; do
    [[ $link != *:* ]] || continue
    path=${link%%#*}
    target=$(dirname "$page")/$path
    [[ -n $path ]] || target=$page
    if [[ ! -e $target ]]; then
      fail "$page: $link: no such file"
    elif [[ $link == *#* && $target == *.md ]] && ! anchors "$target" | grep -qxF -- "${link#*#}"; then
      fail "$page: $link: no such heading"
    fi
  done < <(sed '/^```/,/^```/d; s/`[^`]*`//g' "$page" | grep -oE '\]\([^) ]+\)' | sed -E 's/^\]\(|\)$//g')
done < <(find . -path './bazel-*' -prune -o -type f -name '*.md' -print0)

[[ $pages -gt 30 ]] || fail "$pages pages found in $PWD"
