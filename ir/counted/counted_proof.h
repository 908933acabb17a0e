// The proof for one count: the flat programs of all ranks, as expansion makes them, are run
// together, message by message and element by element. So what the runtime executes is what is
// looked at; nothing of the proof for all counts (ir/verifier) is used.
//
// What is checked:
//
// - messages  both ends have the same ranks, tag and length; no two of a pair of ranks have one tag
// - progress  every operation completes although no message is buffered
// - races     of two operations of a rank that touch the same element, one of them writing, one
//             depends on the other; so any other order gives the same result
// - meaning   every element of every rank's result has exactly the contributions demanded, once
//
// A contribution is a 64-bit number drawn for its rank and element; sums are modulo 2^64. That a
// wrong set of contributions has the right sum has a chance of 2^-64 per element.
#ifndef TORC_IR_COUNTED_COUNTED_PROOF_H_
#define TORC_IR_COUNTED_COUNTED_PROOF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/expansion/expand.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc::ir {

/// Memory of a counted proof, at most: programs, vectors and messages that wait, in bytes.
inline constexpr std::uint64_t kMaxCountedBytes = 4ull << 30;
/// Elements that operations read and write, on all ranks, at most.
inline constexpr std::uint64_t kMaxCountedElements = 20'000'000'000;

struct CountedResult {
  std::string fault;  // empty: proved
  std::uint64_t messages = 0;
  std::uint64_t elements = 0;  // read and written
};

/// Runs `programs`, one per rank of `topology`, of a call with `count` (as in Counts) of
/// `collective`, from the root that they were expanded for, where it has one. With
/// `in_place` the buffers lie as MPI_IN_PLACE has them. At least one rank.
CountedResult proveCounted(Collective collective, const Topology& topology,
                           const std::vector<FlatProgram>& programs, std::uint64_t count,
                           bool in_place);

/// Expands all ranks of `schedule`, which has passed `validate`, for the root 0 where the
/// collective has one, and proves them, not in place and, where buffers then lie otherwise, in
/// place. An error where it would take more than the limits above, and where expansion fails.
StatusOr<CountedResult> proveCounted(const ScheduleView& schedule, std::uint64_t count);

}  // namespace torc::ir

#endif  // TORC_IR_COUNTED_COUNTED_PROOF_H_
