// Structural validation: the invariants that must hold before any index of a schedule is
// dereferenced. It runs once when a schedule is loaded or parsed; then the schedule is expanded and
// executed unchecked.
//
// The invariants:
//   header      the collective is known, no unknown flag; the topology is valid; `name` is an
//               identifier, `producer` printable; there are at most kMaxParts parts
//   graph       links as validateGraph (topology/graph.h) says; then no loops over peers, no
//               promise of axes, no collective of neighbours
//   segments    1 to kMaxSegments, all of them with at most kMaxSegmentedOperations operations,
//               frames and pieces each, and 8 times as many dependences; the
//               window is 1 to kMaxSegmentsBefore, 1 of one segment; no piece of several parts
//   colors      weight >= 1, the weights' sum fits 63 bits; 1 or 2 directions; every axis once
//   indices     every index (stream, part, box, piece, frame, slot, shift, guard) is in range;
//               there are no more slots than frames
//   pieces      one part or more, all of which exist; a list has two pieces, or parts; all lists of
//               frames and of regions name, counted at every use, at most 16 pieces for each
//               operation, piece and frame and 4096, and 1024 parts for each and kMaxParts, but no
//               more than kMaxNamedParts
//   intervals   1 <= length <= size, or `*` with start and length 0; an absolute start is inside
//               the axis, and on a mesh the end too
//   shifts      |shift| < size on every axis, not all 0
//   pairs       of boxes that exist; where blocks are of pairs, and nowhere else
//   loops       at least one operation, of one phase; nested, kMaxLoopDepth at most, or disjoint;
//               all iterations with at most mostLoopOperations operations in the segments of a
//               proof, kMaxLoopOperations in all, 4 times as many pieces and 8 times as many
//               dependences; operations wait for earlier iterations of loops around both; boxes
//               depend on counters of loops around their operation, a frame's around all its
//               users; no loops over peers inside; every rule for an operation holds in every
//               iteration
//   peer loops  1 to size shifts on every axis, as far as shifts go, not the origin alone; the
//               torus is not damaged; operations have at most kMaxPeerLoopMessages messages of
//               them in all; the messages of a stream are all of one; no reductions, no root; the
//               guard does not restrict an axis of the shifts; intervals count from the peer on
//               their side
//   order       phases ascend; the dependences of operation i follow those of operation i-1 in
//               their table, name operations above i, or any of an earlier segment, ascend
//   operation   has a peer exactly when it communicates, the regions its kind asks for and no
//               others; does not reduce where the collective does not; never writes `in`
//   guard       absolute
//   mesh        peer, regions and frames of an operation lie inside for all nodes that its guard
//               admits
//   dead nodes  are no peer of a live one that executes the operation
//   regions     of the part that the operation's stream serves, where that is one; all of an
//               operation name the same blocks, piece by piece; in an own-block buffer only the own
//               one
//   scratch     each piece of a region lies inside one of its frame, whose parts it has, and is
//               found there in a bounded multiple of the schedule's size; the data
//               received by a recv_reduce fills its frame, in a slot of its own; two regions of an
//               operation in one slot are in one frame
//   canonical   reserved bytes, and fields that have no meaning where they stand, are at their
//               defaults
// Intervals are compared as the nodes of the guard see them: a length equal to the size is `*`,
// starts count modulo the size, and where the guard fixes the coordinate a relative start is an
// absolute one.
//
// Not checked here: the pieces of a list are disjoint, and the schedule computes its collective
// (ir/verifier/verifier.h).
#ifndef TORC_SCHEDULES_VALIDATION_VALIDATE_H_
#define TORC_SCHEDULES_VALIDATION_VALIDATE_H_

#include <cstddef>
#include <cstdint>

#include "schedules/fields.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc {

inline constexpr std::uint64_t kMaxNamedParts = 1u << 26;
/// Limit for all operations together, on one rank: enough for two-phase schedules on a million
/// nodes.
inline constexpr std::uint64_t kMaxPeerLoopMessages = 1u << 22;
inline constexpr std::uint32_t kMaxSegments = 1u << 20;
/// Limit for all segments together: the operations that one rank may have to run, or to keep in a
/// persistent plan.
inline constexpr std::uint64_t kMaxSegmentedOperations = 1u << 22;
/// Limit for all iterations of loops together.
inline constexpr std::uint64_t kMaxLoopOperations = kMaxSegmentedOperations;
/// Limit for the segments of a proof, with loops unrolled: a base for small schedules on small
/// machines, plus an amount for each of its records and for a long axis.
std::uint64_t mostLoopOperations(const ScheduleView& schedule);
inline constexpr std::size_t kMaxNameLength = 255;
inline constexpr std::size_t kMaxProducerLength = 65535;

/// Ok, or the first fault: `operation 17: stream 9 does not exist (schedule has
/// 6)`.
Status validate(const ScheduleView& schedule);

}  // namespace torc

#endif  // TORC_SCHEDULES_VALIDATION_VALIDATE_H_
