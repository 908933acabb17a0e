// A child process that the user's signals reach: a job, or a long step that can be cancelled.
#ifndef TORC_COMPILER_JOBS_CHILD_PROCESS_H_
#define TORC_COMPILER_JOBS_CHILD_PROCESS_H_

#include <string>
#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>

namespace torc::compiler {

/// Runs `body` in a child process, before this process has threads, and waits for it. Signals that
/// end programs go to the child meanwhile; those of a terminal reach it by themselves. Returns the
/// result of `body`, 128 and the signal's number where one has ended the child, or 126 where no
/// process can be made.
int runChild(llvm::function_ref<int()> body);

/// In a child: becomes another program, found as a shell does. Returns 127 where that fails, after
/// a line.
int becomeProgram(const std::vector<std::string>& words);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_JOBS_CHILD_PROCESS_H_
