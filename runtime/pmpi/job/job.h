// The job: starts torc after MPI_Init, and stops it before MPI_Finalize. Its reports: a line after
// the set-up, and the statistics at the end.
#ifndef TORC_RUNTIME_PMPI_JOB_JOB_H_
#define TORC_RUNTIME_PMPI_JOB_JOB_H_

#include <string>

#include "settings/settings.h"

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

/// Prints `torc: 64 ranks on 4x4x4, order XYZ, served from /opt/torc/bgp (machine bgp); set up in
/// 3.1 ms`, if TORC_VERBOSE asks for it.
void saySetUp();

/// Torc stays off in this job: keeps the reason for the statistics.
void rememberOff(const Settings& settings, const std::string& why);

/// For a job of `ranks` ranks without torc; called by one of them, without MPI: prints statistics
/// with the reason, if TORC_STATS asks for them.
void printOff(const Settings& settings, const std::string& why, int ranks);

/// Collective over the ranks of the job, before MPI_Finalize and before the engine, if any, is
/// destroyed: prints the statistics, if TORC_STATS asks for them.
void printStatistics();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_JOB_JOB_H_
