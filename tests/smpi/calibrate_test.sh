#!/usr/bin/env bash
# torc-run --calibrate on a torus with known numbers: it finds the links, hops and thresholds that
# SimGrid SMPI simulates, and the dead cable.
#
#   calibrate_test.sh TORC TORC_RUN TORUS_SH
set -euo pipefail
source tests/checks.sh
torc=$1 torc_run=$2
source "$3"

# calibrate SHAPE NAME SETTINGS: writes NAME.json and NAME.txt. Simulated minutes, few: messages of
# up to 128 KiB then, which is enough where nothing disturbs.
calibrate() {
  torus_run "$torc_run" "$1" "$3" mpich "$work" --calibrate "$work/$2.json" --torus "$1" \
    --minutes 0.001 >"$work/$2.txt"
}

# number NAME KEY: as `torc machines` prints it.
number() {
  "$torc" machines "$work/$1.json" | awk -v key="$2" '$1 == key { print $2; exit }'
}

TORUS_BANDWIDTH=425e6 TORUS_LATENCY=1e-6 calibrate 4x4x5 plain neutral
about 'bandwidth' "$(number plain dimensions.bandwidth)" 425e6 0.005
about 'latency of a hop' "$(number plain dimensions.latency)" 1e-6 0.02
# SMPI sends 16 bytes with every message.
about 'start-up' "$(number plain alpha)" 37.6e-9 0.15
about buffered "$(sed -n 's/^  "buffered": \([0-9]*\),$/\1/p' "$work/plain.json")" 65535 1e-9
grep -q '^a node.s links, all at once: 6.00 of 6$' "$work/plain.txt" ||
  fail "links at once: $(grep '^a node' "$work/plain.txt")"
for axis in X Y Z; do
  # Both directions at once, in the last column.
  about "both directions of $axis" "$(awk -v axis="$axis" '$1 == axis { print $NF }' "$work/plain.txt")" 2 0.01
done
# What takes no simulated time is not there, and every number that is there is SMPI's.
for key in gamma memory_bandwidth ports overhead eager; do
  ! grep -q "^  \"$key\":" "$work/plain.json" || fail "$key is in $(cat "$work/plain.json")"
done

# Twice as fast, four times as near; every send waits for its receive.
TORUS_BANDWIDTH=850e6 TORUS_LATENCY=250e-9 calibrate 4x4 fast rendezvous
about 'bandwidth of faster links' "$(number fast dimensions.bandwidth)" 850e6 0.005
about 'latency of a shorter hop' "$(number fast dimensions.latency)" 250e-9 0.02
! grep -q '^  "buffered":' "$work/fast.json" || fail "buffered is in $(cat "$work/fast.json")"

# A cable that carries 1000 bytes/s is found, and does not make the others slower.
TORUS_DEAD=3,2:Y calibrate 4x4 slow neutral
about 'bandwidth beside a slow cable' "$(number slow dimensions.bandwidth)" 425e6 0.01
line=$(grep '^slowest along Y' "$work/slow.txt")
[[ $line == *'up (3,2)->(3,3), down (3,3)->(3,2)' ]] || fail "slow cable: $line"
awk '$1 == "Y" { exit !($6 < 0.0011 && $8 < 0.0011) }' "$work/slow.txt" ||
  fail "slow cable: $(grep '^Y' "$work/slow.txt")"

! grep -q '^  "ports":' "$work/slow.json" || fail "ports is in $(cat "$work/slow.json")"
