// Errors by their text.
#ifndef TORC_IR_MAKE_ERROR_H_
#define TORC_IR_MAKE_ERROR_H_

#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "support/status.h"

namespace torc {

inline llvm::Error makeError(const llvm::Twine& message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

inline llvm::Error makeError(const Status& status) {
  return makeError(status.message());
}

}  // namespace torc

#endif  // TORC_IR_MAKE_ERROR_H_
