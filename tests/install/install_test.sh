#!/usr/bin/env bash
# The installation by tools/install.sh is complete: programs are compiled and run from it, without
# the sources.
#
#   install_test.sh FILE...      the files of install_files.sh
set -euo pipefail
source tests/install/installed.sh
bash tools/pages/book.sh "$work/book"
mapfile -t book < <(find "$work/book" -name '*.html' -o -name style.css)
install "$@" "${book[@]}"
examples=$work/prefix/share/doc/torc/examples

[[ torc\ $(pkg-config --modversion torc) == "$(torc --version)" ]] || fail "version of torc.pc"

echo "== man pages, completion, module file"
bash "$root/tools/pages/man_pages.sh" pages "$work/prefix/bin/torc"
for page in pages/*.[17]; do
  case $page in
    pages/torc.1) checkPage "$page" NAME SYNOPSIS COMMANDS 'SEE ALSO' ;;
    pages/torc.7) checkPage "$page" NAME ENVIRONMENT 'SEE ALSO' ;;
    *) checkPage "$page" NAME SYNOPSIS 'EXIT STATUS' EXAMPLES 'SEE ALSO' ;;
  esac
done
[[ -e pages/torc-library-build.1 ]] || fail "no page of library build"
variables=$(grep -c '^\.B TORC_' pages/torc.7)
[[ $variables -eq $(torc info --json | grep -c '"name": "TORC_') && $variables -gt 10 ]] || fail "torc.7 has $variables variables"
grep -q "^torc compile allreduce .*\\\\-\\\\-torus" pages/torc-compile.1 || fail "torc-compile.1 has no example"
complete_in_bash() {
  # shellcheck disable=SC2016
  bash -c 'source "$0"; COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; _torc; printf "%s\n" ${COMPREPLY[@]}' \
    "$work/prefix/share/bash-completion/completions/torc" "$@"
}
complete_in_zsh() {
  # shellcheck disable=SC2016
  zsh -fc '_describe() {
      while [[ $1 == -* ]]; do shift; done
      local -a all=("${(@P)2}")
      all=(${all%%:*})
      print -l -- ${(M)all:#$words[CURRENT]*}
    }
    file=$1; shift; words=("$@"); CURRENT=$#; complete() { source $file; }; complete' zsh \
    "$work/prefix/share/zsh/site-functions/_torc" "$@"
}
complete_in_fish() {
  # shellcheck disable=SC2016
  HOME=$work fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' \
    "$work/prefix/share/fish/vendor_completions.d/torc.fish" "$*" | cut -f 1
}
# completes EXPECTED WORD...
completes() {
  [[ $("complete_in_$shell" "${@:2}" | sort | xargs) == "$1" ]] || fail "$shell: completion of ${*:2}"
}
for shell in bash zsh fish; do
  if ! command -v "$shell" >/dev/null; then
    echo "$shell is not installed: its completion is not tried"
    continue
  fi
  completes simulate torc si
  completes "add build list verify" torc library ""
  completes --partition= torc library build --par
  [[ $shell != bash ]] || completes "text torc" torc compile --emit=t
done
grep -q "torc $(torc --version | sed 's/torc //'): compiled" prefix/share/modulefiles/torc/* || fail "module file"

echo "== converters"
printf 'topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [1]\n' >ring.yml
PYTHONPATH=prefix/lib/python3/dist-packages python3 -m torc_convert astra ring.yml >ring.json || fail "torc_convert"
torc bounds allreduce --machine ring.json | grep -q '^allreduce on 4 of ring' || fail "a converted machine"

echo "== the book"
python3 "$root/tests/tools/book_links.py" "$work/prefix/share/doc/torc" || fail "links of the installed book"

echo "== CMake"
mkdir project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(heat C)
find_package(torc 0.1 REQUIRED)
add_executable(heat heat.c)
target_link_libraries(heat torc::torc m)
END
cp "$examples/heat.c" project
cmake -S project -B build -DCMAKE_C_COMPILER="mpicc.${TEST_MPI:-mpich}" -DCMAKE_PREFIX_PATH="$work/prefix" >cmake.txt
cmake --build build >>cmake.txt || fail "CMake: $(cat cmake.txt)"
readelf -d build/heat | grep -q 'NEEDED.*libtorc.so.1' || fail "CMake: not linked"
sed -i 's/torc 0.1/torc 9/' project/CMakeLists.txt
! cmake -S project -B other -DCMAKE_C_COMPILER="mpicc.${TEST_MPI:-mpich}" -DCMAKE_PREFIX_PATH="$work/prefix" \
  >/dev/null 2>cmake.txt || fail "CMake: version 9 is there"
grep -q 'torcConfig.cmake, version: 0.1' cmake.txt || fail "CMake: $(cat cmake.txt)"

# heat RANKS ARGUMENT PATTERN: five reports, and a line.
heat() {
  job -n "$1" ./heat "$2" 2>&1 | tee heat.txt
  grep -q "$3" heat.txt || fail "heat.c $2: no line '$3'"
  [[ $(grep -c '^step ' heat.txt) -eq 5 ]] || fail "heat.c $2: not five reports"
}
echo "== heat.c, with a schedule, with a library, and without one"
read -r -a flags < <(pkg-config --cflags --libs torc)
compile "$examples/heat.c" "${flags[@]}" -lm -o heat
torc compile allreduce --torus 3x2 --algorithm bucket --quiet -o allreduce.torc
torc library build --partition 3x2 --collectives=allreduce --sizes 1:64 --quiet -o library
heat 6 allreduce.torc '^allreduce on 3x2, 6 ranks; rank 0: [1-9]'
heat 6 library '^allreduce on 3x2, 6 ranks; rank 0: [1-9]'
heat 2 allreduce.torc '^heat: TORC_ERR_MISMATCH: .*; going on with MPI.s own allreduce$'
heat 2 none.torc '^heat: TORC_ERR_IO: .*none.torc'

echo "== grid_cg.c"
compile "$examples/grid_cg.c" -lm -o grid_cg
job -n 6 ./grid_cg | tee grid_cg.txt
grep -q '^checksum -\?[0-9]*, 0 elements wrong' grid_cg.txt || fail "grid_cg.c"

echo "== grid_cg.c, started and linked with libtorc_pmpi.so, without a library: as without torc"
job -n 6 env LD_PRELOAD="$work/prefix/lib/libtorc_pmpi.so" ./grid_cg >preloaded.txt
diff grid_cg.txt preloaded.txt || fail "preloaded"
read -r -a flags < <(pkg-config --libs torc_pmpi)
compile "$examples/grid_cg.c" "${flags[@]}" -lm -o grid_cg_linked
readelf -d grid_cg_linked | grep -q 'NEEDED.*libtorc_pmpi.so.1' || fail "not linked"
job -n 6 ./grid_cg_linked >linked.txt
diff grid_cg.txt linked.txt || fail "linked"

echo "== torc-run"
job -n 6 torc-run allreduce.torc --bytes 1K --check
