#!/usr/bin/env bash
# Recipes of other packagers are Python that parses, the containers' files have their stages, and all name the version.
#
#   recipes_test.sh TORC FILE...      the files of tools/packaging
set -euo pipefail
version=$("$1" --version | sed 's/torc //')
shift
count=0
for file in "$@"; do
  case $file in
    *.py | *.eb)
      # Not written beside it, as py_compile does.
      python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$file"
      grep -qE "version( = |\()['\"]$version['\"]" "$file"
      ;;
    *Dockerfile)
      [[ $(grep -c '^FROM debian:12' "$file") -eq 2 ]]
      ;;
    *.def)
      [[ $(grep -c '^From: debian:12' "$file") -eq 2 ]]
      ;;
    *) continue ;;
  esac || {
    echo "recipes_test: $file"
    exit 1
  }
  count=$((count + 1))
done
[[ $count -eq 4 ]]
