#include "runtime/run/tuned_copy.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "schedules/format/file.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

Status makeFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return {};
  return {StatusCode::kIo, message("cannot make the folder '", path, "': ", std::strerror(errno))};
}

/// Copies a file unchanged.
Status copyFile(const std::string& from, const std::string& to) {
  const StatusOr<std::vector<std::byte>> bytes = readFile(from);
  return bytes.ok() ? writeFileAtomically(to, *bytes) : bytes.status();
}

}  // namespace

StatusOr<TunedCopy> TunedCopy::create(const std::string& output) {
  std::string place = output;
  while (place.size() > 1 && place.back() == '/')
    place.pop_back();
  struct stat facts {};
  if (::lstat(place.c_str(), &facts) == 0) {
    return Status(StatusCode::kInvalidArgument,
                  message("'", place, "' exists already; name a new folder with --output"));
  }
  const std::size_t name = place.rfind('/') + 1;  // 0 without a slash
  TunedCopy copy(place, message(place.substr(0, name), '.', place.substr(name), ".torc-tune-",
                                static_cast<long>(::getpid())));
  if (Status status = makeFolder(copy.folder_); !status.ok()) {
    copy.folder_.clear();
    return status;
  }
  return copy;
}

TunedCopy::TunedCopy(TunedCopy&& other) noexcept
    : output_(std::move(other.output_)), folder_(std::exchange(other.folder_, {})) {}

TunedCopy::~TunedCopy() {
  std::error_code error;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
}

Status TunedCopy::publish(const std::string& folder, const LibraryIndex& index) {
  Status status = validate(index);
  if (status.ok()) status = copyFile(manifestPath(folder), manifestPath(folder_));
  if (status.ok()) status = makeFolder(libraryFilePath(folder_, ""));
  for (const LibraryFile& file : index.files) {
    if (!status.ok()) break;
    status = copyFile(libraryFilePath(folder, file.name), libraryFilePath(folder_, file.name));
  }
  if (status.ok()) status = writeFileAtomically(indexPath(folder_), writeLibraryIndex(index));
  if (!status.ok()) return status;
  if (std::rename(folder_.c_str(), output_.c_str()) != 0) {
    return {StatusCode::kIo,
            message("cannot rename '", folder_, "' to '", output_, "': ", std::strerror(errno))};
  }
  folder_.clear();
  return {};
}

}  // namespace torc::runtime
