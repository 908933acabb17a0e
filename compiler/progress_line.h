// Progress of a long command. From one second on it is a line, rewritten on a terminal, else a new
// one every few seconds. A separate thread writes it, so that the elapsed seconds advance during
// long steps.
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

/// Thread-safe. `out` must outlive it.
class Progress {
 public:
  /// Nothing is shown before one `second`: less than a real one for tests.
  explicit Progress(bool quiet, std::FILE* out = stderr,
                    std::chrono::milliseconds second = std::chrono::seconds(1));
  ~Progress();

  /// Announces further items, each with `work` in any unit. Without work the line has no
  /// percentage, without items no number.
  void expect(std::size_t things, double work = 0);
  /// This thread begins an item: "4x4: allreduce of 64K".
  void begin(llvm::StringRef what);
  /// Part of the current item's work is done.
  void advance(double work);
  /// This thread has finished an item, or the rest of it.
  void done(double work = 0);

  /// Clears the line for other output until the next item begins.
  void clear();
  double elapsedSeconds() const;

 private:
  void run();
  void show();
  std::string line() const;

  const bool quiet_;
  std::FILE* const out_;
  const bool terminal_;
  const std::chrono::milliseconds second_;
  const std::chrono::steady_clock::time_point start_;

  std::mutex mutex_;  // protects the following members
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
