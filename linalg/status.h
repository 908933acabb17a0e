// The result of a function of linalg/: success, or a code of torc_linalg.h with one line of text.
#ifndef TORC_LINALG_STATUS_H_
#define TORC_LINALG_STATUS_H_

#include <string>
#include <utility>

#include "linalg/torc_linalg.h"

namespace torc::linalg {

struct [[nodiscard]] Status {
  torc_linalg_result code = TORC_LINALG_OK;
  std::string message;

  bool ok() const { return code == TORC_LINALG_OK; }
};

inline Status failure(torc_linalg_result code, std::string message) {
  return Status{code, std::move(message)};
}

}  // namespace torc::linalg

#endif  // TORC_LINALG_STATUS_H_
