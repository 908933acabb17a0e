#!/bin/bash
# Clang finds no use in runtime/pmpi without the required lock (support/thread_annotations.h), and
# reads the headers that fuzz targets (--config=fuzz) need.
# Sources that Bazel generates are left out.
set -euo pipefail
shopt -s globstar
cd "$(dirname "$(realpath WORKSPACE)")"
source tests/checks.sh

# Two units, which read the headers once each.
for source in runtime/pmpi/**/*.cc; do
  case $source in
    */wrappers/generate_wrappers.cc) continue ;; # a program of its own
    */wrappers/*) unit=wrappers ;;
    *) unit=rest ;;
  esac
  echo "#include \"$source\"" >>"$work/$unit.cc"
done
# Other names of wrappers, which Bazel generates.
install -D /dev/null "$work/runtime/pmpi/wrappers/next_layer.h"
# What is to be found: the second of these has no lock.
cat >"$work/counter_check.cc" <<'EOF'
#include "runtime/pmpi/engine/engine.h"
using namespace torc::runtime::pmpi;
bool isEnding() {
  EngineLock lock;
  return engine->is_ending;
}
bool isEndingUnlocked() { return engine->is_ending; }
EOF

printf '#include "%s"\n' {schedules,settings,ir,model}/**/*.h >"$work/headers.cc"

export flags="-std=c++20 -fsyntax-only -Wno-everything -Wthread-safety -Werror -DXXH_INLINE_ALL
  -I. -I$work -isystem /usr/lib/llvm-19/include $(mpicc.mpich -show | grep -o -- '-I[^ ]*')"
# shellcheck disable=SC2016,SC2086
printf '%s\n' "$work"/{rest,wrappers,headers,counter_check} |
  xargs -P "$(nproc)" -I {} bash -c 'clang++ $flags {}.cc >{}.log 2>&1; echo $? >{}.code'

for unit in rest wrappers headers; do
  [[ $(<"$work/$unit.code") == 0 ]] || fail "clang says: $(<"$work/$unit.log")"
done
[[ $(grep -c ' error: ' "$work/counter_check.log") == 1 ]] &&
  grep -q "counter_check.cc:7:.*requires holding lock 'engine_lock'" "$work/counter_check.log" ||
  fail "clang does not find what it should: $(<"$work/counter_check.log")"
