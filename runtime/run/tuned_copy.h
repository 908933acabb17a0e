// Tuned copy: a copy of a library with another index, built beside its place, and moved there when
// complete.
#ifndef TORC_RUNTIME_RUN_TUNED_COPY_H_
#define TORC_RUNTIME_RUN_TUNED_COPY_H_

#include <string>

#include "schedules/library/index.h"
#include "support/status.h"

namespace torc::runtime {

class TunedCopy {
 public:
  /// Creates the folder `.OUTPUT.torc-tune-PID` beside `output`, which must not exist; this object
  /// deletes it. kIo: it cannot be created; kInvalidArgument: `output` exists.
  static StatusOr<TunedCopy> create(const std::string& output);
  TunedCopy(TunedCopy&& other) noexcept;
  TunedCopy& operator=(TunedCopy&&) = delete;
  ~TunedCopy();

  /// Copies manifest and files of the library in `folder`, writes `index`, the library's own index
  /// with the results of tuning, and renames the folder to its place. Errors name the file.
  Status publish(const std::string& folder, const LibraryIndex& index);

 private:
  TunedCopy(std::string output, std::string folder)
      : output_(std::move(output)), folder_(std::move(folder)) {}

  std::string output_;
  std::string folder_;  // empty: deleted, or in its place
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TUNED_COPY_H_
