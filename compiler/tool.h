// What commands share: exit codes, error lines, input and output files.
#ifndef TORC_COMPILER_TOOL_H_
#define TORC_COMPILER_TOOL_H_

#include <cstdint>
#include <optional>
#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "ir/program.h"
#include "schedules/format/file.h"

namespace torc::compiler {

/// Exit codes.
inline constexpr int kSuccess = 0;
inline constexpr int kInputFault =
    1;  // what a file or text says is wrong, or cannot be read or written
inline constexpr int kWrongUsage = 2;  // what the command line says is wrong

/// Print `torc: error: message` on stderr, or the message as it is when it has its place in a text,
/// `file:1:2: error: ...`. They return the exit code.
int wrongUsage(const llvm::Twine& message);
int inputFault(llvm::Error error);
/// For options that may name a file: a fault of the file is one of the input, others are of usage.
int optionFault(llvm::Error error);

enum class InputKind { kFile, kJson, kText };

/// A schedule or plan that was read.
struct Input {
  InputKind kind = InputKind::kText;
  std::optional<LoadedSchedule> file;  // kFile
  ir::Program program;                 // others

  bool isPlan() const { return program.isPlan(); }
  ScheduleView view() const { return file ? file->view() : program.schedule.view(); }
  /// The schedule as the passes take it.
  ir::Program takeProgram();
};

/// Reads a binary file, JSON or text, whichever the content is; `-` is stdin. What is returned has
/// passed `validate`.
llvm::Expected<Input> readInput(llvm::StringRef path);

/// The same, but for plans, which are errors: "FILE: is a plan; `why` (torc opt --passes=...)".
llvm::Expected<Input> readSteps(llvm::StringRef path, const llvm::Twine& why);

/// The bytes of a file, or of stdin for `-`.
llvm::Expected<std::string> readBytes(llvm::StringRef path);

/// Where to write what is made of the file `input`, if nobody says: beside it, with another
/// extension; "": without one.
std::string besideInput(llvm::StringRef input, llvm::StringRef extension);

/// Writes a file, whole or not at all; `-` is stdout.
llvm::Error writeOutput(llvm::StringRef path, llvm::StringRef bytes);

/// Writes to stdout. Returns `code`, unless that fails.
int printOutput(llvm::StringRef text, int code = kSuccess);

/// What a schedule's file holds, and what it took to make it, in a line on stderr; the file's name,
/// where nobody gave it.
void printSummary(const ScheduleView& schedule, std::size_t bytes, double seconds,
                  llvm::StringRef name = "");

/// An error made of a Status.
llvm::Error toError(const Status& status);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_TOOL_H_
