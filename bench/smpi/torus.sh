# Functions of the scripts that run torc on a torus simulated by SimGrid SMPI; sourced by them.
#
# A SHAPE has torc's notation: 8x4x2m. SimGrid's torus has one wire per pair of neighbours and
# direction, so a dimension of size 2, written 2 or 2m, has half the capacity of a ring; schedules
# for it are compiled for 2m. Ranks count with X fastest, messages go in the order of the
# dimensions.

# Links of the simulated torus: bytes per second and direction, and seconds per hop.
TORUS_BANDWIDTH=${TORUS_BANDWIDTH:-425e6}
TORUS_LATENCY=${TORUS_LATENCY:-100e-9}

# torus_ranks SHAPE: the number of nodes.
torus_ranks() {
  local dimension ranks=1
  for dimension in ${1//x/ }; do
    ranks=$((ranks * ${dimension%m}))
  done
  echo "$ranks"
}

# torus_platform SHAPE: SimGrid's description of the torus. Some of MPI's all-to-alls send to themselves.
torus_platform() {
  local sizes=${1//m/}
  cat <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="torus" topology="TORUS" topo_parameters="${sizes//x/,}" prefix="node-"
           radical="0-$(($(torus_ranks "$1") - 1))" suffix="" speed="3.4Gf"
           bw="${TORUS_BANDWIDTH}Bps" lat="${TORUS_LATENCY}s" sharing_policy="SPLITDUPLEX"
           loopback_bw="100GBps" loopback_lat="1ns"/>
</platform>
XML
}

# torus_bound COLLECTIVE SHAPE BYTES: lower bound in seconds by the bandwidth of the simulated
# torus's wires: (n beta / 2) max over proper subsets S of the dimensions of (1/prod(S) - 1/p) /
# (sum of c outside S), twice that for an allreduce. The data that one node has or gets use its 2
# sum of c wires: all data in a broadcast, a reduce and a scan, all but its own block in a scatter
# and a gather. In an all-to-all of BYTES from each node a wire of a dimension of d nodes carries
# floor(d^2 / 4) / (2 d) of them. It is twice that if the dimension does not wrap.
torus_bound() {
  awk -v collective="$1" -v shape="$2" -v bytes="$3" -v bandwidth="$TORUS_BANDWIDTH" 'BEGIN {
    count = split(shape, size, "x")
    nodes = 1
    for (i = 1; i <= count; ++i) {
      capacity[i] = size[i] ~ /m$/ || size[i] + 0 == 2 ? 0.5 : 1
      size[i] += 0
      if (size[i] == 1) capacity[i] = 0
      nodes *= size[i]
    }
    most = 0
    for (subset = 0; subset < 2 ^ count - 1; ++subset) {
      inside = 1
      outside = 0
      rest = subset
      for (i = 1; i <= count; ++i) {
        if (rest % 2) inside *= size[i]; else outside += capacity[i]
        rest = int(rest / 2)
      }
      if (outside == 0) continue
      load = (1 / inside - 1 / nodes) / outside
      if (load > most) most = load
    }
    if (collective ~ /^(broadcast|reduce|scan|exscan|scatter|gather)$/) {
      most = 0
      for (i = 1; i <= count; ++i) most += capacity[i]
      if (most > 0) most = (collective ~ /^(scatter|gather)$/ ? 1 - 1 / nodes : 1) / most
    }
    factor = collective == "allreduce" ? 1 : 0.5
    if (collective == "alltoall") {
      most = 0
      factor = 1
      for (i = 1; i <= count; ++i) {
        if (size[i] == 1) continue
        load = int(size[i] ^ 2 / 4) / (2 * size[i]) / capacity[i]
        if (load > most) most = load
      }
    }
    printf "%.9g\n", factor * bytes / bandwidth * most
  }'
}

# torus_run PROGRAM SHAPE SETTINGS SELECTOR WORK ARGUMENT...: runs an SMPI program with one rank per
# node. SETTINGS: neutral (the plain bandwidth and latency of the links), default (SMPI's model of
# TCP on one cluster) or rendezvous (neutral, and no send is complete before its message has
# arrived). SELECTOR: the library whose algorithms MPI's own calls use. WORK: a folder for files.
# TORUS_DEAD: dead cables and nodes (torus_damaged_platform); dead nodes have no rank.
torus_run() {
  local program=$1 shape=$2 settings=$3 selector=$4 work=$5
  shift 5
  local options=()
  case $settings in
    neutral)
      options=(--cfg=smpi/bw-factor:0:1.0 --cfg=smpi/lat-factor:0:1.0 --cfg=network/crosstraffic:no)
      ;;
    rendezvous)
      options=(--cfg=smpi/bw-factor:0:1.0 --cfg=smpi/lat-factor:0:1.0 --cfg=network/crosstraffic:no
        --cfg=smpi/send-is-detached-thresh:0)
      ;;
    default) ;;
    *)
      echo "settings '$settings': must be neutral, rendezvous or default" >&2
      return 2
      ;;
  esac
  local node platform hosts dead
  platform=$(mktemp "$work/torus.XXXXXX.xml")
  hosts=$(mktemp "$work/hosts.XXXXXX")
  if [[ -n ${TORUS_DEAD:-} ]]; then
    torus_damaged_platform "$shape" "$TORUS_DEAD" >"$platform"
  else
    torus_platform "$shape" >"$platform"
  fi
  dead=" $(torus_dead_nodes "$shape" "${TORUS_DEAD:-}") "
  for ((node = 0; node < $(torus_ranks "$shape"); ++node)); do
    [[ $dead == *" $node "* ]] || echo "node-$node"
  done >"$hosts"
  nice timeout "${JUDGE_TIMEOUT:-900}" smpirun -np "$(wc -l <"$hosts")" -platform "$platform" -hostfile "$hosts" --log=root.thres:error \
    --cfg=smpi/coll-selector:"$selector" --cfg=smpi/simulate-computation:no \
    --cfg=smpi/host-speed:3.4Gf "${options[@]}" ${SMPI_OPTIONS:-} "$program" "$@"
}

# torus_dead_nodes SHAPE DEAD: the numbers of the dead nodes.
torus_dead_nodes() {
  local dead axis number stride
  local -a size at
  IFS=x read -ra size <<<"$1"
  for dead in $2; do
    [[ $dead != *:* ]] || continue
    IFS=, read -ra at <<<"$dead"
    number=0 stride=1
    for axis in "${!size[@]}"; do
      ((number += at[axis] * stride, stride *= size[axis]))
    done
    printf '%s ' "$number"
  done
}

# torus_damaged_platform SHAPE DEAD: the same torus, link by link and route by route, with dead
# cables and nodes in torc's notation: 0,0,1:Z from a node one step up an axis, 1,2,1 a node,
# several with blanks between. SimGrid has no dead links: these, and all of a dead node, carry 1000
# bytes per second, so that any use is visible.
torus_damaged_platform() {
  awk -v shape="$1" -v dead="$2" -v bandwidth="$TORUS_BANDWIDTH" -v latency="$TORUS_LATENCY" '
    function step(rank, axis, sign,   at) {
      at = int(rank / stride[axis]) % size[axis]
      return rank + ((at + sign + size[axis]) % size[axis] - at) * stride[axis]
    }
    # The cable from a node one step up; a dimension of two nodes has one.
    function cable(rank, axis) {
      if (size[axis] == 2) rank -= int(rank / stride[axis]) % 2 * stride[axis]
      return "cable-" rank "-" axis
    }
    BEGIN {
      count = split(shape, size, "x")
      nodes = 1
      for (i = 1; i <= count; ++i) {
        size[i] += 0
        stride[i] = nodes
        nodes *= size[i]
      }
      things = split(dead, thing, " ")
      for (k = 1; k <= things; ++k) {
        is_link = split(thing[k], parts, ":") > 1
        split(parts[1], at, ",")
        dead_rank = 0
        for (i = 1; i <= count; ++i) dead_rank += at[i] * stride[i]
        for (i = 1; i <= count; ++i) {
          if (is_link && i != index("XYZUVWS", parts[2])) continue
          is_dead[cable(dead_rank, i)] = 1
          if (!is_link) is_dead[cable(step(dead_rank, i, -1), i)] = 1
        }
      }

      print "<?xml version=\"1.0\"?>"
      print "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
      print "<platform version=\"4.1\"><zone id=\"torus\" routing=\"Full\">"
      for (rank = 0; rank < nodes; ++rank) printf "<host id=\"node-%d\" speed=\"3.4Gf\"/>\n", rank
      for (rank = 0; rank < nodes; ++rank) {
        for (i = 1; i <= count; ++i) {
          name = cable(rank, i)
          if (size[i] == 1 || name in made) continue
          made[name] = 1
          printf "<link id=\"%s\" bandwidth=\"%sBps\" latency=\"%ss\" sharing_policy=\"SPLITDUPLEX\"/>\n",
            name, name in is_dead ? 1000 : bandwidth, latency
        }
      }
      for (from = 0; from < nodes; ++from) {
        for (to = 0; to < nodes; ++to) {
          if (from == to) continue
          printf "<route src=\"node-%d\" dst=\"node-%d\" symmetrical=\"NO\">", from, to
          here = from
          for (i = 1; i <= count; ++i) {
            way = (int(to / stride[i]) - int(from / stride[i])) % size[i]
            way = (way + size[i]) % size[i]
            up = 2 * way <= size[i]
            for (hops = up ? way : size[i] - way; hops > 0; --hops) {
              next_node = step(here, i, up ? 1 : -1)
              # UP along a cable is away from the node that names it.
              first = cable(up ? here : next_node, i)
              printf "<link_ctn id=\"%s\" direction=\"%s\"/>", first,
                first == "cable-" here "-" i ? "UP" : "DOWN"
              here = next_node
            }
          }
          print "</route>"
        }
      }
      print "</zone></platform>"
    }'
}
