#!/usr/bin/env bash
# Builds torc-run for a simulated torus: the unchanged runtime, compiled by SimGrid's wrapper
# smpicxx, outside Bazel. Prints the path of the program.
#
#   bash bench/smpi/build.sh [PROGRAM.cc [OPTION]...]
#
# PROGRAM.cc: a program that is built with the runtime in place of torc-run. OPTION: of the
# compiler, for it, and of the linker.
#
# The compilation is fast (-O1, as three sources, which read the headers once each): the simulated
# time of a rank is only that of its messages.
#
# Objects are kept in $TORC_SMPI_CACHE (default ~/.cache/torc-smpi) under a hash of their inputs, so
# that a second call builds nothing and clones share equal objects. $TORC_SMPI_ARCHIVES: those of all
# that knows no MPI, which is not compiled then.
set -euo pipefail
shopt -s globstar extglob
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v smpicxx >/dev/null; then
  echo "build.sh: smpicxx is missing; install libsimgrid-dev" >&2
  exit 1
fi
cache=${TORC_SMPI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/torc-smpi}
mkdir -p "$cache"
flags=(-std=c++20 -O1 --param=ggc-min-heapsize=1000000 -Wall -Wextra -Wno-restrict -Wno-subobject-linkage -DXXH_INLINE_ALL -I.)

# Inputs of every object: compiler, flags, headers.
common=$({ smpicxx --version; echo "${flags[*]}"; cat {support,schedules,settings,runtime}/**/*.h; } | sha256sum)

program_source=${1:-}
options=("${@:2}")
objects=()
missing=()
name=${1:-torc-run}
name=${name##*/}
# add_object SOURCE...: compiles them to one object.
add_object() {
  local object
  object=$cache/$({ echo "$common $*"; cat "$@"; } | sha256sum | cut -c 1-32).o
  # A program may include files outside the folders above.
  [[ $# -gt 1 || ${program_source:-} != "$1" ]] ||
    object=$cache/$({ echo "$common"; smpicxx "${flags[@]}" "${options[@]}" -E "$1"; } | sha256sum | cut -c 1-32).o
  objects+=("$object")
  [[ -e $object ]] || missing+=("$*" "$object")
}
[[ -n ${TORC_SMPI_ARCHIVES-} ]] || add_object {support,settings,schedules,trace}/**/*.cc
add_object runtime/!(pmpi|run)/!(inprocess_*).cc runtime/transport/put/*.cc
if (($# == 0)); then
  add_object runtime/run/**/*.cc
else
  add_object "$1"
fi
# shellcheck disable=SC2086  # paths
program=$cache/${name%.cc}-$({ echo "${objects[@]} ${options[*]}"; cat ${TORC_SMPI_ARCHIVES:-/dev/null}; } | sha256sum | cut -c 1-32)
if [[ ! -e $program ]]; then
  # Written beside and moved into place: another build may be doing the same.
  compile='printf "#include \"%s\"\n" $1 | smpicxx "${@:3}" -x c++ -c - -o "$2.$$" && mv "$2.$$" "$2"'
  if ((${#missing[@]} > 0)); then
    printf '%s\0' "${missing[@]}" |
      xargs -0 -n 2 -P "$(nproc)" bash -c "set -- \"\$@\" ${flags[*]} ${options[*]}; $compile" compile
  fi
  # shellcheck disable=SC2086  # paths
  smpicxx "${objects[@]}" "${options[@]}" -Wl,--start-group ${TORC_SMPI_ARCHIVES-} -Wl,--end-group -o "$program.$$"
  mv "$program.$$" "$program"
fi
echo "$program"
