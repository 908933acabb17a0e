#!/usr/bin/env bash
# Figures 6 to 13 of the paper on dedicated collective processors (Sancho, Kerbyson and Barker) on
# SMPI's model of its cluster, and results for late ranks: CSV files, plots and tables in
# docs/research/papers/cdcp.
#
#   bash studies/papers/cdcp.sh [--most RANKS | --draw] [FOLDER]
#
# --most: no job whose program has more ranks (640). --draw: no job at all, figures of the stored
# tables.
#
# Rows are stored beside the objects of bench/smpi/build.sh, under a key of their inputs: a second
# call measures only changed ones. Jobs run two at a time.
set -euo pipefail
cd "$(dirname "$0")/../.."
source studies/papers/figures.sh
most=640
if [[ ${1:-} == --most ]]; then
  most=$2
  shift 2
fi
begin_figures cdcp.sh "${1:-docs/research/papers/cdcp}"
work=$(mktemp -d)
trap 'rm -rf "$work" "$marked"' EXIT

# The cluster of Section V.A: nodes of four cores, 950 MB/s, 4 us from process to process. A message
# of 8 bytes costs an application 1.6 us together, sent and received, one of 1024 bytes 2.9 us
# (Sections V.C and V.D): half of it on either side, and the wires have the remainder of 4 us.
# Within a node: an estimate.
overheads() { echo "--cfg=smpi/os:0:$1 --cfg=smpi/ois:0:$1 --cfg=smpi/or:0:$1"; }
usual=$(overheads 0.8e-6:0.64e-9)
settings="--cfg=smpi/bw-factor:0:1.0 --cfg=smpi/lat-factor:0:1.0 --cfg=network/crosstraffic:no"
settings+=" --cfg=smpi/async-small-thresh:65536 --cfg=smpi/test:0"
# The program has no global variables that ranks would share.
settings+=" --cfg=smpi/privatization:no"
settings+=" --cfg=smpi/simulate-computation:no --cfg=smpi/host-speed:2Gf --cfg=smpi/coll-selector:mvapich2"
platform() {
  cat <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-$((($1 + 3) / 4 - 1))" speed="2Gf" core="4"
           bw="950MBps" lat="${2:-1.2us}" sharing_policy="SPLITDUPLEX"
           loopback_bw="2GBps" loopback_lat="200ns"/>
</platform>
XML
}

# The paper's conventional allreduce: up a binomial tree and down again (Section III.A).
trees="--cfg=smpi/allreduce:redbcast --cfg=smpi/reduce:binomial --cfg=smpi/bcast:binomial_tree"

# run RANKS LATENCY SETTINGS ARGUMENT...: the program's output, from now or from before. LATENCY is
# that of either end's link.
run() {
  local ranks=$1 latency=$2 more=$3 file rank place=$work/$BASHPID
  shift 3
  file=$rows/$(echo "$program $ranks $settings $more $(platform 4 "$latency") $*" | sha256sum | cut -c 1-32)
  if [[ ! -e $file ]]; then
    platform "$ranks" "$latency" >"$place.xml"
    for ((rank = 0; rank < ranks; ++rank)); do echo "node-$((rank / 4))"; done >"$place.hosts"
    echo "# $ranks ranks: $*" >&2
    # shellcheck disable=SC2086
    timeout "${CDCP_TIMEOUT:-900}" smpirun -np "$ranks" -platform "$place.xml" \
      -hostfile "$place.hosts" --log=root.thres:error $settings $more "$program" "$@" >"$place.rows"
    mv "$place.rows" "$file"
  fi
  cat "$file"
}

# sums WAY RANKS DEDICATED BYTES,... MICROSECONDS,... [OVERHEAD LATENCY]: rows of the microbenchmark,
# RANKS of the program. `trees` is a way, too, and `packed`: dedicated ranks with nodes of their own.
# late WAY RANKS DEDICATED MICROSECONDS LATE,...: rows of late ranks.
# solver WAY RANKS DEDICATED: a row of the solver at 400 Mflop/s a rank, a tenth of a core's peak (an
# estimate).
# Both are called twice: jobs first run side by side, and their output is stored.
sums() {
  local more=$usual
  (($# > 5)) && more=$(overheads "$6")
  measure "$1,${6:-}" "$1" "$2" "$3" "${7:-1.2us}" "$more" allreduce 2 "$4" "$5"
}
late() { measure "$1" "$1" "$2" "$3" 1.2us "$usual" late 20 "$4" "$5"; }
# measure LABEL WAY RANKS DEDICATED LATENCY SETTINGS WHAT ITERATIONS ARGUMENT...
measure() {
  local label=$1 way=$2 ranks=$3 dedicated=$4 latency=$5 more=$6 what=$7 all=$(($3 + $4))
  shift 7
  case $way in
    trees) way=blocking more+=" $trees" ;;
    packed) way=dedicated dedicated+=@nodes ;;
  esac
  job "$ranks" "$label" "$all" "$latency" "$more" "$what" "$way" "$dedicated" "$@"
}
solver() { job "$2" "$1" "$(($2 + $3))" 1.2us "$usual" solver "$1" "$3" 10 4e8; }
job() {
  local ranks=$1 label=$2
  shift 2
  ((ranks <= most)) || return 0
  if [[ $pass == jobs ]]; then
    while (($(jobs -rp | wc -l) >= 2)); do wait -n; done
    run "$@" >/dev/null &
  else
    run "$@" | sed "s/^[a-z]*/$label/; s/@nodes//" >>"$out/${tables[$4]}.csv"
  fi
}

declare -A tables=([allreduce]=sums [late]=late [solver]=solver)

works=0,8,16,24,32,48,128
lates=0,8,16,32,64,128,256
all() {
  local ranks servers way some
  sums blocking 512 0 8,64,256,1024 0
  sums dedicated 512 64 8,64,256,1024 0
  sums dedicated 512 128 8 $works
  sums packed 512 64 8,64,256,1024 0
  late blocking 512 0 0 $lates
  late dedicated 512 64 128 $lates
  late dedicated 512 64 0 $lates
  late packed 512 64 128 $lates
  late packed 512 64 0 $lates
  late trees 512 0 0 $lates
  for some in 0,8,16,32 64,128 256; do late polled 512 0 128 $some; done
  late polled 512 0 0 $lates
  solver blocking 640 0
  solver dedicated 512 128
  solver dedicated 512 64
  for ranks in 8 16 32 64 128 256; do
    sums blocking $ranks 0 8 0
    sums polled $ranks 0 8 0,128
    sums trees $ranks 0 8 0
    sums dedicated $ranks $((ranks / 4)) 8 0,128
    sums dedicated $ranks $((ranks / 8)) 8 0
    ((ranks < 32)) || sums packed $ranks $((ranks / 8)) 8 0
  done
  for ranks in 8 16 32 64; do sums nonblocking $ranks 0 8 0,128; done
  sums trees 512 0 8,64,256,1024 0
  for servers in 1 2 4 8 16 32; do sums dedicated 512 $servers 8 0; done
  for servers in 4 8 16 32 128; do sums packed 512 $servers 8 0; done
  # Ranks for the program and dedicated ones together: the paper's second mode.
  for ranks in 40 80 160 320; do
    solver blocking $ranks 0
    solver polled $ranks 0
    solver dedicated $((ranks * 4 / 5)) $((ranks / 5))
  done
  solver polled 640 0
  for servers in 4 8 16 32; do solver dedicated 512 $servers; done
  sums dedicated 512 128 64,256,1024 0,128
  # Other shares of the host in the 4 us of a message.
  for way in 'blocking 512 0' 'dedicated 512 64' 'packed 512 64'; do
    # shellcheck disable=SC2086
    sums $way 8 0 0.4e-6:0.32e-9 1.6us
    # shellcheck disable=SC2086
    sums $way 8 0 0.2e-6:0.16e-9 1.8us
  done
  sums polled 512 0 8 $works
  sums polled 512 0 64,256,1024 0,128
  # Limits of sizes.
  sums blocking 64 0 1024,2048,4096,16384,65536 0
  sums dedicated 64 8 1024,2048,4096,16384,65536 0,4000
}
if [[ -z $only_draw ]]; then
  program=$(bash bench/smpi/build.sh bench/smpi/cdcp/cdcp.cc)
  rows=$(dirname "$program")/rows
  mkdir -p "$rows"
  pass=jobs
  all
  wait
  pass=rows
  echo 'way,host overhead,ranks,dedicated,bytes,us of computation,us beside it' >"$out/sums.csv"
  echo 'way,ranks,dedicated,us for ten iterations,residual' >"$out/solver.csv"
  echo 'way,ranks,dedicated,us of computation,late by up to us,us beside it' >"$out/late.csv"
  all
fi

# figure NAME TITLE X FILE [Y]: a CSV file and its plot. Each line of the input is a column: its
# head, its rows of FILE, their value on X (in awk's words), or X:Y from the paper's text; "paper
# (derived)" marks shares that the text gives of another of its numbers, or of a curve here.
figure() {
  local head condition x point value=7 table=$work/table.csv
  case $4 in
    solver) value=4 ;;
    late) value=6 ;;
  esac
  : >"$work/heads"
  : >"$table"
  while IFS='|' read -r head condition x; do
    echo "$head" >>"$work/heads"
    if [[ $head == paper* ]]; then
      for point in $condition; do echo "${point%:*}|$head|${point#*:}" >>"$table"; done
    else
      [[ $4 == sums ]] && condition="\$2 == \"\" && $condition"
      awk -F , "NR > 1 && $condition { print $x \"|$head|\" \$$value }" "$out/$4.csv" >>"$table"
    fi
  done
  # --most leaves some figures without a row.
  grep -qv '|paper' "$table" || return 0
  sort -n "$table" | awk -F '|' -v x="${3#linear: }" '
    NR == FNR { heads[++columns] = $1; next }
    { if (!($1 in seen)) { seen[$1] = 1; order[++lines] = $1 } value[$1, $2] = $3 }
    END {
      row = x
      for (i = 1; i <= columns; ++i) row = row "," heads[i]
      print row
      for (line = 1; line <= lines; ++line) {
        row = order[line]
        for (i = 1; i <= columns; ++i) row = row "," value[order[line], heads[i]]
        print row
      }
    }' "$work/heads" - >"$out/$1.csv"
  gnuplot -c bench/plot.gp "$out/$1.csv" "$out/$1.svg" "$2" "$3" "${5:-us beside computation, logarithmic}"
}

figure 06 'Figure 6: overhead, 512 ranks, 8 bytes' 'linear: us of computation' sums 'us beside computation' <<'END'
polled|$1=="polled" && $3==512 && $5==8|$6
dedicated 1:4|$1=="dedicated" && $3==512 && $4==128 && $5==8|$6
paper: NBC|122:35
paper: CDCP 1:4|0:40 48:1.6
END
figure 07 'Figure 7: lowest overhead, 8 bytes' 'ranks of the program' sums <<'END'
blocking|$1=="blocking" && $5==8|$3
trees|$1=="trees" && $5==8|$3
polled|$1=="polled" && $5==8 && $6==128|$3
SMPI's nonblocking|$1=="nonblocking" && $5==8 && $6==128|$3
dedicated 1:4|$1=="dedicated" && $3==4*$4 && $5==8 && $6==128|$3
paper: blocking|8:17
paper (derived): blocking|512:51
paper: NBC|8:8.5 512:35
paper: CDCP 1:4|8:1.6 512:1.6
END
figure 08 'Figure 8: lowest overhead, 512 ranks' 'bytes of a sum' sums <<'END'
blocking|$1=="blocking" && $3==512|$5
trees|$1=="trees" && $3==512|$5
polled|$1=="polled" && $3==512 && $6==128|$5
dedicated 1:4|$1=="dedicated" && $3==512 && $4==128 && $6==128|$5
paper: CDCP 1:4|8:1.6 1024:2.9
END
figure 09 'Figure 9: latency, 8 bytes' 'ranks of the program' sums 'us of a sum, logarithmic' <<'END'
blocking|$1=="blocking" && $5==8|$3
trees|$1=="trees" && $5==8|$3
polled|$1=="polled" && $5==8 && $6==0|$3
SMPI's nonblocking|$1=="nonblocking" && $5==8 && $6==0|$3
dedicated 1:4|$1=="dedicated" && $3==4*$4 && $5==8 && $6==0|$3
dedicated 1:8|$1=="dedicated" && $3==8*$4 && $5==8 && $6==0|$3
1:8 on own nodes|$1=="packed" && $3==8*$4 && $5==8 && $6==0|$3
paper (derived): blocking|512:57
paper (derived): NBC|512:120
paper: CDCP 1:4|512:40
END
figure 10 'Figure 10: latency, 512 ranks, 8 bytes' 'dedicated ranks' sums 'us of a sum, logarithmic' <<'END'
spread over nodes|$1=="dedicated" && $3==512 && $5==8 && $6==0|$4
nodes of their own|$1=="packed" && $3==512 && $5==8 && $6==0|$4
paper: CDCP|1:3500 16:95 64:40 128:40
END
figure 11 'Figure 11: latency, 512 ranks' 'bytes of a sum' sums 'us of a sum, logarithmic' <<'END'
blocking|$1=="blocking" && $3==512|$5
trees|$1=="trees" && $3==512|$5
polled|$1=="polled" && $3==512 && $6==0|$5
dedicated 1:4|$1=="dedicated" && $3==512 && $4==128 && $6==0|$5
dedicated 1:8|$1=="dedicated" && $3==512 && $4==64 && $6==0|$5
1:8 on own nodes|$1=="packed" && $3==512 && $4==64 && $6==0|$5
paper (derived): blocking|8:57
paper: CDCP 1:4|8:40
paper (derived): CDCP 1:4|1024:44
END
# solved WAY RANKS DEDICATED FACTOR: FACTOR times the time of ten iterations here; nothing without a
# row.
solved() {
  awk -F , -v way="$1" -v ranks="$2" -v dedicated="$3" -v factor="$4" \
    '$1 == way && $2 == ranks && $3 == dedicated { printf "%.1f", factor * $4 }' "$out/solver.csv"
}
# It pays from 160 on, as much as blocking there, and takes 15 % less at 640; 8 have 95 % of the
# performance of 64.
figure 12 'Figure 12: ten iterations of the solver, all ranks counted' 'ranks in all' solver 'us for ten iterations, logarithmic' <<END
blocking|\$1=="blocking"|\$2
polled|\$1=="polled"|\$2
dedicated 1:4|\$1=="dedicated" && \$2==4*\$3|\$2+\$3
paper (derived): CDCP 1:4|160:$(solved blocking 160 0 1) 640:$(solved blocking 640 0 0.85)
END
figure 13 'Figure 13: ten iterations of the solver, 512 ranks' 'dedicated ranks' solver 'us for ten iterations, logarithmic' <<END
dedicated|\$1=="dedicated" && \$2==512|\$3
paper (derived): CDCP|8:$(solved dedicated 512 64 1.0526)
END

# Late ranks: with computation that overlaps, and without.
for overlap in 128 0; do
  figure "late-$overlap" "Ranks come late, $overlap us of computation overlap: 512 ranks, 8 bytes" \
    'linear: late by up to us' late 'us of a sum beside computation' <<END
blocking|\$1=="blocking"|\$5
trees|\$1=="trees"|\$5
polled|\$1=="polled" && \$4==$overlap|\$5
dedicated 1:8|\$1=="dedicated" && \$4==$overlap|\$5
1:8 on own nodes|\$1=="packed" && \$4==$overlap|\$5
END
done
