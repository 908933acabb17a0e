// How far a long command is: from one second on a line that is rewritten on a terminal, else a line
// every few seconds. A thread of its own writes it, so that the seconds go on where one step takes
// long.
#ifndef TORC_COMPILER_PROGRESS_LINE_H_
#define TORC_COMPILER_PROGRESS_LINE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <llvm/ADT/StringRef.h>

namespace torc::compiler {

/// Threads may share it. `out` outlives it.
class Progress {
 public:
  explicit Progress(bool quiet, std::FILE* out = stderr);
  ~Progress();

  /// So many things more are to be done, each of a `work` in units of the caller's. Without work
  /// there is no share to be shown, and without things no number.
  void expect(std::size_t things, double work = 0);
  /// This thread begins something: "4x4: allreduce of 64K".
  void begin(llvm::StringRef what);
  /// Some work of what is under way is done.
  void advance(double work);
  /// One of the things is done, by this thread, or the rest of it.
  void done(double work = 0);

  /// Takes the line away, so that others can write, until something begins.
  void clear();
  double elapsedSeconds() const;

 private:
  void run();
  void show();
  std::string line() const;

  const bool quiet_;
  std::FILE* const out_;
  const bool terminal_;
  const std::chrono::steady_clock::time_point start_;

  std::mutex mutex_;  // of what follows
  std::chrono::steady_clock::time_point shown_;
  std::vector<std::pair<std::thread::id, std::string>> under_way_;  // by thread; the latest last
  std::size_t things_ = 0, things_done_ = 0;
  double work_ = 0, work_done_ = 0;
  bool line_is_there_ = false;
  bool ends_ = false;
  std::condition_variable changed_;
  std::thread timer_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_PROGRESS_LINE_H_
