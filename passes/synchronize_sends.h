// synchronize-sends: sends that other operations wait for are complete when their messages are
// received.
//
// MPI may buffer a send, which is then complete at once: its dependants start, and both share the
// link, each at half the speed. In steps designed for one message after another on a link, the
// first then arrives late, and delays its dependants at the other end.
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
