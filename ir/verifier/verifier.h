// The verifier: proves, for every count, that a schedule computes its collective.
//
// Rules (docs/developers/verifier.md), each checked only if those before it hold:
//
// - bounds    regions lie inside their buffers, scratch inside its frames
//             (schedules/validation/validate.h)
// - links     load of every class of directed links, per phase; an error if conflict-free phases
//             are promised and not kept; no message over dead links or nodes; on a graph every
//             message has a link, or switches that lead to its receiver
// - matching  every send has its receive: same stream, order, blocks
// - progress  dependences and rendezvous matches have no cycle: no deadlock without buffering
// - races     operations that may run at the same time on a rank never overlap with one of them
//             writing
// - meaning   each element ends with exactly the contributions that the collective requires, once
//
// Not checked: the expansion of the schedule (tests/properties runs it on numbers).
//
// Proofs cover boxes of nodes at a time ("cells", rule_context.h): a schedule that looks the same
// from every node has one box of all nodes.
#ifndef TORC_IR_VERIFIER_VERIFIER_H_
#define TORC_IR_VERIFIER_VERIFIER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/raw_ostream.h>

#include "ir/verifier/facts.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Limit of pieces named by all lists of regions and frames together, plus 32 for each operation,
/// piece and frame: many lists may share a piece, so a file can name far more than it holds.
inline constexpr std::uint64_t kMaxListedPieces = 2'000'000;
/// Steps, of about ten nanoseconds, after which the proof gives up.
inline constexpr std::uint64_t kMaxProofWork = 1'000'000'000;

enum class Rule { kMatching, kProgress, kRaces, kMeaning, kBounds, kLinks };
llvm::StringRef name(Rule rule);

/// One fault: rule, operation (kNone if there is none), a message with a witness.
struct Fault {
  Rule rule;
  std::uint32_t operation = kNone;
  std::string message;  // "reads out[p2, (x+1, *)] on rank 5 before it is complete; ..."
};

/// Load of one class of directed links, all links of one axis and sign in one phase, as a share of
/// the whole vector. If it depends on the root: for the root that loads the class most; with relays
/// (relays.h), for the first. A message of several hops goes along one axis after the other, X
/// first.
struct LinkLoad {
  std::uint32_t axis = 0;
  int sign = 1;  // +1, -1
  std::uint32_t phase = 0;
  double share = 0.0;  // of the vector's bytes, over the busiest link of the class
};

/// Contents written by an operation to some blocks of one part, on some nodes.
struct Written {
  std::uint32_t operation = 0;
  std::uint32_t part = 0;  // it stands for all parts that no region distinguishes
  Fact fact;
};

struct VerifyOptions {
  bool per_rank = false;   // prove every node as a cell of its own, for every root
  bool of_memory = false;  // races and links alone
  std::uint32_t max_faults = 20;
  /// Called for every write of the proof for its first root. Not called for schedules in loops or
  /// segments, nor if loops over peers are unrolled.
  std::function<void(const Written&)> on_write{};
};

struct VerifyResult {
  std::vector<Fault> faults;
  std::vector<LinkLoad> loads;  // ordered by phase, axis, sign; only links in use
  std::uint64_t cells = 0;      // most boxes of nodes that a stream distinguishes
  std::uint64_t work = 0;       // steps
  std::uint32_t slots = 0;
  double scratch_share = 0.0;  // scratch of the busiest rank, as a share of the vector

  bool ok() const { return faults.empty(); }
};

VerifyResult verify(const ScheduleView& schedule, const VerifyOptions& options = {});

/// `error: op %17 (stream 3, phase 1): matching: ...` and the operation's text,
/// a line each.
void printFaults(const ScheduleView& schedule, const VerifyResult& result, llvm::raw_ostream& out);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_VERIFIER_H_
