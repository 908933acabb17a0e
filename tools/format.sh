#!/bin/bash
# Formats every .h and .cc file, new ones included: tools/format.sh [--check]
# --check changes nothing and fails when a file is not formatted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
  "") mode=(-i) ;;
  --check) mode=(--dry-run --Werror) ;;
  *) echo "usage: tools/format.sh [--check]" >&2; exit 2 ;;
esac
if ! command -v clang-format >/dev/null; then
  echo "tools/format.sh: clang-format is missing: apt-get install clang-format" >&2
  exit 1
fi

find . -path './bazel-*' -prune -o -type f \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 clang-format "${mode[@]}"
