// Encodes schedules and proves the bytes.
#include "compiler/proved_file.h"

#include <string>
#include <utility>

#include <llvm/Support/raw_ostream.h>

#include "ir/make_error.h"
#include "ir/segments/segments.h"
#include "ir/verifier/verifier.h"

namespace torc::compiler {

bool ProvedSteps::contains(const std::string& steps) const {
  const std::lock_guard lock(mutex_);
  return steps_.contains(steps);
}

void ProvedSteps::add(std::string steps) {
  const std::lock_guard lock(mutex_);
  steps_.insert(std::move(steps));
}

llvm::Expected<ProvedFile> provedFile(const ScheduleView& schedule, ProvedSteps* proved) {
  std::vector<std::byte> bytes = writeSchedule(schedule);
  StatusOr<LoadedSchedule> loaded = readSchedule(bytes, "compiled schedule");
  if (!loaded.ok()) {
    return makeError(loaded.status());
  }
  std::string steps;
  if (proved != nullptr && schedule.segments > 1) {
    ScheduleView alike = loaded->view();
    alike.segments = ir::segmentsToProve(alike);
    alike.name = alike.producer = "";
    const std::vector<std::byte> file = writeSchedule(alike);
    steps.assign(reinterpret_cast<const char*>(file.data()), file.size());
    if (proved->contains(steps)) return ProvedFile{std::move(bytes), std::move(*loaded)};
  }
  const ir::VerifyResult proof = ir::verify(loaded->view());
  if (!proof.ok()) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << "the schedule is not proved, nothing is written\n";
    ir::printFaults(loaded->view(), proof, out);
    return makeError(llvm::StringRef(text).rtrim());
  }
  if (!steps.empty()) proved->add(std::move(steps));
  return ProvedFile{std::move(bytes), std::move(*loaded)};
}

}  // namespace torc::compiler
