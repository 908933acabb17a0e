// The verifier: proves, for every count, that a schedule computes its
// collective.
//
// Rules (docs/verifier.md):
//   matching  every send has its receive: same stream, order, blocks
//   progress  dependences and rendezvous matches have no cycle: no deadlock
//   without buffering races     operations that may run at the same time on a
//   rank never overlap where one writes meaning   each element ends with
//   exactly the contributions that the collective demands, once bounds regions
//   lie inside their buffers (schedules/validate.h), scratch inside its frames
//   links     load of every directed link, per phase and in total; an error
//   where promised free
//
// A schedule that looks the same from every node along an axis (a torus axis,
// no guard, no absolute box on it) is proved there once, for the node at the
// origin, with contributions as boxes of displacements. Along the other axes
// every coordinate is a class of its own.
#ifndef TORC_IR_VERIFIER_VERIFIER_H_
#define TORC_IR_VERIFIER_VERIFIER_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/raw_ostream.h>

#include "schedules/schedule.h"

namespace torc {

/// Nodes that are not alike, times operations, times the longest axis on which they differ: beyond
/// this a proof would take minutes and gigabytes, and is refused.
inline constexpr double kMaxProofWork = 2e9;

enum class Rule { kMatching, kProgress, kRaces, kMeaning, kBounds, kLinks };
llvm::StringRef name(Rule rule);

/// One fault: rule, operation (kNone if none is to blame), a message with a
/// witness.
struct Fault {
  Rule rule;
  std::uint32_t operation = kNone;
  std::string message;  // "reads out[p2, (x+1, *)] on rank 5 before it is complete; ..."
};

/// What one class of directed links carries: all links of one axis and sign, in
/// one phase, as a share of the whole vector (allreduce: in; reduce_scatter:
/// in; allgather: out).
struct LinkLoad {
  std::uint32_t axis = 0;
  int sign = 1;  // +1, -1
  std::uint32_t phase = 0;
  double share = 0.0;  // of the vector's bytes, over the busiest link of the class
};

struct VerifyOptions {
  bool per_rank = false;  // prove every rank by itself, no use of symmetry
  std::uint32_t max_faults = 20;
};

struct VerifyResult {
  std::vector<Fault> faults;
  std::vector<LinkLoad> loads;  // ordered by phase, axis, sign; only links in use
  std::uint64_t classes = 0;    // nodes simulated: 1 for a fully symmetric schedule
  std::uint32_t slots = 0;
  double scratch_share = 0.0;  // scratch of the busiest rank, as a share of the vector

  bool ok() const { return faults.empty(); }
};

VerifyResult verify(const ScheduleView& schedule, const VerifyOptions& options = {});

/// `error: op %17 (stream 3, phase 1): matching: ...` and the operation's text,
/// a line each.
void printFaults(const ScheduleView& schedule, const VerifyResult& result, llvm::raw_ostream& out);

}  // namespace torc

#endif  // TORC_IR_VERIFIER_VERIFIER_H_
