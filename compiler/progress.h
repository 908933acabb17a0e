// How far a long command is: from one second on a line that is rewritten on a terminal, else a line
// every few seconds.
#ifndef TORC_COMPILER_PROGRESS_H_
#define TORC_COMPILER_PROGRESS_H_

#include <chrono>
#include <mutex>
#include <string>

#include <llvm/ADT/StringRef.h>

namespace torc::compiler {

/// Threads may share it. Writes to stderr.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }

  /// Work that is to come, in units of the caller's. Without any, there is no share to be shown.
  void expect(double work);
  /// Something begins: "4x4: allreduce of 64K".
  void begin(llvm::StringRef what);
  /// Some of the work that was expected is done.
  void done(double work);

  /// Takes the line away, so that others can write.
  void clear();
  double elapsedSeconds() const;

 private:
  void show();
  std::string line() const;

  const bool quiet_, terminal_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point shown_;
  std::mutex mutex_;
  std::string what_;
  double expected_ = 0, done_ = 0;
  bool line_is_there_ = false;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_PROGRESS_H_
