#!/usr/bin/env bash
# Compares multiplication and LU of linalg/ with OpenBLAS and ScaLAPACK on this machine
# (bench/dense_speed.cc). The machine must be idle: ranks spin while they wait.
#
#   bash bench/dense_speed.sh [TURNS]
set -euo pipefail
cd "$(dirname "$0")/.."
turns=${1:-9}
# shellcheck disable=SC2086
bazel ${BAZEL_STARTUP:-} build -c opt //bench:dense_speed 2>/dev/null
# shellcheck disable=SC2086
bin=$(bazel ${BAZEL_STARTUP:-} info -c opt bazel-bin 2>/dev/null)/bench
echo "Seconds, medians of $turns turns; share: OpenBLAS's dgemm over ours; $(nproc) cores"
echo
echo "| ranks | n | block | share | multiply | pdgemm | ratio | LU | pdgetrf | ratio |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
for ranks in 1 2 4; do
  for job in "1000 64" "2000 64" "2000 128" "3000 256"; do
    # shellcheck disable=SC2086
    OPENBLAS_NUM_THREADS=1 mpiexec.hydra -n "$ranks" "$bin/dense_speed" $job "$turns"
  done
done
