#!/usr/bin/env bash
# A torus of real hosts on one machine, for experiments: each node is a Linux network namespace, each
# cable a veth pair with a token bucket at both ends. Messages go by static dimension-order routes
# (X first, the shorter way around) and MPICH runs over TCP. docs/sites/install.md is also the
# recipe for real hosts that are wired NIC to NIC.
#
#   bash tools/torus_testbed.sh SHAPE [--rate RATE] [--delay TIME] -- PROGRAM [ARGUMENT]...
#   bash tools/torus_testbed.sh SHAPE [--rate RATE] [--delay TIME] --script SCRIPT [ARGUMENT]...
#
# SHAPE     as 4x4 or 4x2m: sizes of up to three dimensions; m: a mesh
# --rate    of a link in one direction, as tc has it (default 100mbit); none: no limit
# --delay   of a link, by netem, if the kernel has it
# PROGRAM   runs with one rank per node, X fastest
# SCRIPT    a bash script with `testbed_mpiexec PROGRAM [ARGUMENT]...`
#
# Needs the right to make network namespaces (root). All of them are removed at the end. MPICH's
# MPI_Finalize may hang over TCP when all is done: `timeout 300 bash tools/torus_testbed.sh ...`.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin  # of ip, tc and sysctl

fail() {
  echo "torus_testbed: $*" >&2
  exit "${code:-1}"
}
usage() {
  sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//'
  exit "$1"
}

# --- The command line.
shape='' rate=100mbit delay='' script=''
command=()
while (($# > 0)); do
  case $1 in
    --help | -h) usage 0 ;;
    --rate | --delay | --script)
      [[ $# -ge 2 ]] || code=2 fail "$1: a value is missing"
      case $1 in
        --rate) rate=$2 ;;
        --delay) delay=$2 ;;
        --script)
          script=$2
          shift 2
          command=("$@")
          break
          ;;
      esac
      shift 2
      ;;
    --)
      shift
      command=("$@")
      break
      ;;
    -*) code=2 fail "$1: no such option; see --help" ;;
    *)
      [[ -z $shape ]] || code=2 fail "$1: one shape at a time; a program comes after --"
      shape=$1
      shift
      ;;
  esac
done
[[ $shape =~ ^[0-9]+m?(x[0-9]+m?){0,2}$ ]] ||
  code=2 fail "'$shape' is no shape: write sizes joined by x, as 4x4 or 4x2m"
[[ -n $script || ${#command[@]} -gt 0 ]] || code=2 fail "what is to run? -- PROGRAM, or --script FILE"
[[ -z $script || -r $script ]] || fail "cannot read '$script'"
IFS=x read -ra sizes <<<"$shape"
meshes=()
nodes=1
for i in "${!sizes[@]}"; do
  meshes[i]=0
  [[ ${sizes[i]} == *m ]] && meshes[i]=1
  sizes[i]=$((10#${sizes[i]%m}))
  ((sizes[i] >= 1)) || code=2 fail "'$shape': a size is 0"
  nodes=$((nodes * sizes[i]))
done
((nodes >= 2 && nodes <= 1024)) || code=2 fail "'$shape' has $nodes nodes; 2 to 1024 are possible"
for tool in ip tc mpiexec.hydra; do
  command -v "$tool" >/dev/null || fail "$tool is missing: Debian's iproute2 and mpich have it"
done

# --- Names and addresses. Node n is the namespace $prefix-n, with the address 10.77.a.b on a device of
# its own, and 10.78.a.b on the bridge over which processes are started.
prefix=torc$$
control=$prefix-c
address() { echo "10.$1.$((($2 + 1) / 256)).$((($2 + 1) % 256))"; }
coordinate() { # of node $1 on axis $2
  local n=$1 i
  for ((i = 0; i < $2; ++i)); do n=$((n / sizes[i])); done
  echo $((n % sizes[$2]))
}
axes=(x y z)

work=$(mktemp -d)
clean_up() {
  local status=$? n pids
  trap - EXIT INT TERM
  for n in c $(seq 0 $((nodes - 1))); do
    [[ -e /run/netns/$prefix-$n ]] || continue
    pids=$(ip netns pids "$prefix-$n" 2>/dev/null || true)
    [[ -z $pids ]] || kill -9 $pids 2>/dev/null || true
    ip netns del "$prefix-$n" 2>/dev/null || true
  done
  rm -rf "$work"
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

ip netns add "$control" 2>"$work/error" ||
  fail "cannot make a network namespace: $(head -n 1 "$work/error"); it takes root's rights"

# --- Nodes, and the bridge that starts processes.
{
  echo "link add br0 type bridge"
  echo "addr add $(address 78 -1)/16 dev br0"
  echo "link set br0 up"
  echo "link set lo up"
} | ip -n "$control" -batch -
for ((n = 0; n < nodes; ++n)); do
  ip netns add "$prefix-$n"
  {
    echo "link set lo up"
    echo "link add own type veth peer name own1"
    echo "addr add $(address 77 "$n")/32 dev own"
    echo "link set own up"
    echo "link set own1 up"
    echo "link add start type veth peer name n$n netns $control"
    echo "addr add $(address 78 "$n")/16 dev start"
    echo "link set start up"
  } | ip -n "$prefix-$n" -batch -
  ip -n "$control" link set "n$n" master br0 up
  ip netns exec "$prefix-$n" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 \
    net.ipv4.conf.default.rp_filter=0
done

# --- Cables: from each node one step up each axis, x+ to x-.
limit() { # namespace, device
  [[ $rate != none ]] || return 0
  if [[ -n $delay ]]; then
    ip netns exec "$1" tc qdisc add dev "$2" root handle 1: tbf rate "$rate" burst 16kb latency 100ms &&
      ip netns exec "$1" tc qdisc add dev "$2" parent 1: netem delay "$delay"
  else
    ip netns exec "$1" tc qdisc add dev "$2" root tbf rate "$rate" burst 16kb latency 100ms
  fi
}
stride=1
for axis in "${!sizes[@]}"; do
  size=${sizes[axis]} name=${axes[axis]}
  for ((n = 0; n < nodes && size > 1; ++n)); do
    at=$(coordinate "$n" "$axis")
    ((at + 1 < size || meshes[axis] == 0)) || continue
    up=$((n + ((at + 1) % size - at) * stride))
    ip -n "$prefix-$n" link add "$name+" type veth peer name "$name-" netns "$prefix-$up"
    ip -n "$prefix-$n" link set "$name+" up
    ip -n "$prefix-$up" link set "$name-" up
    for end in "$prefix-$n $name+" "$prefix-$up $name-"; do
      # shellcheck disable=SC2086
      limit $end 2>"$work/error" || fail "cannot limit a link: $(head -n 1 "$work/error")"
      # shellcheck disable=SC2086
      set -- $end
      ip netns exec "$1" sysctl -qw "net.ipv4.conf.$2.rp_filter=0"
    done
  done
  stride=$((stride * size))
done

# --- Routes: along the first axis on which a node differs, the shorter way.
for ((n = 0; n < nodes; ++n)); do
  for ((to = 0; to < nodes; ++to)); do
    stride=1
    for axis in "${!sizes[@]}"; do
      size=${sizes[axis]}
      from_at=$((n / stride % size)) to_at=$((to / stride % size))
      if ((from_at != to_at)); then
        ahead=$(((to_at - from_at + size) % size))
        if ((meshes[axis] ? to_at > from_at : 2 * ahead < size || (2 * ahead == size && from_at % 2 == 0))); then
          next=$((n + ((from_at + 1) % size - from_at) * stride)) device=${axes[axis]}+
        else
          next=$((n + ((from_at + size - 1) % size - from_at) * stride)) device=${axes[axis]}-
        fi
        echo "route add $(address 77 "$to")/32 via $(address 77 "$next") dev $device onlink src $(address 77 "$n")"
        break
      fi
      stride=$((stride * size))
    done
  done | ip -n "$prefix-$n" -batch -
done

# --- Ranks: mpiexec starts its helper on node n as if n were a host.
mkdir "$work/bin"
cat >"$work/bin/launch" <<LAUNCH
#!/bin/bash
# launch [-x] NODE COMMAND...: as ssh would
while [[ \$1 == -* ]]; do shift; done
node=\$1
shift
exec ip netns exec $prefix-\${node#node} sh -c "\$*"
LAUNCH
seq -f 'node%.0f' 0 $((nodes - 1)) >"$work/hosts"
cat >"$work/bin/testbed_mpiexec" <<MPIEXEC
#!/bin/bash
# Ranks on the testbed, one per node. Without shared memory, which would bypass the cables.
exec ip netns exec $control env HYDRA_LAUNCHER=ssh mpiexec.hydra -launcher ssh \\
  -launcher-exec $work/bin/launch -iface br0 -f $work/hosts -n $nodes -ppn 1 \\
  -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES own "\$@"
MPIEXEC
chmod +x "$work/bin/"*
export PATH=$work/bin:$PATH TESTBED_NODES=$nodes TESTBED_SHAPE=$shape

# In the background, so that signals are handled at once.
if [[ -n $script ]]; then
  bash "$script" "${command[@]}" &
else
  testbed_mpiexec "${command[@]}" &
fi
wait $!
