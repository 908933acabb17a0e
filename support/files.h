// Files and stderr: output from within other programs' processes.
#ifndef TORC_SUPPORT_FILES_H_
#define TORC_SUPPORT_FILES_H_

#include <csignal>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace torc {

/// Whether a file at `path` is replaced by a rename: a regular file, or none yet. Devices and pipes
/// are written directly: a rename would replace them by a file. So would one over a redirected
/// /dev/stdout.
bool isReplaced(const std::string& path);

/// While an object lives, its thread writes without signals: beyond the limit of a file's length a
/// call fails with EFBIG, and into a pipe without a reader with EPIPE. The program's handlers stay,
/// and so do pending signals. All output of torc uses it.
class QuietWriting {
 public:
  QuietWriting();
  ~QuietWriting();
  QuietWriting(const QuietWriting&) = delete;
  QuietWriting& operator=(const QuietWriting&) = delete;

 private:
  sigset_t own_, mask_;  // signals that were not pending; the thread's mask
};

/// Writes all bytes without signals; false: see errno.
bool writeAll(int file, std::span<const std::byte> bytes);

/// Prints whole lines, in one write if the program has not given stderr a buffer.
void writeToStderr(std::string_view lines);

/// The text of a write error by errno: "No space left on device", or "File too large: files may
/// have 4096 bytes (ulimit -f)".
std::string writeFault(int error);

/// The reason of a short write up to `end` of the file: EFBIG or ENOSPC.
int shortWriteError(off_t end);

}  // namespace torc

#endif  // TORC_SUPPORT_FILES_H_
