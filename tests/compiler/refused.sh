#!/bin/bash
# refused.sh TORC TABLE: each row is `COMMANDS => LINE`. The shell runs the commands, of which the last is
# torc: it must end with 1 or 2, and print that line alone. A row `torc() {` says what torc is behind it.
torc() { "$program" "$@"; }
program=$1 failures=0
cd "$(dirname "$2")" || exit 1
while IFS= read -r row; do
  [[ $row != 'torc() {'* ]] || eval "$row"
  [[ $row == *' => '* ]] || continue
  said=$(eval "${row%% => *}" 2>&1 </dev/null)
  status=$?
  [[ $status == [12] && $said == "${row#* => }" ]] && continue
  echo "${row%% => *}: exit status $status: $said"
  failures=1
done <"$2"
exit "$failures"
