#!/bin/bash
# Runs tests/runtime/pmpi/stress at full scale: ten thousand communicators, a million calls, ten
# thousand different calls, with and without libtorc_pmpi.so. It prints time and resident memory,
# and fails if memory grows or a result is wrong.
#   tools/programs/stress.sh [RANKS [DIVISOR]]    ranks: 2, 4, 6 or 8; DIVISOR 10: a tenth of everything
set -euo pipefail
cd "$(dirname "$0")/../.."

ranks=${1:-2}
divisor=${2:-1}
bazel build -c opt //runtime:libtorc_pmpi.so //tests/runtime/pmpi/stress //tests/runtime/pmpi/conformance:library
bin=$(bazel info -c opt bazel-bin)
statistics=$(mktemp)
trap 'rm -f "$statistics"' EXIT

for what in "communicators 10000" "calls 1000000" "signatures 10000" "pending 100"; do
  read -r name times <<<"$what"
  echo "== plain"
  mpiexec.hydra -n "$ranks" "$bin/tests/runtime/pmpi/stress/stress" "$name" $((times / divisor))
  echo "== with libtorc_pmpi.so"
  mpiexec.hydra -genv LD_PRELOAD "$bin/runtime/libtorc_pmpi.so" \
    -genv TORC_LIBRARY "$bin/tests/runtime/pmpi/conformance/library" -genv TORC_LIMITS cache=1M \
    -genv TORC_STATS "$statistics" \
    -n "$ranks" "$bin/tests/runtime/pmpi/stress/stress" "$name" $((times / divisor))
  grep -E '^  (schedules|persistent plans) |^Calls ' "$statistics"
done
