#!/usr/bin/env bash
# PrologSlurmctld of Slurm: once for each allocation, by Slurm's user. With it, TaskProlog is job_variables.sh.
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
job=$(timeout 20 scontrol -o show job "${SLURM_JOB_ID-}" 2>/dev/null | head -n 1)
value() {
  sed -n "s/.* $1=\([^ ]*\).*/\1/p" <<<" $job"
}
nodes=$(value NumNodes)
tasks=$(value NumTasks)
ranks=1
[[ ! $nodes =~ ^[1-9][0-9]*$ || ! $tasks =~ ^[0-9]+$ ]] || ranks=$(((tasks + nodes - 1) / nodes))
bash "$here/job_library.sh" "${SLURM_JOB_ID-}" "$(value NodeList)" "$ranks"
# Any other status would put the job back into the queue.
exit 0
