// The failure of a call, which is thrown: a code of torc_linalg.h with one line of text.
#ifndef TORC_LINALG_FAILURE_H_
#define TORC_LINALG_FAILURE_H_

#include <string>

#include "linalg/torc_linalg.h"

namespace torc::linalg {

struct Failure {
  torc_linalg_result code = TORC_LINALG_OK;
  std::string message;
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_FAILURE_H_
