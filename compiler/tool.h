// Common parts of commands: exit codes, error messages, input and output files.
#ifndef TORC_COMPILER_TOOL_H_
#define TORC_COMPILER_TOOL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "ir/program.h"
#include "schedules/format/file.h"

namespace torc::compiler {

/// Exit codes.
inline constexpr int kSuccess = 0;
inline constexpr int kInputFault = 1;  // faulty file or text, or I/O fails
inline constexpr int kWrongUsage = 2;  // faulty command line

/// Print `torc: error: message` on stderr, or just the message if it begins with a place in a text,
/// `file:1:2: error: ...`. They return the exit code.
int inputFault(llvm::Error error);
/// For options that may name a file: a fault of the file is an input error, others are usage
/// errors.
int optionFault(llvm::Error error);
int usageFault(llvm::Error error);

/// Ends a command, after a message: `runProgram` catches it.
struct CommandEnd {
  int code = kSuccess;
};

/// Prints the message of a faulty command line, and ends the command.
[[noreturn]] void wrongUsage(const llvm::Twine& message);

/// `orInputFault(f())` is the value of `f()`; if that is an error, it is printed, and the command
/// ends.
template <int (*Print)(llvm::Error)>
struct OrEnd {
  template <typename Value>
  Value operator()(llvm::Expected<Value> value) const {
    if (!value) throw CommandEnd{Print(value.takeError())};
    return std::move(*value);
  }
  void operator()(llvm::Error error) const {
    if (error) throw CommandEnd{Print(std::move(error))};
  }
};
inline constexpr OrEnd<inputFault> orInputFault;
inline constexpr OrEnd<optionFault> orOptionFault;
inline constexpr OrEnd<usageFault> orUsageFault;

enum class InputKind { kFile, kJson, kText };

/// A schedule or plan from an input.
struct Input {
  InputKind kind = InputKind::kText;
  std::optional<LoadedSchedule> file;   // kFile
  ir::Program program;                  // others
  std::string text;                     // kText: as it was written
  std::vector<std::size_t> operations;  // kText: offsets of the operations

  bool isPlan() const { return program.isPlan(); }
  ScheduleView view() const { return file ? file->view() : program.schedule.view(); }
  /// The schedule as a program for passes.
  ir::Program takeProgram();
};

/// Reads a binary file, JSON or text, by its content; `-` is stdin. The result has passed
/// `validate`.
llvm::Expected<Input> readInput(llvm::StringRef path);

/// The same, with an error for plans: "FILE: is a plan; `why` (torc opt --passes=...)".
llvm::Expected<Input> readSteps(llvm::StringRef path, const llvm::Twine& why);

/// The bytes of a file, or of stdin for `-`.
llvm::Expected<std::string> readBytes(llvm::StringRef path);

/// Default path of an output made from the file `input`: beside it, with another extension; "":
/// without one.
std::string besideInput(llvm::StringRef input, llvm::StringRef extension);

/// Writes a file atomically; `-` is stdout.
llvm::Error writeOutput(llvm::StringRef path, llvm::StringRef bytes);

/// Writes to stdout. Returns `code`, or the error's exit code.
int printOutput(llvm::StringRef text, int code = kSuccess);

/// Prints a summary of a schedule's file and its compilation on stderr; also the file's name if it
/// is a default.
void printSummary(const ScheduleView& schedule, std::size_t bytes, double seconds,
                  llvm::StringRef name = "");

/// `X+`: the links of an axis in one direction.
std::string linkName(const Axis& axis, bool up);

/// Converts a Status to an error.
llvm::Error toError(const Status& status);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_TOOL_H_
