// A copy of a library with another index: made beside its place, and put there when it is whole.
#ifndef TORC_RUNTIME_RUN_TUNED_COPY_H_
#define TORC_RUNTIME_RUN_TUNED_COPY_H_

#include <string>

#include "schedules/library/index.h"
#include "support/status.h"

namespace torc::runtime {

class TunedCopy {
 public:
  /// Makes the folder `.OUTPUT.torc-tune-PID` beside `output`, which must not exist; it goes with
  /// this object. kIo: it cannot be made; kInvalidArgument: `output` exists.
  static StatusOr<TunedCopy> create(const std::string& output);
  TunedCopy(TunedCopy&& other) noexcept;
  TunedCopy& operator=(TunedCopy&&) = delete;
  ~TunedCopy();

  /// Copies manifest and files of the library in `folder`, of which `index` is the index but for
  /// what tuning adds, writes the index, and renames the folder to its place. Errors name the file.
  Status publish(const std::string& folder, const LibraryIndex& index);

 private:
  TunedCopy(std::string output, std::string folder)
      : output_(std::move(output)), folder_(std::move(folder)) {}

  std::string output_;
  std::string folder_;  // empty: it is gone, or in its place
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TUNED_COPY_H_
