#!/bin/bash
# Checks the sources, except those of tests, with clang-tidy and .clang-tidy:
#   tools/tidy.sh [BAZEL OPTION | TARGET]...   all of them, or those of these: //schedules/...
# Unchanged sources are not read again. Exits with 0 if nothing is found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v clang-tidy-19 >/dev/null; then
  echo "tools/tidy.sh: clang-tidy-19 is missing: apt-get install clang-tidy-19" >&2
  exit 1
fi
targets=all
for argument in "$@"; do
  [[ $argument != //* && $argument != :* ]] || targets=given
done
[[ $targets == given ]] || set -- "$@" //...
exec bazel build --compilation_mode=opt --keep_going --noshow_progress \
  --aspects=//tools:tidy.bzl%tidy --output_groups=tidy "$@"
