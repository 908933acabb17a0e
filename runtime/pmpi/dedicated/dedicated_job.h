// The job where some ranks are dedicated to collectives (TORC_DEDICATED): its split after MPI_Init,
// and its end.
#ifndef TORC_RUNTIME_PMPI_DEDICATED_DEDICATED_JOB_H_
#define TORC_RUNTIME_PMPI_DEDICATED_DEDICATED_JOB_H_

#include "settings/settings.h"

namespace torc::runtime::pmpi {

/// Collective over MPI_COMM_WORLD, when torc is on, or is known to be off. Returns on ranks of the
/// program: their MPI_COMM_WORLD is the communicator of them, and calls of theirs may go to
/// dedicated ranks. A dedicated rank serves the others, finalizes MPI, and ends the process. Where
/// the setting cannot be, one line says so, and no rank is dedicated; with TORC_STRICT the job
/// ends. `end_job`: what turns torc off on a dedicated rank, before that finalizes MPI.
void splitJob(const Settings& settings, void (*end_job)());

/// By every rank of the program, in MPI_Finalize, before torc is off: dedicated ranks are no longer
/// needed.
void endDedicated();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_DEDICATED_DEDICATED_JOB_H_
