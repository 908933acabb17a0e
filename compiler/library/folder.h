// The folder of a library while it is made: it grows beside the one that it is to replace, and
// takes its place in one step, so that whenever a build ends, by whatever, the old library or the
// new one is there and whole.
#ifndef TORC_COMPILER_LIBRARY_FOLDER_H_
#define TORC_COMPILER_LIBRARY_FOLDER_H_

#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace torc::compiler {

class LibraryFolder {
 public:
  /// Makes an empty folder beside `destination`, and removes those that builds which were
  /// interrupted have left there. An error where `destination` is something else than a library or
  /// an empty folder, or where it cannot be written.
  static llvm::Expected<LibraryFolder> create(llvm::StringRef destination);

  LibraryFolder(LibraryFolder&& other);
  LibraryFolder& operator=(LibraryFolder&&) = delete;
  /// Removes the folder unless it has been published.
  ~LibraryFolder();

  /// Where the files go; has a folder kLibraryFilesFolder.
  const std::string& path() const { return path_; }

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
