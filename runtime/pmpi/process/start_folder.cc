// Start folder: read when the library is loaded, before the program's first statement.
#include "runtime/pmpi/process/start_folder.h"

#include <unistd.h>

namespace torc::runtime::pmpi {
namespace {

const char* start_folder = nullptr;

[[gnu::constructor]] void rememberStart() {
  start_folder = getcwd(nullptr, 0);
}

}  // namespace

std::string fromStart(const std::string& path) {
  if (path.empty() || path.front() == '/' || start_folder == nullptr) return path;
  return std::string(start_folder) + '/' + path;
}

}  // namespace torc::runtime::pmpi
