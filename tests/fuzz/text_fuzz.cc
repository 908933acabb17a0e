// libFuzzer target: any bytes as the text of a program. What has steps is then a schedule file, and
// what must hold for one (checked_file.h) holds.
#include "schedules/format/file.h"
#include "tests/fuzz/checked_file.h"
#include "tests/fuzz/checked_text.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const llvm::StringRef text(reinterpret_cast<const char*>(data), size);
  const torc::fuzz::TextOutcome outcome = torc::fuzz::checkProgramText(text);
  std::string violation = outcome.violation;
  if (violation.empty() && outcome.program && !outcome.program->schedule.operations.empty()) {
    const torc::fuzz::FileOutcome file =
        torc::fuzz::checkFile(torc::writeSchedule(outcome.program->schedule.view()));
    violation = file.violation.empty() ? file.refusal : file.violation;
  }
  torc::fuzz::expectNone(violation);
  return 0;
}
