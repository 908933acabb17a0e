// The folder of a library during a build: it grows beside the library that it replaces, and takes
// its place in one step. So after any interruption the old or the new library exists and is
// complete.
#ifndef TORC_COMPILER_LIBRARY_FOLDER_H_
#define TORC_COMPILER_LIBRARY_FOLDER_H_

#include <set>
#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "schedules/library/index.h"

namespace torc::compiler {

/// Excludes other changes of a library while this process reads and replaces it.
class LibraryLock {
 public:
  /// Waits for other holders. An error if the folder cannot be read. On a file system without
  /// locks, there is no exclusion.
  static llvm::Expected<LibraryLock> take(llvm::StringRef library);

  LibraryLock(LibraryLock&& other) noexcept;
  LibraryLock& operator=(LibraryLock&&) = delete;
  ~LibraryLock();

 private:
  explicit LibraryLock(int folder) : folder_(folder) {}
  int folder_;
};

class LibraryFolder {
 public:
  /// Makes an empty folder beside `destination`, and removes leftovers of interrupted builds. An
  /// error if `destination` is neither a library nor an empty folder, or if it cannot be written.
  static llvm::Expected<LibraryFolder> create(llvm::StringRef destination);

  LibraryFolder(LibraryFolder&& other) noexcept;
  LibraryFolder& operator=(LibraryFolder&&) = delete;
  /// Removes the folder unless it has been published.
  ~LibraryFolder();

  /// The folder for the files; has a folder kLibraryFilesFolder.
  const std::string& path() const { return path_; }

  /// Links the files of the library at the destination into the folder, except those in `but`.
  llvm::Error takeOldFiles(const std::set<std::string>& but) const;

  /// Writes the manifest and the index, and sets the manifest's checksum in the index. Errors: the
  /// index is inconsistent, or they cannot be written.
  llvm::Error writeLists(const std::string& manifest, LibraryIndex& index) const;

  /// Moves the folder to the destination and removes the previous library.
  llvm::Error publish();

 private:
  LibraryFolder() = default;

  std::string destination_;  // as the user wrote it
  std::string target_;       // its path without symbolic links
  std::string path_;
  int lock_ = -1;  // lock on `path_`, which shows other builds that this one is active
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_FOLDER_H_
