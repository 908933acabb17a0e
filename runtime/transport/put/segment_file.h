// Segment file: anonymous memory that processes of one host share.
//
// It is a memfd: it has no name in any file system, and only the owner of the processes can open
// it. The system frees it with the last process that has it open or mapped. It lies on the kernel's
// own mount, which has no size: free memory and the cgroup's limit matter, the size of /dev/shm
// does not. Its pages are reserved before they are touched, so that lack of memory is an error here
// and no SIGBUS later.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_SEGMENT_FILE_H_
#define TORC_RUNTIME_TRANSPORT_PUT_SEGMENT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/transport/put/memory_share.h"
#include "support/status.h"

namespace torc::runtime {

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t roundToPage(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

/// A file's memory in this process, counted in the share.
class MappedMemory {
 public:
  MappedMemory() = default;
  MappedMemory(std::byte* data, std::size_t bytes, std::shared_ptr<MemoryShare> share)
      : data_(data), bytes_(bytes), share_(std::move(share)) {}
  MappedMemory(MappedMemory&& other) noexcept { *this = std::move(other); }
  MappedMemory& operator=(MappedMemory&& other) noexcept;
  ~MappedMemory();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Gives the memory to the caller.
  std::byte* release() { return std::exchange(data_, nullptr); }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::shared_ptr<MemoryShare> share_;
};

/// An anonymous file, open in this process.
class SegmentFile {
 public:
  /// Key by which another process of the host finds it.
  struct Name {
    std::int32_t process = 0, descriptor = -1;
    std::uint64_t device = 0, number = 0;
  };

  /// Errors: kUnsupported, the system has no memfd.
  static StatusOr<SegmentFile> make();
  /// A file that another process has open. Allocates only an error's text. Errors: kUnsupported, it
  /// cannot be opened, or is another file.
  static StatusOr<SegmentFile> open(const Name& name);
  SegmentFile(SegmentFile&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  SegmentFile& operator=(SegmentFile&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~SegmentFile() { close(); }

  const Name& name() const { return name_; }
  /// Closes the descriptor; mapped memory stays.
  void close();

  /// Reserves its first `bytes`, unless they are reserved. Errors: kUnsupported, too little memory.
  Status reserve(std::size_t bytes);
  /// Maps a part of it, which must be reserved before it is touched. Errors: as of reserve.
  StatusOr<MappedMemory> map(std::size_t offset, std::size_t bytes,
                             const std::shared_ptr<MemoryShare>& share) const;

 private:
  SegmentFile() = default;
  Status look();

  Name name_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_SEGMENT_FILE_H_
