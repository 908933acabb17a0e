// --jobs.
#include <algorithm>
#include <thread>

#include "compiler/commands/commands.h"
#include "ir/make_error.h"

namespace torc::compiler {

llvm::Expected<unsigned> readJobs(const llvm::cl::opt<std::string>& jobs) {
  if (jobs.getNumOccurrences() == 0) return std::max(1u, std::thread::hardware_concurrency());
  unsigned count = 0;
  if (!llvm::StringRef(jobs).getAsInteger(10, count) && count >= 1 && count <= 1024) return count;
  return makeError("--jobs takes an integer from 1 to 1024, not '" + jobs + "'");
}

}  // namespace torc::compiler
