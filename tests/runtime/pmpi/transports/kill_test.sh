#!/bin/bash
# kill_test.sh PRELOAD PROGRAM LIBRARY [MOMENTS [SEED]]
# One of four ranks is killed (SIGKILL) at a random moment of the first second, MOMENTS times: the
# others end by themselves, one of them gives the reason, and no file remains in /dev/shm. Messages
# go by puts. Ranks and moments follow from SEED; without one, from the clock. The last line has the
# longest wait of a survivor.
#
#   bazel run -c opt //tests/runtime/pmpi/transports:kill_test -- 100 7
set -u
source tests/checks.sh
preload=$(realpath "$1") program=$2
export TORC_LIBRARY=$3 TORC_TRANSPORT=put
moments=${4:-4}
RANDOM=$((${5:-$(date +%s)} % 32768))
limit=60000 # milliseconds, after which they hang; it is about 1000 where the cores are the job's
longest=0

# Which of the processes have not ended.
survivors() {
  local process
  for process in "${ranks[@]}"; do
    grep -Eqs '^State:\s*[^Z[:space:]]' "/proc/$process/status" && echo "$process"
  done
}

for ((moment = 0; moment < moments; ++moment)); do
  rank=$((RANDOM % 4)) delay=$(printf '0.%03d' $((RANDOM % 1000)))
  case="moment $moment: rank $rank after $delay"
  rm -f "$work"/[0-3]
  mpiexec.hydra -genv LD_PRELOAD "$preload" -n 4 "$program" 60 "$work" >"$work/output" 2>&1 &
  job=$!
  until [[ -s $work/0 && -s $work/1 && -s $work/2 && -s $work/3 ]]; do sleep 0.02; done
  sleep "$delay"
  mapfile -t ranks < <(cat "$work"/[0-3])
  mapfile -t shared < <(for process in "${ranks[@]}"; do
    awk '$6 ~ "^/dev/shm/" && $7 == "" { print $6 }' "/proc/$process/maps"
  done | sort -u)
  # MPICH's launcher ends a job one of whose ranks is gone, unless it is kept from it.
  launcher=$(awk '/^PPid/ { print $2 }' "/proc/${ranks[0]}/status")
  kill -STOP "$launcher"
  kill -KILL "${ranks[rank]}"
  began=$(date +%s%N)
  waited=0
  while [[ -n $(survivors) ]] && ((waited < limit)); do
    sleep 0.01
    waited=$((($(date +%s%N) - began) / 1000000))
  done
  left=$(survivors | wc -l)
  kill -CONT "$launcher"
  wait "$job"
  ((waited <= longest)) || longest=$waited
  ((left == 0)) || fail "$left ranks wait still after $waited ms"
  grep -Eq "^torc: error: rank .*process ${ranks[rank]} of this host\)? has ended" "$work/output" ||
    fail "nothing says that the rank has ended"
  for file in "${shared[@]}"; do
    [[ ! -e $file ]] || fail "$file is left"
  done
done
echo "$moments moments, $failures failures, longest wait $longest ms"
