// Files and stderr, as torc writes them in the processes of other people's programs.
#ifndef TORC_SUPPORT_FILES_H_
#define TORC_SUPPORT_FILES_H_

#include <csignal>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace torc {

/// Whether `path` is a regular file, or nothing yet. Devices and pipes are to be written as they
/// are: a rename would put a file in their place. So would one over /dev/stdout that is redirected.
bool isReplaced(const std::string& path);

/// While it lives, its thread writes without a signal: beyond the limit of a file's length a call
/// fails with EFBIG, and into a pipe without a reader with EPIPE. The program's handlers stay, and
/// so does a signal that was pending before. All of torc's writing goes through it.
class QuietWriting {
 public:
  QuietWriting();
  ~QuietWriting();
  QuietWriting(const QuietWriting&) = delete;
  QuietWriting& operator=(const QuietWriting&) = delete;

 private:
  sigset_t own_, mask_;  // signals that were not pending; the thread's mask
};

/// Writes all of it, quietly; false: errno says why not.
bool writeAll(int file, std::span<const std::byte> bytes);

/// Tells a person: whole lines, in one write where the program has not given stderr a buffer.
void writeToStderr(std::string_view lines);

/// Why a file could not be written, by errno: "No space left on device", or "File too large: files
/// may have 4096 bytes (ulimit -f)".
std::string writeFault(int error);

/// Why a write took a part of the bytes, up to `end` of the file: EFBIG or ENOSPC.
int shortWriteError(off_t end);

}  // namespace torc

#endif  // TORC_SUPPORT_FILES_H_
