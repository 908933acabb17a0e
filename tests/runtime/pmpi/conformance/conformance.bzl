"""MPI programs that know nothing of torc, run under libtorc_pmpi.so."""

load("//tools:which_mpi.bzl", "preload_test")

_STEMS = [
    "allreduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "allgather",
    "allgatherv",
    "bcast",
    "reduce",
    "scan",
    "exscan",
    "gather",
    "scatter",
    "alltoall",
    "alltoallv",
    "alltoallw",
]

# MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, ...
ALL_SERVED = [
    function
    for stem in _STEMS
    for function in [
        "MPI_" + stem.capitalize(),
        "MPI_I" + stem,
        "MPI_" + stem.capitalize() + "_init",
    ]
]

def conformance_test(name, program, ranks, served, args = [], library = None, **kwargs):
    """Runs `program` on `ranks` ranks, and fails where a function of `served` was not served.

    Args:
      name: name of the test.
      program: label of a program that uses mpi.h only.
      ranks: number of MPI processes: 2, 4, 6 or 8.
      served: MPI functions that torc must have served at least once.
      args: arguments of the program.
      library: label of the schedules; none: the ones for undamaged tori.
      **kwargs: passed to preload_test; among them `env`, which every rank inherits.
    """
    preload_test(
        "//tests/runtime/pmpi/conformance:run.sh",
        [library or "//tests/runtime/pmpi/conformance:library", program, str(ranks), ",".join(served) or "-"] +
        args,
        name = name,
        openmpi = True,
        **kwargs
    )
