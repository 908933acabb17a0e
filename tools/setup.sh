#!/bin/bash
# Installs the requirements of the build, the tests and the demo on Debian 12. It needs bash,
# coreutils and apt-get, and root or sudo only if something is missing. A second run changes
# nothing.
set -euo pipefail

packages=(
  # Compilers and build. The packages of Bazel 4.2 bring their own Java.
  bazel-bootstrap g++ git
  # libFuzzer targets (--config=fuzz), and the style of sources.
  clang libclang-rt-14-dev clang-format
  # Programs that use an installed torc, and the exports of a library.
  pkgconf binutils cmake man-db
  # The modules of viewer/, and docs/ as HTML.
  nodejs node-marked
  # Both MPIs, by their own names; the owner of the plain names does not matter.
  mpich libmpich-dev libhwloc-dev
  openmpi-bin libopenmpi-dev
  # LLVM Support, and FileCheck, not, split-file.
  llvm-19-dev llvm-19-tools libzstd-dev zlib1g-dev libtinfo-dev
  # Libraries.
  nlohmann-json3-dev libxxhash-dev libexpat1-dev libyaml-dev
  libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev
  # linalg/, the libraries of its tests, and the BLAS and LAPACK that other programs keep.
  libopenblas-dev liblapacke-dev libscalapack-mpich-dev libblas3 liblapack3
  # The simulated torus, and the one of network namespaces.
  libsimgrid-dev iproute2 procps
)
# Commands that the scripts call.
programs=(
  bazel g++ git clang clang-format
  mpicc.mpich mpicxx.mpich mpiexec.hydra
  mpicc.openmpi mpiexec.openmpi
  pkg-config nm readelf cmake man
  node
  smpicxx smpirun
  ip tc sysctl
  /usr/lib/llvm-19/bin/FileCheck
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null) || status=
  [[ $status == *installed* && $status != *not-installed* ]] || missing+=("$package")
done

if [[ ${#missing[@]} -gt 0 ]]; then
  as_root=()
  if [[ $EUID -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "setup: run as root, or install sudo, to install: ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  # Owners of mpicc, mpirun, and mpi.h and libmpi.so on the compiler's path. Debian would give them
  # to Open MPI: they keep their owner, or go to MPICH. The same holds for the BLAS and LAPACK of
  # other programs: OpenBLAS would start its threads in each of them.
  architecture=$(uname -m)-linux-gnu
  names=(mpi mpirun "mpi-$architecture" "libblas.so.3-$architecture" "liblapack.so.3-$architecture")
  defaults=(mpich mpich mpich "/blas/" "/lapack/")
  owners=()
  for name in "${names[@]}"; do
    owners+=("$(update-alternatives --query "$name" 2>/dev/null | sed -n 's/^Value: //p' || true)")
  done
  echo "setup: installing ${missing[*]}"
  apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0)
  "${apt[@]}" update
  "${apt[@]}" install --yes --no-install-recommends "${missing[@]}"
  for i in "${!names[@]}"; do
    owner=${owners[i]}
    [[ -n $owner ]] ||
      owner=$(update-alternatives --list "${names[i]}" 2>/dev/null | grep "${defaults[i]}" | head -1) ||
      continue
    "${as_root[@]}" update-alternatives --quiet --set "${names[i]}" "$owner"
  done
fi

for program in "${programs[@]}"; do
  if ! command -v "$program" >/dev/null; then
    echo "setup: $program is not found although its package is installed" >&2
    exit 1
  fi
done
echo "setup: complete (${#packages[@]} packages, ${#missing[@]} newly installed)"
