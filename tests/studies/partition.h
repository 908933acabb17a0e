// A partition of a machine, for tests.
#ifndef TORC_TESTS_STUDIES_PARTITION_H_
#define TORC_TESTS_STUDIES_PARTITION_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"

namespace torc::studies {

inline model::Machine partition(llvm::StringRef machine, llvm::StringRef shape) {
  return cantFail(model::partitionOf(cantFail(model::findMachine(machine)), shape));
}

}  // namespace torc::studies

#endif  // TORC_TESTS_STUDIES_PARTITION_H_
