// What the programs of figures share: the end after a fault, with one line, and CSV files.
#ifndef TORC_STUDIES_PAPERS_FIGURES_H_
#define TORC_STUDIES_PAPERS_FIGURES_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <llvm/Support/Error.h>

namespace torc::studies {

[[noreturn]] inline void quit(const std::string& message) {
  std::fprintf(stderr, "figures: %s\n", message.c_str());
  std::exit(1);
}

/// The value, or the end.
template <typename T>
T take(llvm::Expected<T> value) {
  if (!value) quit(llvm::toString(value.takeError()));
  return std::move(*value);
}

/// FOLDER/NAME.csv.
class CsvFile {
 public:
  CsvFile(const std::string& folder, const std::string& name)
      : path_(folder + "/" + name + ".csv"), file_(std::fopen(path_.c_str(), "w")) {
    if (file_ == nullptr) quit(path_ + ": cannot be written");
  }
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;
  /// A disk may be full only now.
  ~CsvFile() {
    if (std::fclose(file_) != 0) quit(path_ + ": cannot be written");
  }
  operator std::FILE*() const { return file_; }

 private:
  const std::string path_;
  std::FILE* const file_;
};

}  // namespace torc::studies

#endif  // TORC_STUDIES_PAPERS_FIGURES_H_
