// A schedule's file whose content is proved: the only way in which a schedule that was compiled is
// written.
#ifndef TORC_COMPILER_PROVED_FILE_H_
#define TORC_COMPILER_PROVED_FILE_H_

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <llvm/Support/Error.h>

#include "schedules/format/file.h"

namespace torc::compiler {

struct ProvedFile {
  std::vector<std::byte> bytes;
  LoadedSchedule schedule;  // as it is read from these bytes
};

/// Steps that have been proved, for as many segments as a proof goes through. Threads may share it.
class ProvedSteps {
 public:
  /// `steps`: the bytes of a file with so many segments.
  bool contains(const std::string& steps) const;
  void add(std::string steps);

 private:
  mutable std::mutex mutex_;
  std::set<std::string> steps_;
};

/// Encodes `schedule`, reads the bytes back as the runtime does, and proves what was read, unless
/// `proved` has its steps: the proof goes through the same segments, however many more there are.
/// The error of a schedule that is not proved shows each fault under the operation that it
/// concerns.
llvm::Expected<ProvedFile> provedFile(const ScheduleView& schedule, ProvedSteps* proved = nullptr);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_PROVED_FILE_H_
