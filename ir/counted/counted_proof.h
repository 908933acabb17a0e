// The proof for one count: the expanded programs of all ranks run together, message by message and
// element by element. So it checks exactly the operations that the runtime executes; it shares
// nothing with the proof for all counts (ir/verifier).
//
// It checks:
//
// - messages  both ends have the same ranks, tag and length; the messages of a pair of ranks
//             have different tags
// - progress  every operation completes although no message is buffered
// - races     of two operations of a rank that touch the same element, one of them writing, one
//             depends on the other; so any other order gives the same result
// - meaning   every element of every rank's result has exactly the contributions demanded, once
//
// A contribution is a 64-bit number drawn for its rank and element; sums are modulo 2^64. A wrong
// set of contributions has the right sum with a probability of 2^-64 per element.
#ifndef TORC_IR_COUNTED_COUNTED_PROOF_H_
#define TORC_IR_COUNTED_COUNTED_PROOF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/expansion/expand.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc::ir {

/// Most memory of a counted proof: programs, vectors and waiting messages, in bytes.
inline constexpr std::uint64_t kMaxCountedBytes = 4ull << 30;
/// Most elements that operations read and write, on all ranks.
inline constexpr std::uint64_t kMaxCountedElements = 20'000'000'000;

struct CountedResult {
  std::string fault;  // empty: proved
  std::uint64_t messages = 0;
  std::uint64_t elements = 0;  // read and written
};

/// Runs `programs`, one per rank of `topology`, for a call of `collective` with `count` (as in
/// Counts) and the root that they were expanded for. With `in_place` the buffers overlap as for
/// MPI_IN_PLACE. At least one rank.
CountedResult proveCounted(Collective collective, const Topology& topology,
                           const std::vector<FlatProgram>& programs, std::uint64_t count,
                           bool in_place);

/// Expands all ranks of `schedule`, which has passed `validate`, for root 0 and proves them: not in
/// place and, if that changes the buffers, in place. Errors: the limits above, and failures of
/// expansion.
StatusOr<CountedResult> proveCounted(const ScheduleView& schedule, std::uint64_t count);

}  // namespace torc::ir

#endif  // TORC_IR_COUNTED_COUNTED_PROOF_H_
