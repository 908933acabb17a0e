// The order of ranks: which come before which, and sums of those before a rank. Where sums are
// promised to be ordered, the contributions to `a` of dst = a + b are of ranks before those to `b`.
#ifndef TORC_IR_VERIFIER_RANK_ORDER_H_
#define TORC_IR_VERIFIER_RANK_ORDER_H_

#include "ir/verifier/cells/span.h"
#include "ir/verifier/ranges.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Whether every rank of `a` comes before every one of `b`: along the axis that varies slowest of
/// those on which they are not one and the same coordinate, all of `a` lie below all of `b`.
bool comesBefore(const Ranges& a, const Ranges& b, const Topology& topology);

/// Whether that is so as seen from every one of `nodes`, and for the same axis. False, too, where
/// an axis follows the block.
bool comesBefore(const Spans& a, const Spans& b, const Ranges& nodes, const Topology& topology);

/// The ranks before the node at `at`, and that node where it is `included`, as disjoint boxes of
/// sites, dead ones among them.
RangesList ranksUpTo(const Coordinates& at, bool included, const Topology& topology);

/// The same for all `nodes`, as they see it. Empty where there are none for any of them; false
/// where one list of spans does not say it.
bool ranksUpTo(const Ranges& nodes, bool included, const Topology& topology,
               llvm::SmallVectorImpl<Spans>& ranks);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_RANK_ORDER_H_
