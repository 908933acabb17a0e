// Whole files in and out, by POSIX calls: what C++ streams do not tell is why a file could not be
// read or written, and an atomic replacement needs fsync and rename.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "schedules/format/file.h"
#include "support/message.h"

namespace torc {
namespace {

Status systemError(const char* verb, const std::string& path, int error) {
  return Status(StatusCode::kIo, message("cannot ", verb, " '", path, "': ", std::strerror(error)));
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
  /// Whether closing brought no late write error.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

bool writeAll(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

Status writeDirectly(const std::string& path, std::span<const std::byte> bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.isOpen() || !writeAll(file.get(), bytes) || !file.close()) {
    return systemError("write", path, errno);
  }
  return {};
}

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

  // A pipe has no size, and a file may grow: read until the end, with room for one byte more than
  // the size so that the usual file needs no second allocation.
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

Status writeFileAtomically(const std::string& path, std::span<const std::byte> bytes) {
  struct stat facts {};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  // A rename over /dev/stdout that is redirected to a file would leave the shell's file behind.
  if (path.starts_with("/dev/") || (exists && !S_ISREG(facts.st_mode))) {
    return writeDirectly(path, bytes);
  }

  std::string target = path;
  if (exists) {
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
      return systemError("write", path, errno);
    }
    char* resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return systemError("write", path, errno);
    target = resolved;
    std::free(resolved);
  }

  std::string temporary;
  Descriptor file(openBeside(target, 0666, temporary));
  if (!file.isOpen()) return systemError("write", path, errno);
  constexpr mode_t kPermissions = 07777;
  const bool done = (!exists || ::fchmod(file.get(), facts.st_mode & kPermissions) == 0) &&
                    writeAll(file.get(), bytes) && ::fsync(file.get()) == 0 && file.close() &&
                    ::rename(temporary.c_str(), target.c_str()) == 0;
  if (done) return {};
  const int error = errno;
  ::unlink(temporary.c_str());
  return systemError("write", path, error);
}

}  // namespace torc
