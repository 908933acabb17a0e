#!/usr/bin/env bash
# Prologue of PBS Professional, OpenPBS and Torque: on the first node, by root, with the job's id as the first argument.
# The job's script says: eval "$(bash .../job_variables.sh)"
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
nodes=${PBS_NODEFILE:-/var/spool/pbs/aux/${1-}}
# A host has a line for each of its ranks.
counts=$(sed 's/\..*//' "$nodes" 2>/dev/null | uniq -c)
ranks=$(awk '{ print $1 }' <<<"$counts" | sort -u)
if [[ $(wc -l <<<"$ranks") -eq 1 && -n $ranks ]]; then
  bash "$here/job_library.sh" "${1-}" "$(awk '{ print $2 }' <<<"$counts" | paste -sd,)" "$ranks"
else
  echo "torc: job ${1-} starts without a library: its hosts in $nodes have not as many ranks each" >&2
fi
# Any other status would put the job back into the queue.
exit 0
