// A schedule's file whose content is proved: the only way in which a schedule that was compiled is
// written.
#ifndef TORC_COMPILER_PROVED_FILE_H_
#define TORC_COMPILER_PROVED_FILE_H_

#include <cstddef>
#include <vector>

#include <llvm/Support/Error.h>

#include "schedules/format/file.h"

namespace torc::compiler {

struct ProvedFile {
  std::vector<std::byte> bytes;
  LoadedSchedule schedule;  // as it is read from these bytes
};

/// Encodes `schedule`, reads the bytes back as the runtime does, and proves what was read. The
/// error of a schedule that is not proved shows each fault under the operation that it concerns.
llvm::Expected<ProvedFile> provedFile(const ScheduleView& schedule);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_PROVED_FILE_H_
