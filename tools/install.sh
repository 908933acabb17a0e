#!/usr/bin/env bash
# Builds torc and installs it below PREFIX: bin, lib, include, share/doc/torc. On a bare Debian 12
# it first installs the build's requirements; without apt-get, or with TORC_SETUP=no, it uses the
# installed ones.
#
#   bash tools/install.sh PREFIX          DESTDIR=FOLDER before it: into FOLDER/PREFIX, for packages
#   bash tools/install.sh --mpi openmpi PREFIX     for programs of Open MPI instead of MPICH
#
# Paths on systems other than Debian (third_party/system_library.bzl): TORC_LLVM=/opt/llvm-19,
# TORC_MPICH=/opt/mpich/include, TORC_OPENMPI=/opt/openmpi, TORC_OPENBLAS=/opt/openblas/include, and folders of
# libraries, TORC_LIBRARIES=/opt/mpich/lib:/opt/openblas/lib.
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

if command -v apt-get >/dev/null && [[ ${TORC_SETUP-} != no ]]; then
  bash tools/setup.sh
fi
places=()
for name in TORC_LLVM TORC_MPICH TORC_OPENMPI TORC_OPENBLAS; do
  [[ -z ${!name-} ]] || places+=("--repo_env=$name=${!name}")
done
IFS=: read -r -a folders <<<"${TORC_LIBRARIES-}"
for folder in "${folders[@]}"; do
  places+=("--linkopt=-L$folder" "--linkopt=-Wl,-rpath,$folder")
done

targets=(
  //compiler:torc "//$runtime:torc-run" //studies:torc-model
  "//$runtime:libtorc.so" "//$runtime:libtorc_pmpi.so"
)
headers=(runtime/api/{torc,torc_dedicated,torc_job,torc_statistics}.h)
if [[ $runtime == runtime ]]; then
  # linalg/ supports MPICH only: its programs compare with ScaLAPACK's library for it.
  targets+=(//linalg:libtorc_linalg.so //linalg:torc-gemm //linalg:torc-lu)
  headers+=(linalg/torc_linalg.h linalg/torc_linalg.pc.in)
fi
bazel build -c opt "${places[@]}" "${targets[@]}"
built=()
for target in "${targets[@]}"; do
  target=${target#//}
  built+=("bazel-bin/${target/://}")
done
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
# The figures of the book are those of the pages.
bash tools/pages/book.sh "$pages/book" ||
  echo "install.sh: the pages are Markdown alone (HTML needs node and its module marked)" >&2
mapfile -t documents < <(
  find docs -type f ! -name BUILD | sort
  find "$pages" -path '*/book/*' \( -name '*.html' -o -name style.css \) | sort
)
programs=()
for file in "${built[@]}"; do
  [[ $file == *.so ]] || programs+=("$file")
done
bash tools/pages/man_pages.sh "$pages" "${programs[@]}"
bash tools/install_files.sh "$prefix" "${built[@]}" "${headers[@]}" runtime/api/*.{pc,cmake}.in tools/torc.py tools/convert/*.py \
  tools/completion/torc.* tools/modulefile.in tools/packaging/job_start/* "$pages"/*.[17] "${documents[@]}"
