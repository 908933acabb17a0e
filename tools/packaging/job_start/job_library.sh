#!/usr/bin/env bash
# Provides the library of an allocation: picks one for its shape, else builds it, once for all jobs
# of that shape. After any failure the job still starts: the exit code is 0, and a line says why
# torc will be off.
#
#   job_library.sh JOB HOSTS RANKS-PER-HOST
#
# Leaves $libraries/jobs/JOB with `library`, a link, and `mapping`, a file for TORC_MAPPING.
set -uo pipefail
umask 022
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")

fail() {
  echo "torc: job $job starts without a library: $*" >&2
  exit 0
}

# The library that has this shape as a partition.
find_library() {
  local manifest
  for manifest in "$libraries"/*/manifest.json; do
    sed -n '/^ "partitions"/,/^ \]/p' "$manifest" 2>/dev/null | grep -qF "\"torus\": \"$shape\"" || continue
    dirname "$manifest"
    return
  done
}

job=${1-} hosts=${2-} ranks=${3:-1}
conf=${JOB_START_CONF:-/etc/torc/job_start.conf}
[[ -e $conf ]] || conf=$here/job_start.conf
# shellcheck source=SCRIPTDIR/job_start.conf
source "$conf" || fail "no $conf"
[[ $job =~ ^[A-Za-z0-9_][][A-Za-z0-9_.-]*$ ]] || fail "what job?"
mkdir -p "$libraries/jobs" || fail "$libraries cannot be written"
find "$libraries/jobs" -mindepth 1 -maxdepth 1 -mtime "+$days" -exec rm -rf {} +

mapping=$(timeout "$seconds" "$torc" machines "$topology" --hosts "$hosts" --ranks-per-host "$ranks" 2>&1) ||
  fail "$mapping"
shape=$(sed -n '1s/^# TORC_TORUS=\([^:]*\):.*/\1/p' <<<"$mapping")
library=$(find_library)
if [[ -z $library ]]; then
  exec 9>"$libraries/.$shape.lock" || fail "$libraries cannot be written"
  flock -w "$seconds" 9 || fail "another job still builds $shape"
  library=$(find_library)
  left=$((seconds - SECONDS))
  if [[ -z $library ]]; then
    library=$libraries/$shape
    ((left > 0)) || fail "no time left to build $shape"
    said=$(timeout -k 5 "$left" nice "$torc" library build --machine "$machine" --partition "$shape" \
      ${build_options[@]+"${build_options[@]}"} -o "$library" --quiet 2>&1 9>&-) ||
      fail "$shape was not built in $left s${said:+: $said}"
  fi
fi

# In one step: tasks see all of it or nothing.
new=$(mktemp -d "$libraries/jobs/.XXXXXX") && chmod 755 "$new" && echo "$mapping" >"$new/mapping" &&
  ln -s "$library" "$new/library" && rm -rf "$libraries/jobs/$job" && mv -T "$new" "$libraries/jobs/$job" && exit 0
fail "$libraries/jobs cannot be written"
