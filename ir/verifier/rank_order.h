// The order of ranks: which come before which, and sums of those before a rank. Where sums are
// promised to be ordered, the contributions to `a` of dst = a + b are of ranks before those to `b`.
#ifndef TORC_IR_VERIFIER_RANK_ORDER_H_
#define TORC_IR_VERIFIER_RANK_ORDER_H_

#include "ir/verifier/facts.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Whether as seen from every one of `nodes` every rank of `a` comes before every one of `b`: along
/// some axis all of `a` lie below all of `b`, and along those that vary slower than it none above
/// any. False, too, where an axis follows the block.
bool comesBefore(const Spans& a, const Spans& b, const Ranges& nodes, const Topology& topology);

/// The ranks before each of `nodes`, and that node where it is `included`: disjoint places, with
/// ranks for blocks, dead ones among them.
llvm::SmallVector<Place, 4> ranksUpTo(const Ranges& nodes, bool included, const Topology& topology);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_RANK_ORDER_H_
