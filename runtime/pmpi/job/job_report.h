// What is told of a job: a line when torc is set up, the statistics at the end.
#ifndef TORC_RUNTIME_PMPI_JOB_JOB_REPORT_H_
#define TORC_RUNTIME_PMPI_JOB_JOB_REPORT_H_

#include <string>

#include "settings/settings.h"

namespace torc::runtime::pmpi {

/// The engine is on: `torc: 64 ranks on 4x4x4, order XYZ, served from /opt/torc/bgp (machine bgp);
/// set up in 3.1 ms`, where TORC_VERBOSE asks for it.
void saySetUp();

/// Torc stays off in this job: the statistics shall say why.
void rememberOff(const Settings& settings, const std::string& why);

/// Of a job of `ranks` ranks without torc, told by one of them and without MPI: the statistics say
/// why, where TORC_STATS asks for them.
void printOff(const Settings& settings, const std::string& why, int ranks);

/// Collective over the ranks of the job, before MPI_Finalize and while the engine, if there is one,
/// is there: prints the statistics, where TORC_STATS asks for them.
void printStatistics();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_JOB_JOB_REPORT_H_
