// Makes errors from texts.
#ifndef TORC_IR_MAKE_ERROR_H_
#define TORC_IR_MAKE_ERROR_H_

#include <string_view>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "support/setting_values.h"
#include "support/status.h"

namespace torc {

inline llvm::Error makeError(const llvm::Twine& message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

inline llvm::Error makeError(const Status& status) {
  return makeError(status.message());
}

/// The error for an unknown name of a `kind`: "unknown machine 'bpg'; did you mean 'bgp'?"; without
/// a near one in `names`, `else_what` says where to find them.
inline llvm::Error unknownName(llvm::StringRef kind, llvm::StringRef name,
                               llvm::ArrayRef<llvm::StringRef> names,
                               const llvm::Twine& else_what) {
  std::vector<std::string_view> views;
  for (const llvm::StringRef one : names)
    views.emplace_back(one.data(), one.size());
  return makeError(unknownNameText(kind, name, views, else_what.str()));
}

}  // namespace torc

#endif  // TORC_IR_MAKE_ERROR_H_
