// Parses, prints and parses again what may be a program.
#include "tests/fuzz/checked_text.h"

#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/raw_ostream.h>

#include "ir/text/text.h"
#include "schedules/validation/validate.h"

namespace torc::fuzz {
namespace {

/// What is wrong with a refusal of `text`; empty if nothing.
std::string refusalFault(llvm::StringRef refusal, llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  refusal.split(lines, '\n');
  if (lines.size() != 3) return "not three lines";
  std::size_t line = 0, column = 0;
  llvm::StringRef head = lines[0];
  if (!head.consume_front("t.tir:") || head.consumeInteger(10, line) || !head.consume_front(":") ||
      head.consumeInteger(10, column) || !head.starts_with(": error: ")) {
    return "no place";
  }
  if (line < 1 || line > text.count('\n') + 1 || column < 1) return "no such place";
  if (!llvm::all_of(head, llvm::isPrint) || head.size() > 300) return "not fit to be shown";
  if (lines[2].ltrim(' ') != "^" || lines[2].size() > 1000) return "no caret";
  return "";
}

/// What is wrong with a program that was accepted; empty if nothing.
std::string programFault(const ir::Program& program) {
  const ScheduleView schedule = program.schedule.view();
  if (const Status status = validate(schedule); !status.ok()) return status.message();
  const std::string text = printed(program);
  llvm::Expected<ir::Program> again = ir::parseProgram(text, "again.tir");
  if (!again) return llvm::toString(again.takeError());
  if (!(again->schedule.view() == schedule)) return "another schedule reads back";
  if (again->plan != program.plan) return "another plan reads back";
  if (printed(*again) != text) return "prints otherwise when read back";
  return "";
}

}  // namespace

std::string printed(const ir::Program& program) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ir::printProgram(program, out);
  return out.str();
}

TextOutcome checkProgramText(llvm::StringRef text) {
  TextOutcome outcome;
  llvm::Expected<ir::Program> program = ir::parseProgram(text, "t.tir");
  if (program) {
    outcome.violation = programFault(*program);
    outcome.program = std::move(*program);
  } else {
    const std::string refusal = llvm::toString(program.takeError());
    outcome.violation = refusalFault(refusal, text);
    if (!outcome.violation.empty()) outcome.violation += ": " + refusal;
  }
  return outcome;
}

}  // namespace torc::fuzz
