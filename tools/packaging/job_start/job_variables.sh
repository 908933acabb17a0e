#!/usr/bin/env bash
# Prints the variables by which a job uses the library of its prolog, as lines `export NAME=VALUE`:
# TaskProlog of Slurm, or in a PBS script eval "$(bash .../job_variables.sh)". Prints nothing
# without a library, if ranks have another number or are not in blocks, and if the user has set a
# variable of torc.
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
conf=${JOB_START_CONF:-/etc/torc/job_start.conf}
[[ -e $conf ]] || conf=$here/job_start.conf
# shellcheck source=SCRIPTDIR/job_start.conf
source "$conf" || exit 0
folder=$libraries/jobs/${SLURM_JOB_ID:-${PBS_JOBID-}}
ranks=${SLURM_STEP_NUM_TASKS:-$(grep -c . "${PBS_NODEFILE-}" 2>/dev/null)}
[[ -d $folder/library && $(grep -vc '^#' "$folder/mapping") == "$ranks" ]] || exit 0
[[ ${SLURM_DISTRIBUTION:-block} == block* ]] || exit 0
for name in TORC_LIBRARY TORC_TORUS TORC_ORDER TORC_MAPPING; do
  [[ -z ${!name-} ]] || exit 0
done
echo "export TORC_LIBRARY=$folder/library"
echo "export TORC_TORUS=$(sed -n '1s/^# TORC_TORUS=\([^:]*\):.*/\1/p' "$folder/mapping")"
echo "export TORC_MAPPING=$folder/mapping"
echo "export LD_PRELOAD=$preload${LD_PRELOAD:+:$LD_PRELOAD}"
