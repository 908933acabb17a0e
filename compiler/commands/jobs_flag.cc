// The option --jobs.
#include <algorithm>
#include <thread>

#include "compiler/commands/commands.h"

namespace torc::compiler {

unsigned threadsOf(const options::Integer& jobs) {
  return jobs.isGiven() ? static_cast<unsigned>(jobs)
                        : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace torc::compiler
