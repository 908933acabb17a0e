// Status: the result of an operation that can fail, with one message for users. Used in schedules/
// and runtime/, which do not use LLVM; no exceptions cross these folders.
#ifndef TORC_SUPPORT_STATUS_H_
#define TORC_SUPPORT_STATUS_H_

#include <optional>
#include <string>
#include <utility>

namespace torc {

enum class [[nodiscard]] StatusCode{
    kOk = 0,
    kInvalidArgument,  // a wrong argument: shape, count, rank, type
    kMalformed,        // a malformed file or text
    kMismatch,         // two things that should agree do not (schedule and communicator, ...)
    kUnsupported,      // understood, but not supported
    kOverflow,         // a size does not fit
    kIo,               // the operating system refused
    kTransport,        // MPI, or another transport, failed
    kTruncated,        // a message has an unexpected length: ranks' calls differ
    kNoMemory,         // memory ran out
    kBusy,             // the object's state forbids the call: running, still in use
};

/// Success, or a code with a message that names the thing and the place.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  /// The same status with `context: ` before its message; ok stays ok.
  Status annotated(const std::string& context) const {
    return ok() ? *this : Status(code_, context + ": " + message_);
  }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

/// A value, or the status that explains its absence.
template <typename T>
class [[nodiscard]] StatusOr {
 public:
  StatusOr(T value) : value_(std::move(value)) {}
  StatusOr(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace torc

#endif  // TORC_SUPPORT_STATUS_H_
