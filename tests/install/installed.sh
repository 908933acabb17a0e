# Sourced by tests of an installation.
source tests/checks.sh
root=$PWD

# install FILE...: the files of install_files.sh into $work/prefix; goes to $work. An installation can be
# moved, as nothing in it names the place.
install() {
  bash tools/install_files.sh "$work/first" "$@"
  mv "$work/first" "$work/prefix"
  export PATH=$work/prefix/bin:$PATH PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
  cd "$work"
}

compile() {
  "mpicc.${TEST_MPI:-mpich}" -std=c99 -pedantic -Wall -Wextra -Werror -O2 "$@"
}

# Prints stdout of a job, whose exit status must be 0.
job() {
  timeout 50 "$root/tools/mpiexec.sh" "$@" </dev/null
}

# checkPage PAGE SECTION...: a man page without warnings.
checkPage() {
  local section
  LC_ALL=C man --warnings -l "$1" >text.txt 2>warnings.txt && [[ ! -s warnings.txt ]] || fail "$1: $(cat warnings.txt)"
  for section in "${@:2}"; do grep -qx "$section" text.txt || fail "$1 has no section $section"; done
}
