// Changes to the bytes of a schedule file: the header as a record, and a recomputed checksum, so
// that a change reaches the checks behind it.
#ifndef TORC_TESTS_SCHEDULES_FORMAT_FILE_PATCH_H_
#define TORC_TESTS_SCHEDULES_FORMAT_FILE_PATCH_H_

#include <cstddef>
#include <cstring>
#include <span>

#include <xxhash.h>

#include "schedules/format/file_layout.h"

namespace torc::samples {

/// The header of a file, or of an index, that is long enough to have one.
template <typename Header = FileHeader>
Header headerOf(std::span<const std::byte> file) {
  Header header;
  std::memcpy(static_cast<void*>(&header), file.data(), sizeof(header));
  return header;
}

inline void setHeader(std::span<std::byte> file, const FileHeader& header) {
  std::memcpy(file.data(), &header, sizeof(header));
}

/// Recomputes the checksum. Shorter files stay unchanged.
inline void fixChecksum(std::span<std::byte> file) {
  if (file.size() < kChecksummedFrom) return;
  const std::uint64_t checksum =
      XXH3_64bits(file.data() + kChecksummedFrom, file.size() - kChecksummedFrom);
  std::memcpy(file.data() + offsetof(FileHeader, checksum), &checksum, sizeof(checksum));
}

/// Recomputes file size and checksum.
inline void fixSizeAndChecksum(std::span<std::byte> file) {
  if (file.size() < kChecksummedFrom) return;
  const std::uint64_t size = file.size();
  std::memcpy(file.data() + offsetof(FileHeader, file_size), &size, sizeof(size));
  fixChecksum(file);
}

}  // namespace torc::samples

#endif  // TORC_TESTS_SCHEDULES_FORMAT_FILE_PATCH_H_
