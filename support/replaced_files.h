// Which files are written anew beside the old one, and then renamed over it.
#ifndef TORC_SUPPORT_REPLACED_FILES_H_
#define TORC_SUPPORT_REPLACED_FILES_H_

#include <string>
#include <sys/stat.h>

namespace torc {

/// Whether `path` is a regular file, or nothing yet. Devices and pipes are to be written as they
/// are: a rename would put a file in their place. So would one over /dev/stdout that is redirected.
inline bool isReplaced(const std::string& path) {
  if (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) return false;
  struct stat facts {};
  return ::stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode);
}

}  // namespace torc

#endif  // TORC_SUPPORT_REPLACED_FILES_H_
