// The pieces of the text form that printer, messages and parser share: boxes, shifts, guards,
// regions and operations. Grammar: docs/developers/ir.md.
#ifndef TORC_IR_TEXT_FORMAT_H_
#define TORC_IR_TEXT_FORMAT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/raw_ostream.h>

#include "schedules/schedule.h"

namespace torc::ir {

/// A promise of a schedule, and its flag.
struct PromiseName {
  std::string_view name;
  std::uint32_t flag = 0;
};
inline constexpr PromiseName kPromises[] = {
    {"conflict-free-phases", kConflictFreePhases},
    {"ordered-sums", kOrderedSums},
};

template <typename Kind>
std::vector<llvm::StringRef> namesOf(int count) {
  std::vector<llvm::StringRef> names;
  for (int i = 0; i < count; ++i)
    names.push_back(name(static_cast<Kind>(i)));
  return names;
}

/// The coordinate of the executing node along an axis: `x` for axis X.
char coordinateName(const Axis& axis);

/// In quotes, with \" \\ and \xHH for bytes that are not printable ASCII.
void printQuoted(std::string_view text, llvm::raw_ostream& out);

/// The shortest decimal that reads back as the same double.
void printDouble(double value, llvm::raw_ostream& out);

/// The variable of a loop over peers along an axis: i, j, k, ...
char shiftName(std::uint32_t axis);

/// On axis number `axis`: `*`, `5`, `5:3`, `x`, `x-1:2`, `x+i`, `x-i+1`; in loops `x-2-i:1+2*i`.
void printInterval(const Topology& topology, std::uint32_t axis, const Interval& interval,
                   llvm::raw_ostream& out);

/// Iterations of loops: `i-1`, `last`, `(i, last-1)`.
void printIterations(const Iterations& iterations, llvm::raw_ostream& out);

/// `(x+1, *, 0:2)`.
void printBox(const Topology& topology, const Box& box, llvm::raw_ostream& out);

/// `X+1 Y-2`, or `self`.
void printShift(const Topology& topology, const Shift& shift, llvm::raw_ostream& out);

/// `X+i Y+j for i in -1..2, j in 0..3 except 0 0 shuffled window 32`, of a send; `X-i Y-j ...` of a
/// receive.
void printPeerLoop(const Topology& topology, const PeerLoop& peers, bool sent,
                   llvm::raw_ostream& out);

/// `x in 1..6, y = 0`; `*` where the guard admits every node.
void printGuard(const Topology& topology, const Box& guard, llvm::raw_ostream& out);

/// `p2`, or `p2:3` for p2, p3 and p4.
void printParts(const Piece& piece, llvm::raw_ostream& out);

/// `p0 (x+1, *), (x+2, *), p1:2 (x, *)`, the blocks of a frame; with `comma`, as in a region, a
/// comma follows the parts too.
void printPieces(const ScheduleView& schedule, const PieceList& pieces, bool comma,
                 llvm::raw_ostream& out);

/// `out[p2, (x+1, *, *)]`, `out[p2:2, (x+1, *, *), (x+2, *, *)]`; in scratch `f3[(x+1, *, *)]` if
/// frame and region are a box of the same part, `f3[*]` for all of a frame of pieces.
void printRegion(const ScheduleView& schedule, const Region& region, llvm::raw_ostream& out);

/// `%17 = send out[p2, (x+1, *, *)] to X+1 after %15`.
void printOperation(const ScheduleView& schedule, std::uint32_t operation, llvm::raw_ostream& out);

}  // namespace torc::ir

#endif  // TORC_IR_TEXT_FORMAT_H_
