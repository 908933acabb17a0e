# What the scripts of a paper's figures begin with; sourced by them, in the root of the repository.

# begin_figures SCRIPT FOLDER TARGET...: builds the targets; `out` is FOLDER, which exists then, `bin` Bazel's.
begin_figures() {
  out=$2
  if ! command -v gnuplot >/dev/null; then
    echo "$1: gnuplot is missing: apt-get install gnuplot-nox" >&2
    exit 1
  fi
  # shellcheck disable=SC2086
  bazel ${BAZEL_STARTUP:-} build -c opt "${@:3}" 2>/dev/null
  # shellcheck disable=SC2086
  bin=$(bazel ${BAZEL_STARTUP:-} info -c opt bazel-bin 2>/dev/null)
  mkdir -p "$out"
}
