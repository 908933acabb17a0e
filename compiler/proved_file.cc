// Encodes and proves.
#include "compiler/proved_file.h"

#include <string>

#include <llvm/Support/raw_ostream.h>

#include "ir/make_error.h"
#include "ir/verifier/verifier.h"

namespace torc::compiler {

llvm::Expected<ProvedFile> provedFile(const ScheduleView& schedule) {
  std::vector<std::byte> bytes = writeSchedule(schedule);
  StatusOr<LoadedSchedule> loaded = readSchedule(bytes, "compiled schedule");
  if (!loaded.ok()) {
    return makeError(loaded.status());
  }
  const ir::VerifyResult proof = ir::verify(loaded->view());
  if (!proof.ok()) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << "the schedule is not proved, nothing is written\n";
    ir::printFaults(loaded->view(), proof, out);
    return makeError(llvm::StringRef(text).rtrim());
  }
  return ProvedFile{std::move(bytes), std::move(*loaded)};
}

}  // namespace torc::compiler
