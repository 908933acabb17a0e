// How statistics are written: nothing waits, nothing is torn, and a fault is one line.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/pmpi/statistics/statistics_lines.h"
#include "support/files.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

Status cannotWrite(const std::string& file, int error) {
  return {StatusCode::kIo, message("TORC_STATS: cannot write ", file, ": ", writeFault(error))};
}

/// 0, or the error.
int writeOnce(int file, const std::string& text) {
  const QuietWriting quiet;
  ssize_t written = 0;
  do
    written = ::write(file, text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written < 0) return errno;
  if (static_cast<std::size_t>(written) == text.size()) return 0;
  // Taken back, unless somebody has already written behind it.
  const off_t end = ::lseek(file, 0, SEEK_CUR);
  struct stat now {};
  if (end >= written && ::fstat(file, &now) == 0 && now.st_size == end &&
      ::ftruncate(file, end - written) != 0) {
    return errno;
  }
  return end < 0 ? EAGAIN : shortWriteError(end);  // a pipe that is read too slowly
}

/// 0, or the error; closes the file.
int writeAndClose(int file, const std::string& text) {
  const int written = writeOnce(file, text);
  const int closed = ::close(file) == 0 ? 0 : errno;
  return written != 0 ? written : closed;
}

}  // namespace

Status writeStatistics(const std::string& table, const std::string& file) {
  if (file.empty()) {
    writeToStderr(table);
    return {};
  }
  const QuietWriting quiet;
  std::FILE* out = std::fopen(file.c_str(), "w");
  bool good = out != nullptr && std::fwrite(table.data(), 1, table.size(), out) == table.size();
  if (out != nullptr) good = std::fclose(out) == 0 && good;
  return good ? Status() : cannotWrite(file, errno);
}

Status appendLine(const std::string& line, const std::string& file) {
  // A pipe without a reader is a fault, not something to wait for.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK;
  int out = ::open(file.c_str(), kFlags);
  // In a folder like /tmp, Linux lets no one but the owner open a file that he might have to make.
  if (out < 0 && errno == ENOENT) out = ::open(file.c_str(), kFlags | O_CREAT, 0666);
  const int error = out < 0 ? errno : writeAndClose(out, line);
  return error == 0 ? Status() : cannotWrite(file, error);
}

}  // namespace torc::runtime::pmpi
