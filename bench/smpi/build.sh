#!/usr/bin/env bash
# Builds torc-run for a simulated torus: the runtime as it is, compiled by SimGrid's wrapper smpicxx,
# which stands outside Bazel. Prints the path of the program.
#
#   bash bench/smpi/build.sh [PROGRAM.cc [OPTION]...]
#
# PROGRAM.cc: a program that is built with the runtime in place of torc-run. OPTION: of the compiler, for
# it, and of the linker.
#
# Compiled in a hurry (-O1, as three sources, which read the headers once each): the simulated time of
# a rank is that of its messages alone.
#
# Objects are kept in $TORC_SMPI_CACHE (default ~/.cache/torc-smpi) under a hash of what they are
# made from, so that a second call builds nothing and clones share what they have in common.
set -euo pipefail
shopt -s globstar extglob
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v smpicxx >/dev/null; then
  echo "build.sh: smpicxx is missing; install libsimgrid-dev" >&2
  exit 1
fi
cache=${TORC_SMPI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/torc-smpi}
mkdir -p "$cache"
flags=(-std=c++20 -O1 -Wall -Wextra -Wno-restrict -Wno-subobject-linkage -DXXH_INLINE_ALL -I.)

# What every object depends on: compiler, flags, headers.
common=$({ smpicxx --version; echo "${flags[*]}"; cat {support,schedules,settings,runtime}/**/*.h; } | sha256sum)

program_source=${1:-}
options=("${@:2}")
objects=()
missing=()
name=${1:-torc-run}
name=${name##*/}
# add_object SOURCE...: what they are compiled to together.
add_object() {
  local object
  object=$cache/$({ echo "$common $*"; cat "$@"; } | sha256sum | cut -c 1-32).o
  # What a program includes is not only of the folders above.
  [[ $# -gt 1 || ${program_source:-} != "$1" ]] ||
    object=$cache/$({ echo "$common"; smpicxx "${flags[@]}" "${options[@]}" -E "$1"; } | sha256sum | cut -c 1-32).o
  objects+=("$object")
  [[ -e $object ]] || missing+=("$*" "$object")
}
add_object {support,settings,schedules,trace}/**/*.cc
add_object runtime/!(pmpi|run)/!(inprocess_*).cc runtime/transport/put/*.cc
if (($# == 0)); then
  add_object runtime/run/**/*.cc
else
  add_object "$1"
fi
program=$cache/${name%.cc}-$(echo "${objects[@]} ${options[*]}" | sha256sum | cut -c 1-32)
if [[ ! -e $program ]]; then
  # Written beside and moved into place: another build may be doing the same.
  compile='printf "#include \"%s\"\n" $1 | smpicxx "${@:3}" -x c++ -c - -o "$2.$$" && mv "$2.$$" "$2"'
  if ((${#missing[@]} > 0)); then
    printf '%s\0' "${missing[@]}" |
      xargs -0 -n 2 -P "$(nproc)" bash -c "set -- \"\$@\" ${flags[*]} ${options[*]}; $compile" compile
  fi
  smpicxx "${objects[@]}" "${options[@]}" -o "$program.$$"
  mv "$program.$$" "$program"
fi
echo "$program"
