/// An error by its text.
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "support/status.h"

namespace torc {

inline llvm::Error makeError(const llvm::Twine& message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

inline llvm::Error makeError(const Status& status) {
  return makeError(llvm::Twine(status.message()));
}

}  // namespace torc
