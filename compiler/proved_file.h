// A schedule's file with proved content: the only way to write a compiled schedule.
#ifndef TORC_COMPILER_PROVED_FILE_H_
#define TORC_COMPILER_PROVED_FILE_H_

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "schedules/format/file.h"

namespace torc::compiler {

struct ProvedFile {
  std::vector<std::byte> bytes;
  LoadedSchedule schedule;  // decoded from these bytes

  llvm::StringRef text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

/// Steps already proved, for as many segments as a proof covers. Thread-safe.
class ProvedSteps {
 public:
  /// `steps`: the bytes of a file with this number of segments.
  bool contains(const std::string& steps) const;
  void add(std::string steps);

 private:
  mutable std::mutex mutex_;
  std::set<std::string> steps_;
};

/// Encodes `schedule`, decodes the bytes as the runtime does, and proves the result, unless
/// `proved` contains its steps. The proof covers the same segments for any larger number of them.
/// The error of a failed proof shows each fault under its operation.
llvm::Expected<ProvedFile> provedFile(const ScheduleView& schedule, ProvedSteps* proved = nullptr);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_PROVED_FILE_H_
