// The folder of a library while it is made: it grows beside the one that it is to replace, and
// takes its place in one step, so that whenever a build ends, by whatever, the old library or the
// new one is there and whole.
#ifndef TORC_COMPILER_LIBRARY_FOLDER_H_
#define TORC_COMPILER_LIBRARY_FOLDER_H_

#include <set>
#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "schedules/library/index.h"

namespace torc::compiler {

/// Keeps others that change a library from doing so while this one reads and replaces it.
class LibraryLock {
 public:
  /// Waits for those that have it. An error where the folder cannot be read. Where the file system
  /// knows no locks nobody is kept off.
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
  /// Makes an empty folder beside `destination`, and removes those that builds which were
  /// interrupted have left there. An error where `destination` is something else than a library or
  /// an empty folder, or where it cannot be written.
  static llvm::Expected<LibraryFolder> create(llvm::StringRef destination);

  LibraryFolder(LibraryFolder&& other) noexcept;
  LibraryFolder& operator=(LibraryFolder&&) = delete;
  /// Removes the folder unless it has been published.
  ~LibraryFolder();

  /// Where the files go; has a folder kLibraryFilesFolder.
  const std::string& path() const { return path_; }

  /// Gives it the files of the library at the destination, which keeps them, but for those.
  llvm::Error takeOldFiles(const std::set<std::string>& but) const;

  /// Writes the manifest and the index, which gets the manifest's checksum. Errors: the index makes
  /// no sense, or they cannot be written.
  llvm::Error writeLists(const std::string& manifest, LibraryIndex& index) const;

  /// Puts the folder in the place of the destination and removes the library that was there.
  llvm::Error publish();

 private:
  LibraryFolder() = default;

  std::string destination_;  // as the user calls it
  std::string target_;       // where it is, without symbolic links
  std::string path_;
  int lock_ = -1;  // holds a lock on `path_`, by which other builds know that this one lives
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_FOLDER_H_
