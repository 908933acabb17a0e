// The choices of a build so far, in a file beside the library until the build ends: the next one
// goes on from there. To choose takes nearly all of a build's time; the schedules are compiled and
// proved again.
#ifndef TORC_COMPILER_LIBRARY_CHECKPOINT_H_
#define TORC_COMPILER_LIBRARY_CHECKPOINT_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "compiler/choice/choice.h"
#include "compiler/compile_cache.h"
#include "model/machines/machine.h"

namespace torc::compiler {

/// Threads may share it.
class Checkpoint {
 public:
  /// Reads what the file holds, if it is of this very program. Where another process has the file,
  /// it is no checkpoint, or it cannot be written, nothing is kept.
  explicit Checkpoint(std::string path);
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  ~Checkpoint();

  /// How many choices an earlier build has left.
  std::size_t found() const { return found_; }

  /// `choose`, where it has not been done before: for the spec of `programs`, on `machine`, for
  /// `bytes`.
  llvm::Expected<Choice> choose(CompileCache& programs, const model::Machine& machine,
                                double bytes);

  /// The build is over: removes the file.
  void remove();

 private:
  /// False where nothing can be kept there.
  bool read(const std::string& text, const std::string& head);

  const std::string path_;
  int file_ = -1;
  std::size_t found_ = 0;
  std::mutex mutex_;  // of what follows
  std::map<std::string, Choice> choices_;
  bool is_kept_ = true;  // all that is chosen
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_CHECKPOINT_H_
