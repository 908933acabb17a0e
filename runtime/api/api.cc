// Error codes and the thread's last error text.
#include "runtime/api/api.h"

#include <cstdio>

namespace torc::runtime {
namespace {

// A plain array is never destroyed: it can be read during the exit of a thread.
constexpr std::size_t kErrorBytes = 1024;
thread_local char last_error[kErrorBytes] = "";

struct Result {
  StatusCode status;
  torc_result code;
  const char* name;
};
constexpr Result kResults[] = {
    {StatusCode::kOk, TORC_OK, "TORC_OK"},
    {StatusCode::kInvalidArgument, TORC_ERR_ARGUMENT, "TORC_ERR_ARGUMENT"},
    {StatusCode::kMalformed, TORC_ERR_MALFORMED, "TORC_ERR_MALFORMED"},
    {StatusCode::kMismatch, TORC_ERR_MISMATCH, "TORC_ERR_MISMATCH"},
    {StatusCode::kUnsupported, TORC_ERR_UNSUPPORTED, "TORC_ERR_UNSUPPORTED"},
    {StatusCode::kOverflow, TORC_ERR_OVERFLOW, "TORC_ERR_OVERFLOW"},
    {StatusCode::kIo, TORC_ERR_IO, "TORC_ERR_IO"},
    {StatusCode::kTransport, TORC_ERR_TRANSPORT, "TORC_ERR_TRANSPORT"},
    {StatusCode::kNoMemory, TORC_ERR_MEMORY, "TORC_ERR_MEMORY"},
    {StatusCode::kBusy, TORC_ERR_BUSY, "TORC_ERR_BUSY"},
};

}  // namespace

int report(const Status& status) noexcept {
  if (status.ok()) return TORC_OK;
  std::snprintf(last_error, kErrorBytes, "%s", status.message().c_str());
  for (const Result& result : kResults) {
    if (status.code() == result.status) return result.code;
  }
  return TORC_ERR_MISMATCH;  // kTruncated
}

}  // namespace torc::runtime

const char* torc_error_message(void) {
  return torc::runtime::last_error;
}

const char* torc_result_name(int result) {
  for (const auto& [status, code, name] : torc::runtime::kResults) {
    if (code == result) return name;
  }
  return "unknown result";
}
