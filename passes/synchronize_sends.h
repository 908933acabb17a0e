// synchronize-sends: sends for which something waits are complete when their messages are received.
//
// MPI may buffer a send, which is over at once then: what waits for it starts, and both share the
// link, each at half the speed. Where steps are made so that messages follow one another on a link,
// the first comes late, and what it is waited for at the other end with it.
#ifndef TORC_PASSES_SYNCHRONIZE_SENDS_H_
#define TORC_PASSES_SYNCHRONIZE_SENDS_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

struct SynchronizeSendsPass {
  auto operator<=>(const SynchronizeSendsPass&) const = default;
};

std::unique_ptr<Pass> makePass(const SynchronizeSendsPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_SYNCHRONIZE_SENDS_H_
