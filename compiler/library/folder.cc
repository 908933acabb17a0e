// Makes, exchanges and removes folders.
//
// Beside the library `lib` a build works in `.lib.torc-build-PID-N`, with a lock (flock) that ends
// with the process. If the file system cannot exchange two folders, the old one is renamed to
// `.lib.torc-old-PID-N` before the new one takes its name; if a build ends between the two steps,
// the next one renames it back.
#include "compiler/library/folder.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <span>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "compiler/tool.h"
#include "ir/make_error.h"
#include "schedules/format/file.h"
#include "schedules/library/index.h"

namespace torc::compiler {
namespace {

namespace fs = std::filesystem;

constexpr llvm::StringRef kBuildMark = ".torc-build-";
constexpr llvm::StringRef kOldMark = ".torc-old-";
constexpr mode_t kPermissions = 07777;

llvm::Error cannotWrite(llvm::StringRef path, int error) {
  return makeError("cannot write '" + path + "': " + std::strerror(error));
}

std::string parentOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string baseOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool exists(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0;
}

/// The names in a folder, without . and ..; none if it cannot be read.
std::vector<std::string> namesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  return names;
}

void removeAll(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);  // the next build tries again
}

/// Opens a folder and takes its lock; -1 and errno if it does not exist, or if another process has
/// the lock (EWOULDBLOCK). On a file system without locks, the folder counts as locked.
int lockFolder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder < 0) return -1;
  if (::flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  const int error = errno;
  ::close(folder);
  errno = error;
  return -1;
}

/// Whether `path` is the name of an open folder.
bool isAt(int folder, const std::string& path) {
  struct stat opened {};
  struct stat there {};
  return ::fstat(folder, &opened) == 0 && ::stat(path.c_str(), &there) == 0 &&
         opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

/// Whether a name has the form of a build's folder.
bool isLeftover(llvm::StringRef name, llvm::StringRef base, llvm::StringRef mark) {
  return name.consume_front(".") && name.consume_front(base) && name.consume_front(mark) &&
         name.find_first_not_of("0123456789-") == llvm::StringRef::npos;
}

/// Removes leftovers of interrupted builds, and restores an old library that lost its place.
void clearLeftovers(const std::string& target) {
  const std::string parent = parentOf(target), base = baseOf(target);
  for (const std::string& name : namesIn(parent)) {
    const bool is_old = isLeftover(name, base, kOldMark);
    if (!is_old && !isLeftover(name, base, kBuildMark)) continue;
    const std::string path = parent + "/" + name;
    const int lock = lockFolder(path);
    if (lock < 0) continue;  // an active build
    if (is_old && !exists(target)) {
      (void)std::rename(path.c_str(), target.c_str());
    } else {
      removeAll(path);
    }
    ::close(lock);
  }
}

/// Whether a file begins like an index, or like a manifest. It need not be sound: a damaged library
/// may be rebuilt.
bool looksLikeLibrary(const std::string& folder) {
  const StatusOr<std::vector<std::byte>> index = readFile(indexPath(folder));
  if (index.ok() && index->size() >= 4 && std::memcmp(index->data(), kIndexMagic, 4) == 0) {
    return true;
  }
  const StatusOr<std::vector<std::byte>> manifest = readFile(manifestPath(folder));
  if (!manifest.ok()) return false;
  const llvm::StringRef text(reinterpret_cast<const char*>(manifest->data()), manifest->size());
  return text.take_front(200).contains("\"torc_library\"");
}

/// An error unless `folder` is empty, or a library without foreign files.
llvm::Error checkReplaceable(const std::string& folder, llvm::StringRef called) {
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0) return cannotWrite(called, errno);
  if (!S_ISDIR(facts.st_mode)) return makeError("'" + called + "' exists and is not a folder");
  if (::access(folder.c_str(), R_OK | X_OK) != 0) {
    return makeError("cannot read '" + called + "': " + std::strerror(errno));
  }
  const std::vector<std::string> names = namesIn(folder);
  if (names.empty()) return llvm::Error::success();
  if (!looksLikeLibrary(folder)) {
    return makeError("'" + called + "' exists and is not a library; nothing is changed");
  }
  for (const std::string& name : names) {
    if (name == kIndexName || name == kManifestName || name == kLibraryFilesFolder) continue;
    return makeError("'" + called + "' holds '" + name +
                     "', which is no library's; nothing is changed");
  }
  for (const std::string& name : namesIn(folder + "/" + std::string(kLibraryFilesFolder))) {
    if (llvm::StringRef(name).ends_with(".torc")) continue;
    return makeError("'" + called + "' holds '" + kLibraryFilesFolder + "/" + name +
                     "', which is no library's; nothing is changed");
  }
  return llvm::Error::success();
}

bool syncFolder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  // Some file systems cannot sync a folder, and do it at their own time.
  const bool done = ::fsync(folder) == 0 || errno == EINVAL;
  ::close(folder);
  return done;
}

}  // namespace

llvm::Expected<LibraryLock> LibraryLock::take(llvm::StringRef library) {
  const std::string path = library.str();
  while (true) {
    const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return makeError("cannot read '" + library + "': " + std::strerror(errno));
    LibraryLock lock(folder);
    while (::flock(folder, LOCK_EX) != 0 && errno == EINTR) {
    }
    if (isAt(folder, path)) return lock;  // the previous holder may have exchanged the folder
  }
}

LibraryLock::LibraryLock(LibraryLock&& other) noexcept
    : folder_(std::exchange(other.folder_, -1)) {}

LibraryLock::~LibraryLock() {
  if (folder_ >= 0) ::close(folder_);
}

LibraryFolder::LibraryFolder(LibraryFolder&& other) noexcept
    : destination_(std::move(other.destination_)),
      target_(std::move(other.target_)),
      path_(std::exchange(other.path_, {})),
      lock_(std::exchange(other.lock_, -1)) {}

LibraryFolder::~LibraryFolder() {
  if (!path_.empty()) removeAll(path_);
  if (lock_ >= 0) ::close(lock_);
}

llvm::Expected<LibraryFolder> LibraryFolder::create(llvm::StringRef destination) {
  LibraryFolder folder;
  folder.destination_ = destination.str();
  std::string target = destination.rtrim('/').str();
  if (target.empty()) return makeError("'" + destination + "' exists and is not a library");
  clearLeftovers(target);
  mode_t mode = 0;
  if (exists(target)) {
    char* resolved = ::realpath(target.c_str(), nullptr);
    if (resolved == nullptr) return cannotWrite(destination, errno);
    target = resolved;
    std::free(resolved);
    clearLeftovers(target);  // beside it, not beside a link to it
    if (llvm::Error error = checkReplaceable(target, destination)) return error;
    struct stat facts {};
    if (::stat(target.c_str(), &facts) == 0) mode = facts.st_mode & kPermissions;
  }
  folder.target_ = target;
  for (unsigned serial = 0;; ++serial) {
    std::string path = parentOf(target) + "/." + baseOf(target) + kBuildMark.str() +
                       std::to_string(::getpid()) + "-" + std::to_string(serial);
    if (::mkdir(path.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      return cannotWrite(destination, errno);
    }
    folder.lock_ = lockFolder(path);
    // Another build may see the folder before it is locked, and remove it as a leftover.
    if (folder.lock_ < 0 && (errno == EWOULDBLOCK || errno == ENOENT)) continue;
    if (folder.lock_ >= 0 && !isAt(folder.lock_, path)) {
      ::close(std::exchange(folder.lock_, -1));
      continue;
    }
    folder.path_ = std::move(path);
    break;
  }
  if (mode != 0 && ::chmod(folder.path_.c_str(), mode | S_IRWXU) != 0) {
    return cannotWrite(destination, errno);
  }
  const std::string files = folder.path_ + "/" + std::string(kLibraryFilesFolder);
  if (::mkdir(files.c_str(), 0777) != 0) return cannotWrite(destination, errno);
  return folder;
}

llvm::Error LibraryFolder::takeOldFiles(const std::set<std::string>& but) const {
  const std::string files(kLibraryFilesFolder);
  for (const std::string& name : namesIn(target_ + "/" + files)) {
    if (but.contains(name)) continue;
    const std::string from = target_ + "/" + files + "/" + name,
                      to = path_ + "/" + files + "/" + name;
    // Files of a library are never modified, so links are safe.
    if (::link(from.c_str(), to.c_str()) == 0) continue;
    const StatusOr<std::vector<std::byte>> bytes = readFile(from);
    if (!bytes.ok()) return toError(bytes.status());
    if (Status status = writeFileAtomically(to, *bytes); !status.ok()) return toError(status);
  }
  return llvm::Error::success();
}

llvm::Error LibraryFolder::writeLists(const std::string& manifest, LibraryIndex& index) const {
  const auto text = std::as_bytes(std::span(manifest.data(), manifest.size()));
  index.manifest_checksum = checksumOf(text);
  Status status = validate(index);
  if (status.ok()) status = writeFileAtomically(manifestPath(path_), text);
  if (status.ok()) status = writeFileAtomically(indexPath(path_), writeLibraryIndex(index));
  return toError(status);
}

llvm::Error LibraryFolder::publish() {
  if (!syncFolder(path_ + "/" + std::string(kLibraryFilesFolder)) || !syncFolder(path_)) {
    return cannotWrite(destination_, errno);
  }
  // Neither step overwrites an unknown folder: the target is a checked library, empty or absent.
  if (!exists(target_)) {
    if (std::rename(path_.c_str(), target_.c_str()) != 0) return cannotWrite(destination_, errno);
    path_.clear();
  } else if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) !=
             0) {
    if (errno != EINVAL && errno != ENOSYS) return cannotWrite(destination_, errno);
    std::string old = path_;
    old.replace(old.rfind(kBuildMark.str()), kBuildMark.size(), kOldMark.str());
    const bool moved = std::rename(target_.c_str(), old.c_str()) == 0;
    if (!moved || std::rename(path_.c_str(), target_.c_str()) != 0) {
      const int error = errno;
      if (moved) (void)std::rename(old.c_str(), target_.c_str());
      return cannotWrite(destination_, error);
    }
    path_ = std::move(old);
  }
  // `path_`, if it exists, is now the old library, and the destructor removes it.
  (void)syncFolder(parentOf(target_));
  return llvm::Error::success();
}

}  // namespace torc::compiler
