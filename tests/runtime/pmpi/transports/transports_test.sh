#!/bin/bash
# transports_test.sh PRELOAD PROGRAM LIBRARY REFUSING_SYSTEM
# By what the messages of four ranks go, whatever the host allows. Results are right in all cases.
set -u
source tests/checks.sh
preload=$1 program=$2 refusing=$PWD/$4
export TORC_LIBRARY=$3

# run CASE [NAME=VALUE...]: the program with these variables, for a second.
run() {
  case=$1
  shift
  env TORC_STATS=1 "$@" tools/mpi_test.sh "--preload=$preload" 4 "${starter[@]}" "$program" 1 "$work" \
    >"$work/stdout" 2>"$work/output"
  [[ $(<"$work/stdout") == right ]] || fail "it says: $(cat "$work/stdout")"
}
expect() {
  for line in "$@"; do
    grep -Eq "$line" "$work/output" || fail "no line is $line"
  done
}
no_memory='  shared memory  *0 bytes in 0 segments \(all hosts\)'
nothing='  messages  *0 bytes by puts, [1-9].* by MPI \(all ranks\)'
starter=()

run default
expect '  messages  *[1-9].* bytes by puts, .* by MPI \(all ranks\)' # some have no room
expect '  shared memory  *[1-9].* bytes in 1 segments \(all hosts\)'
grep -q '^torc: ' "$work/output" && fail "a line that nobody needs"
run by-mpi TORC_TRANSPORT=mpi
expect "$nothing" "$no_memory"
run unknown TORC_TRANSPORT=x
expect "^torc: warning: TORC_TRANSPORT is 'x'; allowed: mpi or put; torc is off$"

run two-cores TORC_CORES=2
run fewer-cores TORC_CORES=1000
expect '^torc: hint: TORC_CORES=1000, but rank 0 may run on [0-9]+ cores?$'
run no-core TORC_CORES=0
expect "^torc: warning: TORC_CORES is '0'; allowed: a number from 1 to 1024; torc is off$"

run no-ucx-any-more TORC_TRANSPORT=put+ucx
expect '  messages  *[1-9].* bytes by puts, .* by MPI \(all ranks\)' \
  '^torc: warning: TORC_TRANSPORT=put\+ucx: torc has no transport of UCX any more; messages go by puts within a host, else by MPI$'
[[ $(grep -c '^torc: ' "$work/output") -eq 1 ]] || fail "more than a line"

# start_by COMMAND: it comes before the program on each rank, whose number is in $rank.
start_by() {
  printf '#!/bin/bash\nrank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}\n%s\nexec "$@"\n' "$1" >"$work/start"
  chmod +x "$work/start"
  starter=("$work/start")
}

# The limits of the process are the program's: on its files, a rank's on its address space (as of
# getrlimit), and memory that is used up when the job starts, or by the second or third region of a rank.
start_by "export LD_PRELOAD=$refusing:\$LD_PRELOAD"
run no-file TORC_TRANSPORT=put TEST_LIMIT=1
expect "$nothing" '^torc: warning: rank 0: no puts, messages go by MPI: files may have 1 bytes \(ulimit -f\)'
start_by "((rank != 1)) || export LD_PRELOAD=$refusing:\$LD_PRELOAD"
run no-address-space TORC_TRANSPORT=put TEST_LIMIT=9
expect "$nothing" '^torc: warning: rank 0: no puts, messages go by MPI: rank 1 may take 0 bytes, a small share of the address space \(ulimit -v\), shared memory needs 1048576$'
run no-memory TORC_TRANSPORT=put TEST_FALLOCATE=1
expect "$nothing" '^torc: warning: rank 0: no puts, messages go by MPI: rank 1 has no shared memory, or wants none$'
for region in 2 3; do
  run "memory-until-$region" TORC_TRANSPORT=put "TEST_FALLOCATE=$region"
  expect '  messages  *[1-9].* bytes by puts, [1-9].* by MPI \(all ranks\)'
  grep -q '^torc: ' "$work/output" && fail "a line that nobody needs"
done

# Copies from memory to memory that fail: EFAULT (14) for some messages, EPERM (1) for good. MPI makes none.
start_by "export LD_PRELOAD=$refusing:\$LD_PRELOAD"
for copies in 3:14 2:1; do
  run "copies-$copies" TORC_TRANSPORT=put "TEST_COPIES=$copies" UCX_TLS=posix,self \
    OMPI_MCA_btl_vader_single_copy_mechanism=none
  expect '  messages  *[1-9].* bytes by puts'
  grep -q '^torc: ' "$work/output" && fail "a line that nobody needs"
done
starter=()

if [[ ${TEST_MPI:-mpich} == mpich ]]; then
  start_by 'ulimit -v 240000' # MPICH takes 120 MB
  run little-address-space TORC_TRANSPORT=put
  expect '  messages  *[1-9].* bytes by puts'
  starter=()
fi

# Ranks with a network of their own count as another host.
if [[ ${TEST_MPI:-mpich} == mpich ]] && unshare -n true 2>/dev/null; then
  start_by '((rank < 2)) || exec unshare -n "$@"'
  run two-hosts
  expect '  messages  *[1-9].* bytes by puts, [1-9].* by MPI \(all ranks\)'
  starter=()
fi
