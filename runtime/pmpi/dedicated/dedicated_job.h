// Jobs with ranks dedicated to collectives (TORC_DEDICATED): the split after MPI_Init, and the end.
#ifndef TORC_RUNTIME_PMPI_DEDICATED_DEDICATED_JOB_H_
#define TORC_RUNTIME_PMPI_DEDICATED_DEDICATED_JOB_H_

#include "settings/settings.h"

namespace torc::runtime::pmpi {

/// Collective over MPI_COMM_WORLD, once torc has started or is known to be off. Returns on ranks of
/// the program: their MPI_COMM_WORLD is then the communicator of these ranks, and dedicated ranks
/// may serve their calls. A dedicated rank serves the others, finalizes MPI, and ends the process.
/// If the setting is impossible, one line says so, and no rank is dedicated; with TORC_STRICT the
/// job ends. `end_job`: stops torc on a dedicated rank, before that finalizes MPI.
void splitJob(const Settings& settings, void (*end_job)());

/// Collective over the ranks of the program, in MPI_Finalize, before torc stops: releases the
/// dedicated ranks.
void endDedicated();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_DEDICATED_DEDICATED_JOB_H_
