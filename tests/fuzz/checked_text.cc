// Reads, prints and reads again bytes as a program, in text or JSON.
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>

#include "ir/json/json.h"
#include "ir/text/text.h"
#include "schedules/format/file.h"
#include "schedules/validation/validate.h"
#include "tests/fuzz/checked.h"

namespace torc::fuzz {
namespace {

/// What is wrong with a refusal of `text` by the reader of `file`; empty if nothing.
std::string refusalFault(llvm::StringRef refusal, llvm::StringRef file, llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  refusal.split(lines, '\n');
  llvm::StringRef head = lines[0];
  if (!llvm::all_of(head, llvm::isPrint) || head.size() > 600) return "not fit to be shown";
  if (!head.consume_front(file) || !head.consume_front(":")) return "no file";
  if (file == "t.json" && head.consume_front(" /")) {
    return lines.size() == 1 && head.contains(": ") ? "" : "not one line with a key path";
  }
  std::size_t line = 0, column = 0;
  if (head.consumeInteger(10, line) || !head.consume_front(":") ||
      head.consumeInteger(10, column) || !head.starts_with(": error: ")) {
    return "no place";
  }
  if (line < 1 || line > text.count('\n') + 1 || column < 1) return "no such place";
  if (lines.size() != 3) return "not three lines";
  return lines[2].ltrim(' ') == "^" && lines[2].size() <= 1000 ? "" : "no caret";
}

/// What is wrong with a program that was accepted, of which `text` is printed and `read` reads;
/// empty if nothing.
template <typename Print, typename Read>
std::string programFault(const ir::Program& program, Print print, Read read) {
  const ScheduleView schedule = program.schedule.view();
  if (const Status status = validate(schedule); !status.ok()) return status.message();
  const std::string text = print(program);
  llvm::Expected<ir::Program> again = read(text, "again");
  if (!again) return llvm::toString(again.takeError());
  if (!(again->schedule.view() == schedule)) return "another schedule reads back";
  if (again->plan != program.plan) return "another plan reads back";
  return print(*again) == text ? "" : "prints otherwise when read back";
}

template <typename Print, typename Read>
Outcome checkProgram(llvm::StringRef text, llvm::StringRef file, bool as_file, Print print,
                     Read read) {
  Outcome outcome;
  llvm::Expected<ir::Program> program = read(text, file);
  outcome.accepted = bool(program);
  if (!program) {
    outcome.refusal = llvm::toString(program.takeError());
    outcome.violation = refusalFault(outcome.refusal, file, text);
    if (!outcome.violation.empty()) outcome.violation += ": " + outcome.refusal;
    return outcome;
  }
  outcome.violation = programFault(*program, print, read);
  outcome.program = std::move(*program);
  const ScheduleView schedule = outcome.program->schedule.view();
  if (!as_file || !outcome.violation.empty() || schedule.operations.empty()) return outcome;
  const Outcome of_file = checkFile(writeSchedule(schedule));
  outcome.proved = of_file.proved;
  outcome.violation = of_file.violation.empty() ? of_file.refusal : of_file.violation;
  return outcome;
}

}  // namespace

std::string printed(const ir::Program& program) {
  return ir::programText(program);
}

Outcome checkText(llvm::StringRef text, bool as_file) {
  const auto read = [](llvm::StringRef of, llvm::StringRef file) {
    return ir::parseProgram(of, file);
  };
  return checkProgram(text, "t.tir", as_file, printed, read);
}

Outcome checkJson(llvm::StringRef text, bool as_file) {
  const auto read = [](llvm::StringRef of, llvm::StringRef file) -> llvm::Expected<ir::Program> {
    llvm::Expected<Schedule> schedule = ir::readJson(of, file);
    if (!schedule) return schedule.takeError();
    return ir::Program{std::move(*schedule), {}};
  };
  const auto print = [](const ir::Program& program) {
    return ir::writeJson(program.schedule.view());
  };
  return checkProgram(text, "t.json", as_file, print, read);
}

}  // namespace torc::fuzz
