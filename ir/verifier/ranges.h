// Algebra of absolute boxes (Ranges, of nodes; BlockRanges): intersection, difference, union,
// shift. All of it cyclic: two ranges of a ring can meet in two places.
#ifndef TORC_IR_VERIFIER_RANGES_H_
#define TORC_IR_VERIFIER_RANGES_H_

#include <llvm/ADT/SmallVector.h>

#include "schedules/block_axes.h"
#include "schedules/box.h"

namespace torc::ir {

using RangesList = llvm::SmallVector<Ranges, 4>;
using BlockRangesList = llvm::SmallVector<BlockRanges, 4>;

/// The common coordinates of two ranges: up to two ranges.
llvm::SmallVector<Range, 2> intersect(const Range& a, const Range& b, std::uint32_t size);
/// The coordinates of `a` that are not in `b`: up to two ranges.
llvm::SmallVector<Range, 2> subtract(const Range& a, const Range& b, std::uint32_t size);
/// Joins `b` to `a` where they are disjoint and touch; false otherwise.
bool join(Range& a, const Range& b, std::uint32_t size);

/// On boxes of nodes, and of blocks.
bool overlaps(const Ranges& a, const Ranges& b, const Topology& topology);
bool overlaps(const BlockRanges& a, const BlockRanges& b, const BlockAxes& axes);
void intersect(const Ranges& a, const Ranges& b, const Topology& topology, RangesList& out);
void intersect(const BlockRanges& a, const BlockRanges& b, const BlockAxes& axes,
               BlockRangesList& out);
/// Appends what is left of `a` without `b` as disjoint boxes.
void subtract(const Ranges& a, const Ranges& b, const Topology& topology, RangesList& out);
void subtract(const BlockRanges& a, const BlockRanges& b, const BlockAxes& axes,
              BlockRangesList& out);

/// The same of boxes of nodes, whose axes the blocks have.
void subtract(const Ranges& a, const Ranges& b, const BlockAxes& axes, RangesList& out);

/// `range` moved by `distance` along an axis of `size`; a full range stays as it is.
Range shifted(const Range& range, std::int64_t distance, std::uint32_t size);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_RANGES_H_
