// Error codes and the thread's last error text.
#include "runtime/api/api.h"

#include <cstdio>

namespace torc::runtime {
namespace {

// A plain array is never destroyed: it can be read during the exit of a thread.
constexpr std::size_t kErrorBytes = 1024;
thread_local char last_error[kErrorBytes] = "";

}  // namespace

int report(const Status& status) noexcept {
  if (status.ok()) return TORC_OK;
  std::snprintf(last_error, kErrorBytes, "%s", status.message().c_str());
  switch (status.code()) {
    case StatusCode::kOk:
      return TORC_OK;
    case StatusCode::kInvalidArgument:
      return TORC_ERR_ARGUMENT;
    case StatusCode::kMalformed:
      return TORC_ERR_MALFORMED;
    case StatusCode::kMismatch:
    case StatusCode::kTruncated:
      return TORC_ERR_MISMATCH;
    case StatusCode::kUnsupported:
      return TORC_ERR_UNSUPPORTED;
    case StatusCode::kOverflow:
      return TORC_ERR_OVERFLOW;
    case StatusCode::kIo:
      return TORC_ERR_IO;
    case StatusCode::kTransport:
      return TORC_ERR_TRANSPORT;
    case StatusCode::kNoMemory:
      return TORC_ERR_MEMORY;
    case StatusCode::kBusy:
      return TORC_ERR_BUSY;
  }
  return TORC_ERR_TRANSPORT;
}

}  // namespace torc::runtime

const char* torc_error_message(void) {
  return torc::runtime::last_error;
}

const char* torc_result_name(int result) {
  switch (result) {
    case TORC_OK:
      return "TORC_OK";
    case TORC_ERR_ARGUMENT:
      return "TORC_ERR_ARGUMENT";
    case TORC_ERR_MALFORMED:
      return "TORC_ERR_MALFORMED";
    case TORC_ERR_MISMATCH:
      return "TORC_ERR_MISMATCH";
    case TORC_ERR_UNSUPPORTED:
      return "TORC_ERR_UNSUPPORTED";
    case TORC_ERR_OVERFLOW:
      return "TORC_ERR_OVERFLOW";
    case TORC_ERR_IO:
      return "TORC_ERR_IO";
    case TORC_ERR_TRANSPORT:
      return "TORC_ERR_TRANSPORT";
    case TORC_ERR_MEMORY:
      return "TORC_ERR_MEMORY";
    case TORC_ERR_BUSY:
      return "TORC_ERR_BUSY";
    default:
      return "unknown result";
  }
}
