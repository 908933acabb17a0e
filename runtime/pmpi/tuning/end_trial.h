// The end of a call that may have been on trial.
#ifndef TORC_RUNTIME_PMPI_TUNING_END_TRIAL_H_
#define TORC_RUNTIME_PMPI_TUNING_END_TRIAL_H_

#include "runtime/pmpi/calls/collective_call.h"

namespace torc::runtime::pmpi {

/// A blocking call is over on this rank, with this error class. If it is the last one of a trial,
/// the ranks agree on what was fastest. What the program gets, as that may fail.
int endTrial(const CollectiveCall& call, int code);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_TUNING_END_TRIAL_H_
