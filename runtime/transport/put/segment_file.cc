// Segment file: memfd_create, posix_fallocate, mmap.
#include "runtime/transport/put/segment_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/message.h"

namespace torc::runtime {
namespace {

Status systemError(const char* call, int error = errno) {
  return {StatusCode::kUnsupported, message(call, ": ", std::strerror(error))};
}

}  // namespace

MappedMemory& MappedMemory::operator=(MappedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(share_, other.share_);
  return *this;
}

MappedMemory::~MappedMemory() {
  if (data_ == nullptr) return;
  munmap(data_, bytes_);
  share_->giveBack(bytes_);
}

void SegmentFile::close() {
  if (name_.descriptor >= 0) ::close(std::exchange(name_.descriptor, -1));
}

Status SegmentFile::look() {
  struct stat file {};
  if (fstat(name_.descriptor, &file) != 0) return systemError("fstat");
  name_.device = file.st_dev;
  name_.number = file.st_ino;
  return {};
}

StatusOr<SegmentFile> SegmentFile::make() {
  SegmentFile file;
  file.name_.process = getpid();
  file.name_.descriptor = memfd_create("torc", MFD_CLOEXEC);
  if (file.name_.descriptor < 0) return systemError("memfd_create");
  if (fchmod(file.name_.descriptor, S_IRUSR | S_IWUSR) != 0) return systemError("fchmod");
  if (Status status = file.look(); !status.ok()) return status;
  return file;
}

StatusOr<SegmentFile> SegmentFile::open(const Name& name) {
  SegmentFile file;
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/fd/%d", name.process, name.descriptor);
  file.name_.process = getpid();
  file.name_.descriptor = ::open(path, O_RDWR | O_CLOEXEC);
  if (file.name_.descriptor < 0) return systemError(path);
  if (Status status = file.look(); !status.ok()) return status;
  // Another process may have the same number, in another process namespace.
  if (file.name_.device != name.device || file.name_.number != name.number) {
    return Status(StatusCode::kUnsupported, message(path, " is another file"));
  }
  return file;
}

Status SegmentFile::reserve(std::size_t bytes) {
  // Growing a file beyond its owner's limit raises a signal.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
    return {StatusCode::kUnsupported, message("files may have ", limit.rlim_cur,
                                              " bytes (ulimit -f), shared memory needs ", bytes)};
  }
  int error = EINTR;
  while (error == EINTR)
    error = posix_fallocate(name_.descriptor, 0, static_cast<off_t>(bytes));
  return error == 0 ? Status() : systemError("posix_fallocate", error);
}

StatusOr<MappedMemory> SegmentFile::map(std::size_t offset, std::size_t bytes,
                                        const std::shared_ptr<MemoryShare>& share) const {
  if (!share->take(bytes)) {
    return Status(StatusCode::kUnsupported,
                  message("shared memory may take ", share->limit, " bytes, of which ", share->used,
                          " are used and ", bytes, " more are needed"));
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, name_.descriptor,
                      static_cast<off_t>(offset));
  if (memory == MAP_FAILED) {
    share->giveBack(bytes);
    return systemError("mmap");
  }
  return MappedMemory(static_cast<std::byte*>(memory), bytes, share);
}

}  // namespace torc::runtime
