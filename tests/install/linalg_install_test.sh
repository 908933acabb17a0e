#!/usr/bin/env bash
# The installation of linalg/ by tools/install.sh: the worked example of docs/users/linalg.md is
# compiled and run from it, and its programs run.
#
#   linalg_install_test.sh EXAMPLE.c FILE...      the files of install_files.sh
set -euo pipefail
source tests/install/installed.sh
example=$PWD/$1
install "${@:2}"
export OPENBLAS_NUM_THREADS=1

[[ torc\ $(pkg-config --modversion torc_linalg) == "$(torc --version)" ]] ||
  fail "version of torc_linalg.pc"
read -r -a flags < <(pkg-config --cflags --libs torc_linalg)
# In the repository the header has a path.
sed 's|"linalg/torc_linalg.h"|<torc_linalg.h>|' "$example" >example.c
compile example.c "${flags[@]}" -lscalapack-mpich -lm -o example
job -n 8 ./example | tee example.txt
grep -q '^0 of 2500 elements are wrong$' example.txt || fail "the example"
job -n 2 torc-gemm -n 50 --check | tee gemm.txt
grep -q ': ok$' gemm.txt || fail "torc-gemm"
job -n 2 torc-lu -n 50 | tee lu.txt
grep -q ': passed$' lu.txt || fail "torc-lu"

bash "$root/tools/pages/man_pages.sh" pages "$work"/prefix/bin/torc-{gemm,lu}
for program in torc-gemm torc-lu; do
  [[ $("$program" --version) == "$program ${version:=$(torc --version | sed 's/torc //')}" ]] || fail "$program --version"
  checkPage "pages/$program.1" NAME SYNOPSIS OPTIONS
done
