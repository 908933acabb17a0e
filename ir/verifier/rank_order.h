// The order of ranks: comparisons, and the set of ranks before a rank. If sums are promised to be
// ordered, the contributions to `a` of dst = a + b are from ranks before those of `b`.
#ifndef TORC_IR_VERIFIER_RANK_ORDER_H_
#define TORC_IR_VERIFIER_RANK_ORDER_H_

#include "ir/verifier/facts.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Whether for every one of `nodes` every rank of `a` comes before every rank of `b`: along some
/// axis all of `a` are below all of `b`, and along slower axes none is above any. False also if an
/// axis follows the block.
bool comesBefore(const Spans& a, const Spans& b, const Ranges& nodes, const Topology& topology);

/// The ranks before each of `nodes`, and that node if `included`: disjoint places, with ranks in
/// place of blocks, dead ones included.
llvm::SmallVector<Place, 4> ranksUpTo(const Ranges& nodes, bool included, const Topology& topology);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_RANK_ORDER_H_
