// Reads and writes whole files by POSIX calls: C++ streams do not report the reason of a failure,
// and atomic replacement needs fsync and rename.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "schedules/format/file.h"
#include "support/files.h"
#include "support/message.h"

namespace torc {
namespace {

Status systemError(const char* verb, const std::string& path, int error) {
  return Status(StatusCode::kIo, message("cannot ", verb, " '", path, "': ", writeFault(error)));
}

/// An open file, closed at the end of the scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  bool isOpen() const { return number_ >= 0; }

 private:
  int number_;
};

/// Opens a new file in the folder of `path` and stores its name.
int openBeside(const std::string& path, mode_t mode, std::string& name) {
  static std::atomic<unsigned> serial{0};
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  while (true) {
    name = message(folder, ".torc-", ::getpid(), "-", serial++, ".tmp");
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file >= 0 || errno != EEXIST) return file;
  }
}

}  // namespace

StatusOr<std::vector<std::byte>> readFile(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat facts {};
  if (!file.isOpen() || ::fstat(file.get(), &facts) != 0) return systemError("read", path, errno);
  const Status too_large(
      StatusCode::kIo, message("cannot read '", path, "': larger than ", kMaxFileBytes, " bytes"));
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (S_ISREG(facts.st_mode) && size > kMaxFileBytes) return too_large;

  // A pipe has no size, and a file may grow: the loop reads until the end, with one byte more than
  // the size so that a regular file needs no second allocation.
  std::vector<std::byte> bytes(std::max<std::size_t>(4096, size + 1));
  std::size_t used = 0;
  while (true) {
    if (used > kMaxFileBytes) return too_large;
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    const ssize_t count = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (count < 0) {
      if (errno == EINTR) continue;
      return systemError("read", path, errno);
    }
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  bytes.resize(used);
  return bytes;
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

StatusOr<NewFile> NewFile::open(const std::string& path) {
  NewFile file(path);
  if (!isReplaced(path)) {
    file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (file.descriptor_ < 0) return systemError("write", path, errno);
    return file;
  }
  file.target_ = path;
  struct stat facts {};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  if (exists) {
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
      return systemError("write", path, errno);
    }
    char* resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return systemError("write", path, errno);
    file.target_ = resolved;
    std::free(resolved);
  }
  std::string temporary;
  file.descriptor_ = openBeside(file.target_, 0666, temporary);
  if (file.descriptor_ < 0) return systemError("write", path, errno);
  file.temporary_ = std::move(temporary);
  constexpr mode_t kPermissions = 07777;
  if (exists && ::fchmod(file.descriptor_, facts.st_mode & kPermissions) != 0) {
    return systemError("write", path, errno);
  }
  return file;
}

Status NewFile::write(std::span<const std::byte> bytes) {
  if (!writeAll(descriptor_, bytes)) return systemError("write", path_, errno);
  return {};
}

Status NewFile::close() {
  const bool synced = temporary_.empty() || ::fsync(descriptor_) == 0;
  const int error = errno;
  if (::close(std::exchange(descriptor_, -1)) == 0 && synced) return {};
  return systemError("write", path_, synced ? errno : error);
}

Status NewFile::replace() {
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    return systemError("write", path_, errno);
  }
  temporary_.clear();
  return {};
}

Status writeFileAtomically(const std::string& path, std::span<const std::byte> bytes) {
  StatusOr<NewFile> file = NewFile::open(path);
  if (!file.ok()) return file.status();
  Status status = file->write(bytes);
  if (status.ok()) status = file->close();
  if (status.ok()) status = file->replace();
  return status;
}

}  // namespace torc
