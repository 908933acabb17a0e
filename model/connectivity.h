// Whether the live nodes of a damaged machine still reach each other.
#ifndef TORC_MODEL_CONNECTIVITY_H_
#define TORC_MODEL_CONNECTIVITY_H_

#include <llvm/Support/Error.h>

#include "model/machine.h"

namespace torc {

/// Whether every live node of `machine` reaches every other over live links. The cost grows with
/// the number of different coordinates that the damage names, not with the size of the machine; an
/// error where these are too many to check.
llvm::Expected<bool> isConnected(const Machine& machine);

}  // namespace torc

#endif  // TORC_MODEL_CONNECTIVITY_H_
