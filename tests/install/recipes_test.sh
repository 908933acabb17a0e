#!/usr/bin/env bash
# Recipes of other packagers are Python that parses, the containers' files have their stages, and all name the version.
#
#   recipes_test.sh TORC FILE...      the files of tools/packaging
set -euo pipefail
source tests/checks.sh
version=$("$1" --version | sed 's/torc //')
shift
count=0
for file in "$@"; do
  # Python is not written beside it, as py_compile does.
  case $file in
    *.py | *.eb)
      python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$file" &&
        grep -qE "version( = |\()['\"]$version['\"]" "$file"
      ;;
    *Dockerfile | *.def) [[ $(grep -ciE '^From:? debian:12' "$file") -eq 2 ]] ;;
    *) continue ;;
  esac || fail "$file"
  count=$((count + 1))
done
[[ $count -eq 4 ]]
