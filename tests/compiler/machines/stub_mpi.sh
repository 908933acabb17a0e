# stub_mpi.sh FOLDER: libraries and programs that are linked as those of MPI are, without MPI: MPICH's
# and Open MPI's library, the interposer for each, a program of each, one linked statically, one without
# MPI, one that lacks a library, and an mpiexec.hydra that prints its arguments.
set -eu
rm -rf "$1"
mkdir -p "$1"/{mpich,openmpi,bin}
cd "$1"
export LC_ALL=C
echo 'int MPI_Init(int* argc, char*** argv) { return argc == (int*)argv; }' >mpi.c
echo 'int torc_stub(void) { return 0; }' >stub.c
echo 'int MPI_Init(int*, char***); int main(void) { return MPI_Init(0, 0) == 2; }' >program.c
for mpi in mpich:libmpich.so.12 openmpi:libmpi.so.40; do
  name=${mpi%%:*} library=${mpi#*:}
  gcc -shared -fPIC -Wl,-soname,"$library" mpi.c -o "$name/$library"
  gcc -shared -fPIC stub.c -Wl,--no-as-needed "$name/$library" -Wl,-rpath,"$PWD/$name" -o "$name/libtorc_pmpi.so"
  gcc program.c "$name/$library" -Wl,-rpath,"$PWD/$name" -o "bin/$name"
done
gcc -shared -fPIC -Wl,-soname,libabsent.so mpi.c -o absent.so
gcc program.c absent.so -o bin/lacks
gcc -static program.c mpi.c -o bin/static
gcc -x c - -o bin/none <<<'int main(void) { return 0; }'
printf '#!/bin/sh\n' >bin/script
# $STATS: statistics of the job; $KILLED: the signal, or $CODE: the exit code that ends it.
cat >bin/mpiexec.hydra <<'END'
#!/bin/bash
echo "$*" | sed 's/job-[0-9]*/job-N/'
for word; do [[ $word != json:* || -z ${STATS-} ]] || cp "$STATS" "${word#json:}"; done
[[ -z ${KILLED-} ]] || kill -s "$KILLED" $$
exit "${CODE-0}"
END
chmod +x bin/*
