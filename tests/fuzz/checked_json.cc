// Reads, writes and reads again what may be the JSON form of a schedule.
#include "tests/fuzz/checked_json.h"

#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>

#include "ir/json/json.h"
#include "schedules/validation/validate.h"

namespace torc::fuzz {
namespace {

/// What is wrong with a refusal; empty if nothing.
std::string faultOfJson(llvm::StringRef refusal) {
  llvm::SmallVector<llvm::StringRef> lines;
  refusal.split(lines, '\n');
  llvm::StringRef head = lines[0];
  if (!llvm::all_of(head, llvm::isPrint) || head.size() > 600) return "not fit to be shown";
  if (!head.consume_front("t.json:")) return "no file";
  if (head.consume_front(" /")) {
    return lines.size() == 1 && head.contains(": ") ? "" : "not one line with a key path";
  }
  std::size_t line = 0, column = 0;
  const bool is_placed = !head.consumeInteger(10, line) && head.consume_front(":") &&
                         !head.consumeInteger(10, column) && head.starts_with(": error: ");
  if (!is_placed || line < 1 || column < 1) return "no place";
  return lines.size() == 3 && lines[2].ltrim(' ') == "^" ? "" : "no caret";
}

/// What is wrong with a schedule that was accepted; empty if nothing.
std::string scheduleFault(const ScheduleView& schedule) {
  if (const Status status = validate(schedule); !status.ok()) return status.message();
  const std::string written = ir::writeJson(schedule);
  llvm::Expected<Schedule> again = ir::readJson(written, "again.json");
  if (!again) return llvm::toString(again.takeError());
  if (!(again->view() == schedule)) return "another schedule reads back";
  return ir::writeJson(again->view()) == written ? "" : "is written otherwise when read back";
}

}  // namespace

JsonOutcome checkJson(llvm::StringRef text) {
  JsonOutcome outcome;
  llvm::Expected<Schedule> schedule = ir::readJson(text, "t.json");
  if (schedule) {
    outcome.violation = scheduleFault(schedule->view());
    outcome.schedule = std::move(*schedule);
  } else {
    const std::string refusal = llvm::toString(schedule.takeError());
    outcome.violation = faultOfJson(refusal);
    if (!outcome.violation.empty()) outcome.violation += ": " + refusal;
  }
  return outcome;
}

}  // namespace torc::fuzz
