// The job: starts torc after MPI_Init, and stops it before MPI_Finalize.
#ifndef TORC_RUNTIME_PMPI_JOB_JOB_H_
#define TORC_RUNTIME_PMPI_JOB_JOB_H_

namespace torc::runtime::pmpi {

/// Whether this rank may need the progress thread, for which MPI must be initialised with
/// MPI_THREAD_MULTIPLE. Before MPI is initialised.
bool wantsThreadLevel();

/// Collective over MPI_COMM_WORLD, right after MPI_Init: all ranks agree on settings and library,
/// and torc starts; or one line says why it is off. Under TORC_STRICT that ends the job.
/// `program_level`: the thread support level reported to the program.
void startJob(int program_level);

/// Collective over MPI_COMM_WORLD, right before MPI_Finalize: stops torc.
void endJob();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_JOB_JOB_H_
