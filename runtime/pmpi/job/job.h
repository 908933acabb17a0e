// The job: what happens between the wrappers of MPI_Init and MPI_Finalize and MPI.
#ifndef TORC_RUNTIME_PMPI_JOB_JOB_H_
#define TORC_RUNTIME_PMPI_JOB_JOB_H_

namespace torc::runtime::pmpi {

/// Whether this rank may need the progress thread, for which MPI must be initialised with
/// MPI_THREAD_MULTIPLE. Before MPI is initialised.
bool wantsThreadLevel();

/// Collective over MPI_COMM_WORLD, which has just been made: all ranks agree on settings and
/// library, and torc is on; or one line says why it is not. Under TORC_STRICT that ends the job.
/// `program_level`: of thread support, that the program knows of.
void startJob(int program_level);

/// Collective over MPI_COMM_WORLD, which is about to go: torc is off.
void endJob();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_JOB_JOB_H_
