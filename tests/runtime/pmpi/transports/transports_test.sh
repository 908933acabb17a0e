#!/bin/bash
# transports_test.sh PRELOAD PROGRAM LIBRARY REFUSING_SYSTEM
# The transport of messages between four ranks, for different permissions of the host. Results are
# right in all cases.
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
# cases: rows of name, variables, whether torc is `quiet`, and patterns of lines that there are.
cases() {
  local name variables quiet patterns pattern
  while IFS='|' read -r name variables quiet patterns; do
    read -ra variables <<<"$variables"
    run "$name" "${variables[@]}"
    while read -r pattern; do
      grep -Eq "$pattern" "$work/output" || fail "no line is $pattern"
    done < <(tr '|' '\n' <<<"$patterns")
    [[ -z $quiet ]] || ! grep -q '^torc: ' "$work/output" || fail "a line that nobody needs"
  done
}
none='  shared memory  *0 bytes in 0 segments \(all hosts\)'
nothing='  messages  *0 bytes by puts, [1-9].* by MPI \(all ranks\)'
puts='  messages  *[1-9].* bytes by puts'
both="$puts, [1-9].* by MPI \(all ranks\)"
no_puts='^torc: warning: rank 0: no puts, messages go by MPI:'

starter=()
cases <<END
default||quiet|$puts, .* by MPI \(all ranks\)|  shared memory  *[1-9].* bytes in 1 segments \(all hosts\)
by-mpi|TORC_TRANSPORT=mpi||$nothing|$none
unknown|TORC_TRANSPORT=x||^torc: warning: TORC_TRANSPORT is 'x'; allowed: mpi or put; torc is off$
two-cores|TORC_CORES=2||
fewer-cores|TORC_CORES=1000||^torc: hint: TORC_CORES=1000, but rank 0 may run on [0-9]+ cores?$
no-core|TORC_CORES=0||^torc: warning: TORC_CORES is '0'; allowed: a number from 1 to 1024; torc is off$
no-ucx-any-more|TORC_TRANSPORT=put+ucx||$puts, .* by MPI \(all ranks\)|^torc: warning: TORC_TRANSPORT=put\+ucx: torc has no transport of UCX any more; messages go by puts within a host, else by MPI$
END
[[ $(grep -c '^torc: ' "$work/output") -eq 1 ]] || fail "more than a line"

# start_by COMMAND: it comes before the program on each rank, whose number is in $rank.
start_by() {
  printf '#!/bin/bash\nrank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}\n%s\nexec "$@"\n' "$1" >"$work/start"
  chmod +x "$work/start"
  starter=("$work/start")
}

# The limits of the process are the program's: on its files, a rank's on its address space (as of
# getrlimit), and memory that is used up when the job starts, or by the second or third region of a rank.
# Copies from memory to memory that fail: EFAULT (14) for some messages, EPERM (1) for good. MPI makes none.
copies='TORC_TRANSPORT=put UCX_TLS=posix,self OMPI_MCA_btl_vader_single_copy_mechanism=none'
start_by "export LD_PRELOAD=$refusing:\$LD_PRELOAD"
cases <<END
no-file|TORC_TRANSPORT=put TEST_LIMIT=1||$nothing|$no_puts files may have 1 bytes \(ulimit -f\)
copies-3:14|$copies TEST_COPIES=3:14|quiet|$puts
copies-2:1|$copies TEST_COPIES=2:1|quiet|$puts
END
start_by "((rank != 1)) || export LD_PRELOAD=$refusing:\$LD_PRELOAD"
cases <<END
no-address-space|TORC_TRANSPORT=put TEST_LIMIT=9||$nothing|$no_puts rank 1 may take 0 bytes, a small share of the address space \(ulimit -v\), shared memory needs 1048576$
no-memory|TORC_TRANSPORT=put TEST_FALLOCATE=1||$nothing|$no_puts rank 1 has no shared memory, or wants none$
memory-until-2|TORC_TRANSPORT=put TEST_FALLOCATE=2|quiet|$both
memory-until-3|TORC_TRANSPORT=put TEST_FALLOCATE=3|quiet|$both
END

# Of MPICH, which takes 120 MB. Ranks with a network of their own count as another host.
[[ ${TEST_MPI:-mpich} == mpich ]] || exit 0
start_by 'ulimit -v 240000'
cases <<<"little-address-space|TORC_TRANSPORT=put||$puts"
unshare -n true 2>/dev/null || exit 0
start_by '((rank < 2)) || exec unshare -n "$@"'
cases <<<"two-hosts|||$both"
