#!/usr/bin/env bash
# The installation of linalg/ by tools/install.sh: the worked example of docs/users/linalg.md is
# compiled and run from it, and its programs run.
#
#   linalg_install_test.sh EXAMPLE.c FILE...      the files of install_files.sh
set -euo pipefail
root=$PWD
example=$PWD/$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash tools/install_files.sh "$work/first" "$@"
mv "$work/first" "$work/prefix"
export PATH=$work/prefix/bin:$PATH
export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
export OPENBLAS_NUM_THREADS=1
cd "$work"

fail() {
  echo "linalg_install_test: $*" >&2
  exit 1
}
job() {
  timeout 50 "$root/tools/mpiexec.sh" "$@" </dev/null
}

[[ torc\ $(pkg-config --modversion torc_linalg) == "$(torc --version)" ]] ||
  fail "version of torc_linalg.pc"
read -r -a flags < <(pkg-config --cflags --libs torc_linalg)
# In the repository the header has a path.
sed 's|"linalg/torc_linalg.h"|<torc_linalg.h>|' "$example" >example.c
mpicc.mpich -std=c99 -pedantic -Wall -Wextra -Werror -O2 example.c "${flags[@]}" -lscalapack-mpich -lm \
  -o example
job -n 8 ./example | tee example.txt
grep -q '^0 of 2500 elements are wrong$' example.txt || fail "the example"
job -n 2 torc-gemm -n 50 --check | tee gemm.txt
grep -q ': ok$' gemm.txt || fail "torc-gemm"
job -n 2 torc-lu -n 50 | tee lu.txt
grep -q ': passed$' lu.txt || fail "torc-lu"

bash "$root/tools/pages/man_pages.sh" pages "$work"/prefix/bin/torc-{gemm,lu}
for program in torc-gemm torc-lu; do
  [[ $("$program" --version) == "$program ${version:=$(torc --version | sed 's/torc //')}" ]] || fail "$program --version"
  LC_ALL=C man --warnings -l "pages/$program.1" >text.txt 2>warnings.txt || fail "page of $program"
  [[ ! -s warnings.txt ]] || fail "page of $program: $(cat warnings.txt)"
  for section in NAME SYNOPSIS OPTIONS; do
    grep -q "^$section" text.txt || fail "page of $program lacks $section"
  done
done
