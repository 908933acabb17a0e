// Rule 3, races: of two operations that touch the same memory of a rank, one of them writing, one
// depends on the other, directly or through others.
//
// Proved once for all nodes: two accesses meet on some node exactly if on every axis some
// coordinate is in both guards and both intervals share a block there, because guards are boxes.
// Order is looked up for 64 operations at a time, one bit each.
#include "ir/verifier/races/races.h"

namespace torc::ir {

void checkRaces(VerifyContext& context) {
  RaceProof proof{context};
  checkLists(proof);
  findConflicts(proof);
  if (!proof.tooMuch()) checkOrder(proof);
  context.result.work += proof.steps;
  if (!proof.tooMuch()) return;
  context.fault(Rule::kBounds, kNone,
                "too large to prove: operations meet in the same memory in too many ways");
}

}  // namespace torc::ir
