#!/usr/bin/env bash
# The prologs of Slurm and PBS: they pick a library, build one once, keep their time limit, and
# never stop a job.
#
#   job_start_test.sh TORC PROLOG...      the scripts of tools/packaging/job_start
set -euo pipefail
torc=$PWD/$1
scripts=$PWD/$(dirname "$2")
source tests/checks.sh
cd "$work"

mkdir bin
cat >bin/scontrol <<'END'
#!/bin/sh
echo "JobId=$4 JobName=x Partition=all ReqNodeList=(null) NodeList=$FAKE_HOSTS NumNodes=4 NumCPUs=8 NumTasks=$FAKE_TASKS"
END
# Counts what is built.
cat >bin/torc <<END
#!/bin/sh
case "\$*" in "library build"*) echo >>"$work/builds"; \${FAKE_BUILD-} || exit ;; esac
exec "$torc" "\$@"
END
chmod +x bin/*
export PATH=$work/bin:$PATH JOB_START_CONF=$work/conf
cat >topology.yaml <<'END'
- topology: tori
  cluster_default: true
  torus3d:
    toruses:
      - name: pod
        dims: {x: 4, y: 4, z: 2}
        nodes: node[01-32]
END
cat >conf <<END
libraries=$work/libraries
topology=$work/topology.yaml
machine=generic
build_options=(--collectives=allreduce --sizes=1:64)
seconds=60
days=30
torc=$work/bin/torc
preload=/opt/torc/lib/libtorc_pmpi.so.1
END
slurm() {
  SLURM_JOB_ID=$1 FAKE_HOSTS=$2 FAKE_TASKS=$3 bash "$scripts/slurm_prolog.sh" 2>>said.txt || fail "the job $1 is stopped"
}
variables() {
  SLURM_JOB_ID=$1 SLURM_STEP_NUM_TASKS=$2 bash "$scripts/job_variables.sh" || fail "the tasks of job $1 are stopped"
}

touch builds said.txt
# Two jobs of one shape at a time, and one after them.
slurm 1 'node[01-02,05-06]' 8 &
slurm 2 'node[03-04,07-08]' 8
wait
slurm 3 'node[09-10,13-14]' 8
[[ ! -s said.txt && $(wc -l <builds) -eq 1 ]] || fail "not built once: $(cat builds said.txt)"
[[ $(variables 2 8) == "export TORC_LIBRARY=$work/libraries/jobs/2/library
export TORC_TORUS=2mx2mx1+2
export TORC_MAPPING=$work/libraries/jobs/2/mapping
export LD_PRELOAD=/opt/torc/lib/libtorc_pmpi.so.1" ]] || fail "variables: $(variables 2 8)"
[[ $(readlink libraries/jobs/3/library) == "$work/libraries/2mx2mx1+2" ]] || fail "not picked"
"$torc" library verify libraries/jobs/3/library >/dev/null || fail "the library is wrong"
# A step of other ranks, or in another order, and a user's own library.
[[ -z $(variables 2 4; SLURM_DISTRIBUTION=cyclic variables 2 8; TORC_LIBRARY=x variables 2 8; variables 99 8) ]] ||
  fail "variables where there should be none"

# What a site has built is picked, whatever its folder's name.
"$torc" library build --partition 4x1x1,4x4 --collectives=allreduce --sizes 1:64 --quiet -o libraries/ours
slurm 4 'node[01-04]' 4
[[ $(readlink libraries/jobs/4/library) == "$work/libraries/ours" && $(wc -l <builds) -eq 1 ]] ||
  fail "the site's own library is not picked"

# PBS: hosts in the order of ranks, each as often as it has ranks.
printf 'node%02d.site\n' 1 1 2 2 5 5 6 6 >nodes
PBS_NODEFILE=nodes bash "$scripts/pbs_prologue.sh" 77.server user group 2>>said.txt || fail "PBS: stopped"
[[ $(PBS_JOBID=77.server PBS_NODEFILE=nodes bash "$scripts/job_variables.sh" | grep -c "^export .*77.server") -eq 2 ]] ||
  fail "PBS: no variables: $(cat said.txt)"
[[ ! -s said.txt && $(wc -l <builds) -eq 1 ]] || fail "PBS: $(cat said.txt)"

# said GLOB: in one line, and the job went on.
said() {
  [[ $(wc -l <said.txt) -eq 1 && $(cat said.txt) == "torc: job "$1* ]] || fail "expected '$1': $(cat said.txt)"
  : >said.txt
}
slurm 5 'elsewhere[1-4]' 4
said "5 starts without a library: *elsewhere1"
sed -i 's/seconds=60/seconds=5/' conf
FAKE_BUILD='sleep 60' slurm 6 'node[01-08]' 8
said "6 starts without a library: 4x2mx1+2 was not built in [1-5] s"
sed -i 's/seconds=5/seconds=60/' conf
FAKE_BUILD=false slurm 7 'node[01-08]' 8
said "7 starts without a library: 4x2mx1+2 was not built"
sed '$d' nodes >uneven
PBS_NODEFILE=uneven bash "$scripts/pbs_prologue.sh" 78 2>>said.txt || fail "PBS: stopped"
said "78 starts without a library: its hosts"
slurm ../x 'node[01-04]' 4
said "../x starts without a library: what job"
[[ -z $(find libraries/jobs -name '.*') && ! -e libraries/jobs/6 ]] || fail "something is left: $(ls -A libraries/jobs)"
