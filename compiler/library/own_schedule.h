// Users' schedules for a library: files of `torc assemble` or `torc compile`.
#ifndef TORC_COMPILER_LIBRARY_OWN_SCHEDULE_H_
#define TORC_COMPILER_LIBRARY_OWN_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "compiler/proved_file.h"
#include "schedules/format/file.h"
#include "schedules/library/index.h"

namespace torc::compiler {

class OwnSchedule {
 public:
  /// Reads a file. Errors name it: it cannot be read, is damaged, or is no schedule.
  static llvm::Expected<OwnSchedule> read(llvm::StringRef path);

  const std::string& path() const { return path_; }
  /// Its base name and producer: "ring.torc, schedule @ring".
  std::string description() const;
  const ScheduleView& view() const { return loaded_.view(); }

  /// The matching shapes of the library, with the same axes, ranks and damage. The speed of links
  /// may differ, because a schedule's result does not depend on it. An error if there is none.
  llvm::Expected<std::vector<std::uint32_t>> shapesIn(const LibraryIndex& index) const;

  /// The file for one of those shapes, with the speed of its links. An error if the proof fails.
  llvm::Expected<ProvedFile> provedFor(const Topology& shape) const;

 private:
  OwnSchedule(std::string path, LoadedSchedule loaded)
      : path_(std::move(path)), loaded_(std::move(loaded)) {}

  llvm::Error noShapeIn(const LibraryIndex& index) const;

  std::string path_;
  LoadedSchedule loaded_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_OWN_SCHEDULE_H_
