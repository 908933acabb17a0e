// The binary file `name.torc`: the on-disk contract between compiler and runtime.
// Little-endian, versioned, checksummed (XXH3-64), relocatable; read in place after validation.
// The layout is in docs/developers/format.md.
#ifndef TORC_SCHEDULES_FORMAT_FILE_H_
#define TORC_SCHEDULES_FORMAT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "schedules/schedule.h"
#include "support/status.h"

namespace torc {

inline constexpr std::uint32_t kFormatVersion = 8;
/// Of a schedule on a graph, which has one more table, its links.
inline constexpr std::uint32_t kGraphFormatVersion = 9;
/// The carriage return and line feeds detect transfers that rewrite line ends.
inline constexpr char kFileMagic[8] = {'T', 'O', 'R', 'C', '\r', '\n', '\x1a', '\n'};

/// A schedule in the bytes of its file. The view stays valid as long as the object, also when it
/// moves.
class LoadedSchedule {
 public:
  LoadedSchedule(LoadedSchedule&&) = default;
  LoadedSchedule& operator=(LoadedSchedule&&) = default;

  const ScheduleView& view() const { return view_; }
  std::size_t bytes() const { return size_; }

 private:
  friend StatusOr<LoadedSchedule> readSchedule(std::span<const std::byte> file,
                                               const std::string& origin);
  LoadedSchedule() = default;

  // Copy of the file. An array of bytes from new is aligned for every record, and records copied
  // into it are objects (C++20, [intro.object]).
  std::unique_ptr<std::byte[]> storage_;
  std::size_t size_ = 0;
  ScheduleView view_;  // into storage_
};

/// Whether `bytes` begin like a schedule file, sound or not.
bool isScheduleFile(std::span<const std::byte> bytes);

/// Reads and validates a whole file held in memory. `origin` names it in errors, which give the
/// offset if it is known: `a.torc: 00000148: operations: table of 3000 records ends at 216480, file
/// has 90112 bytes`. It refuses truncated, altered, newer and structurally unsound files. Writing
/// an accepted schedule again gives the same bytes.
StatusOr<LoadedSchedule> readSchedule(std::span<const std::byte> file, const std::string& origin);

/// The bytes of a schedule's file: equal schedules have equal bytes. `schedule` has passed
/// `validate`; `readSchedule` refuses the bytes of any other.
std::vector<std::byte> writeSchedule(const ScheduleView& schedule);

/// The whole of a file, or an error that names it. Files over kMaxFileBytes are refused.
StatusOr<std::vector<std::byte>> readFile(const std::string& path);
inline constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

/// A file written piece by piece into a temporary file beside it, then renamed: readers see the old
/// file or the new one, never a part. A path that is no regular file (/dev/stdout) is written
/// directly. A symbolic link keeps pointing at its target, which is replaced; an existing file
/// keeps its permissions.
class NewFile {
 public:
  static StatusOr<NewFile> open(const std::string& path);
  NewFile(NewFile&& other) noexcept;
  /// Removes the temporary file unless it was put in place.
  ~NewFile();

  /// For writing, until the file is closed.
  int descriptor() const { return descriptor_; }
  /// The temporary file, while there is one.
  const std::string& temporary() const { return temporary_; }
  Status write(std::span<const std::byte> bytes);
  /// Ends the writing: all data is on the disk, or an error gives the reason.
  Status close();
  /// Renames the closed file into place.
  Status replace();

 private:
  explicit NewFile(const std::string& path) : path_(path) {}

  std::string path_, target_;
  std::string temporary_;  // empty: no temporary file
  int descriptor_ = -1;
};

/// Writes the whole of a NewFile.
Status writeFileAtomically(const std::string& path, std::span<const std::byte> bytes);

}  // namespace torc

#endif  // TORC_SCHEDULES_FORMAT_FILE_H_
