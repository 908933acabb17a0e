// A partition of a machine, for tests: what goes wrong fails the test.
#ifndef TORC_TESTS_STUDIES_PARTITION_H_
#define TORC_TESTS_STUDIES_PARTITION_H_

#include <gtest/gtest.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"

namespace torc::studies {

inline model::Machine partition(llvm::StringRef machine, llvm::StringRef shape) {
  llvm::Expected<model::Machine> whole = model::findMachine(machine);
  if (!whole) {
    ADD_FAILURE() << toString(whole.takeError());
    return {};
  }
  llvm::Expected<model::Machine> part = model::partitionOf(*whole, shape);
  if (!part) {
    ADD_FAILURE() << toString(part.takeError());
    return {};
  }
  return *part;
}

}  // namespace torc::studies

#endif  // TORC_TESTS_STUDIES_PARTITION_H_
