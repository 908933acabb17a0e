// Writes statistics without waiting and without partial lines; an error is one line.
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/pmpi/statistics/statistics.h"
#include "support/files.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

/// 0, or the error.
int writeOnce(int file, const std::string& text) {
  const QuietWriting quiet;
  ssize_t written = 0;
  do
    written = ::write(file, text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written < 0) return errno;
  if (static_cast<std::size_t>(written) == text.size()) return 0;
  // Undone, unless another process has already written behind it.
  const off_t end = ::lseek(file, 0, SEEK_CUR);
  struct stat now {};
  if (end >= written && ::fstat(file, &now) == 0 && now.st_size == end &&
      ::ftruncate(file, end - written) != 0) {
    return errno;
  }
  return end < 0 ? EAGAIN : shortWriteError(end);  // a pipe whose reader is too slow
}

/// Writes to an open file descriptor, and closes it.
Status writeTo(const std::string& file, int out, const std::string& text) {
  int error = out < 0 ? errno : writeOnce(out, text);
  if (out >= 0 && ::close(out) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  return {StatusCode::kIo, message("TORC_STATS: cannot write ", file, ": ", writeFault(error))};
}

}  // namespace

Status writeStatistics(const std::string& table, const std::string& file) {
  if (!file.empty()) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    return writeTo(file, ::open(file.c_str(), kFlags, 0666), table);
  }
  writeToStderr(table);
  return {};
}

Status appendLine(const std::string& line, const std::string& file) {
  // A pipe without a reader is an error, not a reason to wait.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK;
  int out = ::open(file.c_str(), kFlags);
  // In a folder like /tmp, Linux allows only the owner to open a file with O_CREAT.
  if (out < 0 && errno == ENOENT) out = ::open(file.c_str(), kFlags | O_CREAT, 0666);
  return writeTo(file, out, line);
}

}  // namespace torc::runtime::pmpi
