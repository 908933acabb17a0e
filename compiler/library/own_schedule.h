// Schedules that people bring to a library: files of `torc assemble`, or of `torc compile`.
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
  /// Reads a file. Errors name it: it cannot be read, is torn, or no schedule's.
  static llvm::Expected<OwnSchedule> read(llvm::StringRef path);

  const std::string& path() const { return path_; }
  /// Its base name, and what made it: "ring.torc, schedule @ring".
  std::string description() const;
  const ScheduleView& view() const { return loaded_.view(); }

  /// The shapes of the library that it is for: its axes, ranks and damage are theirs. The speed of
  /// links may differ, of which a schedule's result does not depend. An error where there is none.
  llvm::Expected<std::vector<std::uint32_t>> shapesIn(const LibraryIndex& index) const;

  /// The file for one of those shapes, with the speed of its links. An error if it is not proved.
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
