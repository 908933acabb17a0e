// Errors that are thrown, within one module, to where it returns them.
#ifndef TORC_IR_THROWN_H_
#define TORC_IR_THROWN_H_

#include <utility>

#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "ir/make_error.h"

namespace torc {

/// An error on its way to `caught`.
struct Thrown {
  llvm::Error error;
};

[[noreturn]] inline void throwError(const llvm::Twine& message) {
  throw Thrown{makeError(message)};
}

template <typename Value>
Value orThrow(llvm::Expected<Value> value) {
  if (!value) throw Thrown{value.takeError()};
  return std::move(*value);
}
inline void orThrow(llvm::Error error) {
  if (error) throw Thrown{std::move(error)};
}

/// The result of `make`, or the error that it throws.
template <typename Make>
auto caught(Make make) -> llvm::Expected<decltype(make())> {
  try {
    return make();
  } catch (Thrown& thrown) {
    return std::move(thrown.error);
  }
}

}  // namespace torc

#endif  // TORC_IR_THROWN_H_
