// Shared by the files of rule 3: conflicts, and the work of the proof.
#ifndef TORC_IR_VERIFIER_RACES_RACES_H_
#define TORC_IR_VERIFIER_RACES_RACES_H_

#include <cstdint>
#include <vector>

#include "ir/verifier/rule_context.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// An operation that touches a region.
struct Use {
  std::uint32_t operation = 0;
  bool writes = false;
  const Region* region = nullptr;
};

/// Two uses of the same memory, one of them writing, the first further up.
struct Conflict {
  std::uint32_t first = 0, second = 0;  // operations, first < second
  const Region* first_region = nullptr;
  const Region* second_region = nullptr;
};

// The proof is refused beyond this many steps of a few nanoseconds, or conflicts of 24 bytes.
inline constexpr std::uint64_t kMaxRaceSteps = 1'000'000'000;
inline constexpr std::uint64_t kMaxConflicts = 8'000'000;

struct RaceProof {
  VerifyContext& context;
  std::uint64_t steps = 0;
  std::vector<Conflict> conflicts = {};

  bool tooMuch() const { return steps > kMaxRaceSteps || conflicts.size() > kMaxConflicts; }
};

/// Whether two intervals share a block on every coordinate, or on none.
inline bool sameView(const Interval& a, const Interval& b) {
  return a.kind == b.kind || a.kind == IntervalKind::kAll || b.kind == IntervalKind::kAll;
}

/// Checks that no list names a block of a part twice: its pieces would be written in any order, and
/// a frame would have two places for it. Two messages of a loop over peers may not write one block
/// either.
void checkLists(RaceProof& proof);
void findConflicts(RaceProof& proof);
/// Checks that the second operation of each conflict depends on the first.
void checkOrder(RaceProof& proof);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_RACES_RACES_H_
