// stagger-chunks: lets chunks of a part that are sent at the same time begin one start-up apart.
//
// While a message starts, its link is idle. Two chunks of every part, each with one message on a
// link at a time, fill these pauses, but only if they do not move in step: messages of one size
// that begin together share the link evenly, end together, and start together again, at every node
// they come to. So nodes signal each other once, which takes as long as a start-up. Sends of the
// second chunk wait for the signal, those of the third for another signal after it, and so on. At
// the data's source the second chunk begins when the first message has started, and stays behind
// it.
#ifndef TORC_PASSES_PIPELINING_STAGGER_CHUNKS_H_
#define TORC_PASSES_PIPELINING_STAGGER_CHUNKS_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

struct StaggerChunksPass {
  auto operator<=>(const StaggerChunksPass&) const = default;
};

/// Whether the nodes of `schedule` can signal each other: some axis has rings, and these do
/// not count as lines. Broken signals are dropped.
bool canStagger(const ScheduleView& schedule);

std::unique_ptr<Pass> makePass(const StaggerChunksPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_PIPELINING_STAGGER_CHUNKS_H_
