#!/usr/bin/env bash
# Builds torc and installs it below PREFIX: bin, lib, include, share/doc/torc. On a bare Debian 12
# it sets up what the build needs first.
#
#   bash tools/install.sh PREFIX          DESTDIR=FOLDER before it: into FOLDER/PREFIX, for packages
#   bash tools/install.sh --mpi openmpi PREFIX     for programs of Open MPI instead of MPICH
set -euo pipefail
runtime=runtime
if [[ ${1-} == --mpi ]]; then
  case ${2-} in
    mpich) ;;
    openmpi) runtime=runtime/openmpi ;;
    *)
      echo "install.sh: --mpi is mpich or openmpi, not '${2-}'" >&2
      exit 2
      ;;
  esac
  shift 2
fi
if [[ $# -ne 1 || $1 == -* ]]; then
  echo "usage: [DESTDIR=FOLDER] bash tools/install.sh [--mpi mpich|openmpi] PREFIX" >&2
  exit 2
fi
prefix=$(realpath -m "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bash tools/setup.sh
targets=(
  //compiler:torc "//$runtime:torc-run" //studies:torc-model
  "//$runtime:libtorc.so" "//$runtime:libtorc_pmpi.so"
)
headers=(runtime/api/{torc,torc_dedicated,torc_job,torc_statistics}.h)
if [[ $runtime == runtime ]]; then
  # linalg/ is for MPICH alone: its programs compare with ScaLAPACK's library for that.
  targets+=(//linalg:libtorc_linalg.so //linalg:torc-gemm //linalg:torc-lu)
  headers+=(linalg/torc_linalg.h linalg/torc_linalg.pc.in)
fi
bazel build -c opt "${targets[@]}"
built=()
for target in "${targets[@]}"; do
  target=${target#//}
  built+=("bazel-bin/${target/://}")
done
mapfile -t documents < <(find docs -type f ! -name BUILD | sort)
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
programs=()
for file in "${built[@]}"; do
  [[ $file == *.so ]] || programs+=("$file")
done
bash tools/man_pages.sh "$pages" "${programs[@]}"
bash tools/install_files.sh "$prefix" "${built[@]}" "${headers[@]}" runtime/api/*.{pc,cmake}.in tools/torc.py \
  tools/completion/torc.* tools/modulefile.in tools/packaging/job_start/* "$pages"/*.1 "${documents[@]}"
