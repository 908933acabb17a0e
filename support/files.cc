// Files: signals are blocked only in the writing thread, which would receive them.
#include "support/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/message.h"

namespace torc {
namespace {

rlim_t longestFile() {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  return limit.rlim_cur;
}

}  // namespace

bool isReplaced(const std::string& path) {
  if (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) return false;
  struct stat facts {};
  return ::stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode);
}

QuietWriting::QuietWriting() {
  sigset_t pending;
  sigemptyset(&own_);
  sigemptyset(&pending);
  ::sigpending(&pending);
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    if (sigismember(&pending, signal) == 0) sigaddset(&own_, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &own_, &mask_);
}

QuietWriting::~QuietWriting() {
  const int error = errno;
  const timespec now{};
  while (::sigtimedwait(&own_, nullptr, &now) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  errno = error;
}

bool writeAll(int file, std::span<const std::byte> bytes) {
  const QuietWriting quiet;
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

void writeToStderr(std::string_view lines) {
  const QuietWriting quiet;
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

std::string writeFault(int error) {
  if (error != EFBIG) return std::strerror(error);
  return message(std::strerror(error), ": files may have ", longestFile(), " bytes (ulimit -f)");
}

int shortWriteError(off_t end) {
  return static_cast<rlim_t>(end) >= longestFile() ? EFBIG : ENOSPC;
}

}  // namespace torc
