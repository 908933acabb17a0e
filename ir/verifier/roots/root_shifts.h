// Root shifts: the axes along which the root's coordinate makes no difference. A schedule around
// damage has absolute boxes, near the dead nodes and links, and boxes relative to the root, so that
// each position of the root gives another arrangement. But if the absolute boxes are in one plane,
// or lead into it, and the others are outside, the proof for one coordinate of the root is valid
// for all.
//
// Let W be the plane x_k = w on an axis k, and O all other nodes. Let r, r' be two roots in O that
// differ only in their coordinate on another axis j, by d. Only W has dead nodes or links. Blocks
// and frames are `*` on j. For the operations that some node executes for r,
//   (a) those in W are absolute, or `*`, on j;
//   (b) those in O count from the root, or are `*`, on j; or they are *crossings*, X: absolute on
//       j, and messages between O and W, or in a reduction additions. All messages between O and W
//       are crossings, of one hop, those in O sends in a broadcast, receives in a reduction.
//       Additions of data received by a crossing may be `*` on j.
//   (c) those on nodes of both are *common*: `*` on j, they wait for common ones alone, and share
//       no stream with others.
//   (d) within a segment no other operation of O waits for a crossing in a broadcast, and no
//       crossing for another of O in a reduction.
//   (e) a crossing and another operation of O of the same memory, one of which writes it, are in an
//       order of dependences, unless their guards are disjoint on axes on which the root does not
//       move.
// Then the operations executed in W are the same for r and r'. Those in O, except crossings, are
// moved by d along j, as the ring has no other mark. So a proof for r is one for r':
// - Matching: crossings are the same, messages in O are moved, those in W the same.
// - Progress: dependences lead to the same segment or a later one, messages to the same; so a cycle
//   is within one segment. By (d) it is in O without crossings, or in W with these: as for r.
// - Races: of two crossings, or in W, the same; of two others in O moved; of both kinds by (e).
// - Meaning: in a broadcast, by (d) and (e) crossings read data written by the others in O, which
//   are moved. In a reduction a crossing adds before others of O. So these move the sum of a node
//   with its data from W, the same for r and r', instead of the node's own contribution; each of
//   these arrives once, as for r.
// Dependences through operations that a node does not execute count too.
#ifndef TORC_IR_VERIFIER_ROOTS_ROOT_SHIFTS_H_
#define TORC_IR_VERIFIER_ROOTS_ROOT_SHIFTS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "schedules/box.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Pairs of operations of the same memory, one of which writes it, that no dependences order.
/// `in_place`: `in` and `out` count as one.
using Conflicts = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
Conflicts conflictsOf(const ScheduleView& schedule, bool in_place);

class RootShifts {
 public:
  /// `schedule`, whose tables must outlive this, has no loops; each segment has
  /// `operations_per_segment` of its operations.
  RootShifts(const ScheduleView& schedule, std::uint32_t operations_per_segment);

  /// Whether the proof for a root holds for all roots that differ from it on `axis`, given
  /// `active`, the operations that some node executes. If `is_fixed`, the root is at `root`.
  bool isFree(std::uint32_t axis, llvm::ArrayRef<std::uint32_t> active,
              const std::array<bool, kMaxAxes>& is_fixed, const Coordinates& root);

 private:
  bool isSeparated(std::uint32_t axis, llvm::ArrayRef<std::uint32_t> active, std::uint32_t across,
                   std::uint32_t plane, const std::array<bool, kMaxAxes>& is_fixed,
                   const Coordinates& root);

  const ScheduleView& schedule_;
  const std::uint32_t per_segment_;
  std::optional<Conflicts> conflicts_;  // nothing until needed
};

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_ROOTS_ROOT_SHIFTS_H_
