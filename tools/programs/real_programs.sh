#!/bin/bash
# Runs Debian's builds of external programs, plain and under libtorc_pmpi.so: ScaLAPACK's test
# programs on 4 and 6 ranks (LU, QR, least squares, Cholesky), whose process grids the library has
# as partitions, and NWChem on 2 ranks. Both runs must pass the same tests, and torc must have
# served calls. Prints the table of docs/users/pmpi.md. It needs the network, and root, to install
# missing packages.
#   tools/programs/real_programs.sh [PROGRAM...]      default: all
set -euo pipefail
cd "$(dirname "$0")/../.."

missing=()
for package in scalapack-mpi-test libscalapack-mpich2.2 nwchem-mpich; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null) || status=
  [[ $status == *installed* && $status != *not-installed* ]] || missing+=("$package")
done
if [[ ${#missing[@]} -gt 0 ]]; then
  as_root=()
  [[ $EUID -eq 0 ]] || as_root=(sudo)
  "${as_root[@]}" apt-get -q update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install --yes \
    --no-install-recommends "${missing[@]}"
fi
tests=$(dirname "$(dpkg -L scalapack-mpi-test | grep '/mpich-tests/xdlu$')")

bazel build -c opt //compiler:torc //runtime:libtorc_pmpi.so
bin=$(bazel info -c opt bazel-bin)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/run"
"$bin/compiler/torc" library build --partition=2,2x2,3x2 --sizes=1:1M --quiet -o "$work/library"
failures=0

# grids RANKS: the lines of a .dat file that say P and Q of each process grid.
grids() {
  if [[ $1 -eq 4 ]]; then
    printf '3 number of grids\n2 1 4 values of P\n2 4 1 values of Q\n'
  else
    printf '3 number of grids\n2 3 1 values of P\n3 2 6 values of Q\n'
  fi
}

# A few small problems: ranks that outnumber the cores take milliseconds for a message.
writeInputs() {  # RANKS
  cat >LU.dat <<END
'LU factorization'
'MPI'
'LU.out' output file
6 device out
2 number of sizes
13 17 values of M
13 17 values of N
1 number of NBs
3 values of NB
1 number of NRHSs
3 values of NRHS
1 number of NBRHSs
3 values of NBRHS
$(grids "$1")
1.0 threshold
F condition estimation and iterative refinement
END
  cat >QR.dat <<END
'Orthogonal factorizations'
'MPI'
'QR.out' output file
6 device out
4 number of factorizations
'QR' 'LQ' 'QP' 'TZ' factorizations
2 number of sizes
5 13 values of M
7 10 values of N
1 number of blocking sizes
3 values of MB
3 values of NB
$(grids "$1")
5.0 threshold
END
  cat >LS.dat <<END
'Least squares'
'MPI'
'LS.out' output file
6 device out
1 number of sizes
15 values of M
11 values of N
1 number of NBs
3 values of NB
1 number of NRHSs
2 values of NRHS
1 number of NBRHSs
2 values of NBRHS
$(grids "$1")
4.0 threshold
END
  cat >LLT.dat <<END
'Cholesky factorization'
'MPI'
'LLT.out' output file
6 device out
'U' upper or lower
2 number of sizes
13 17 values of N
1 number of NBs
3 values of NB
1 number of NRHSs
3 values of NRHS
1 number of NBRHSs
3 values of NBRHS
$(grids "$1")
1.0 threshold
F condition estimation and iterative refinement
END
  cat >helium.nw <<END
start helium
memory 200 mb
geometry
  He 0 0 0
end
basis
  He library sto-3g
end
task scf energy
END
}

# seconds NANOSECONDS: with one digit behind the point.
seconds() {
  printf '%d.%d' $(($1 / 1000000000)) $(($1 / 100000000 % 10))
}

# The part of the output on which both runs must agree.
results() {
  grep -E 'tests completed and|tests skipped|Total SCF energy' "$1" | sed 's/  */ /g'
}

# run NAME RANKS COMMAND...
run() {
  local name=$1 ranks=$2 begin plain preloaded
  shift 2
  echo "$name on $ranks ranks" >&2
  begin=$(date +%s%N)
  timeout 300 mpiexec.hydra -n "$ranks" "$@" >plain.out 2>&1 </dev/null || echo "$name: plain run fails" >&2
  plain=$(date +%s%N)
  timeout 300 mpiexec.hydra -genv LD_PRELOAD "$bin/runtime/libtorc_pmpi.so" \
    -genv TORC_LIBRARY "$work/library" -genv TORC_STATS "$work/statistics" \
    -n "$ranks" "$@" >preloaded.out 2>&1 </dev/null || {
    echo "$name: fails with libtorc_pmpi.so" >&2
    failures=$((failures + 1))
  }
  preloaded=$(date +%s%N)
  if [[ -z $(results plain.out) || $(results plain.out) != "$(results preloaded.out)" ]]; then
    echo "$name: other results with libtorc_pmpi.so" >&2
    diff <(results plain.out) <(results preloaded.out) >&2 || true
    failures=$((failures + 1))
  fi
  # Functions of torc, each with the number of served calls.
  local served
  served=$(sed -n '/^Calls served by torc/,/^$/p' "$work/statistics" |
    awk '/^    / && name != "" { calls[name] += $3 }  # below the name
      { name = /^  MPI_/ ? $1 : "" }
      END { for (name in calls) printf "%s %s %d", (n++ ? "," : ""), name, calls[name] }')
  local handed
  handed=$(sed -n 's/^Calls handed to MPI: \([0-9]*\),.*/\1/p' "$work/statistics")
  if [[ -z $served ]]; then
    echo "$name: torc served nothing" >&2
    cat "$work/statistics" >&2
    failures=$((failures + 1))
  fi
  printf '| %s | %d | %s |%s | %s | %s | %s |\n' "$name" "$ranks" \
    "$(results preloaded.out | sed -n 's/^ *\([0-9]* tests completed and passed\).*/\1/p; s/^ *Total \(SCF energy = .*\)/\1/p')" \
    "$served" "$handed" "$(seconds $((plain - begin)))" "$(seconds $((preloaded - plain)))" \
    >>"$work/table"
}

programs=("$@")
[[ $# -gt 0 ]] || programs=(xdlu xdqr xdls xdllt nwchem)
cd "$work/run"
for program in "${programs[@]}"; do
  if [[ $program == nwchem ]]; then
    writeInputs 4
    run nwchem 2 nwchem.mpich helium.nw
    continue
  fi
  for ranks in 4 6; do
    writeInputs "$ranks"
    run "$program" "$ranks" "$tests/$program"
  done
done

echo '| program | ranks | result, the same plain | calls served | other collectives | plain, s | with torc, s |'
echo '| --- | --- | --- | --- | --- | --- | --- |'
cat "$work/table"
exit "$((failures > 0))"
