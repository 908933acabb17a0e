// Shared by the rules of the verifier: the nodes that execute each operation, matched messages, the
// steps of the proof, and the list of faults. One file per family of rules: links.cc, matching.cc,
// wait_cycles.cc, races/races.cc, meaning.cc.
//
// Rules are proved for boxes of nodes ("cells") at a time, so that the cost depends on the guards
// and not on the number of nodes. Guards are boxes, and a region depends on every axis only on the
// node's coordinate there; so do the contents of nodes (facts.h). Nothing is approximated: refused
// schedules are wrong, and proofs beyond the work limit are left undecided.
#ifndef TORC_IR_VERIFIER_RULE_CONTEXT_H_
#define TORC_IR_VERIFIER_RULE_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/verifier/domains.h"
#include "ir/verifier/relays.h"
#include "ir/verifier/span.h"
#include "ir/verifier/verifier.h"
#include "schedules/expansion/shares.h"
#include "schedules/schedule.h"
#include "support/message.h"

namespace torc::ir {

/// A send and its receive, on the nodes of a box; for a loop over peers, whose messages go along
/// axes on which nodes do not differ, the distance is 0.
struct Match {
  std::uint32_t send = 0, receive = 0;  // operations
  Ranges senders{}, receivers{};        // nodes
  Coordinates distance{};               // from a sender to its receiver
};

/// An operation acts on those nodes of a box that execute it. Or a chain: the steps of its body are
/// executed at one coordinate of a range after the other, from the first on or (sign -1) the last.
struct Step {
  std::uint32_t operation = 0;
  Ranges nodes{};
  std::vector<Step> body = {};
  std::uint32_t axis = 0;  // of the chain
  int sign = 1;
  Range chain{};  // empty: an operation
};

class VerifyContext {
 public:
  /// `root`: the root's coordinates in the schedule, if the collective has one. `schedule` is
  /// `written` with its loops over peers folded (ir/peer_loops), if it has any.
  VerifyContext(const ScheduleView& written, const ScheduleView& schedule, const Coordinates& root,
                const VerifyOptions& options, VerifyResult& result);

  const ScheduleView& written;  // the original, with single messages as regions of loops over peers
  const ScheduleView& schedule;
  const Topology& topology;
  const Coordinates root;
  const VerifyOptions& options;
  VerifyResult& result;
  const PartTable parts;
  const BlockAxes axes;  // of blocks
  Domains domains;
  ProofWork work{0, kMaxProofWork};
  RelayedFacts* relayed = nullptr;  // of a schedule of relays
  std::vector<Match> matches;
  std::vector<std::vector<std::uint32_t>> matches_of;  // by receiving operation

  /// Whether a part is the first of its group: the parts that no piece of the schedule
  /// distinguishes. A property of it holds for all of the group.
  bool isFirstOfGroup(std::uint32_t part) const { return first_of_group_[part]; }
  /// Number of pieces that forEachPart visits for all lists of regions and frames together.
  std::uint64_t listedPieces() const { return listed_pieces_; }
  /// Calls `visit(piece, part)` for every piece of `region` and every group of parts in it.
  template <typename Visit>
  void forEachPart(const Region& region, Visit visit) const {
    for (const Piece& piece : schedule.piecesOf(region)) {
      for (std::uint32_t part = piece.part; part < piece.part + piece.parts; ++part) {
        if (first_of_group_[part]) visit(piece, part);
      }
    }
  }

  /// "rank 5 (x=1, y=1)".
  std::string rankText(const Coordinates& at) const;
  /// "the block of rank 5", "the block from rank 5 to rank 7".
  std::string blockText(const BlockCoordinates& at) const;

  /// Notes a fault, with its message in pieces.
  template <typename... Pieces>
  void fault(Rule rule, std::uint32_t operation, const Pieces&... pieces) {
    if (!full()) result.faults.push_back({rule, operation, message(pieces...)});
  }
  bool full() const { return result.faults.size() >= options.max_faults; }

 private:
  void groupParts();
  void countListedPieces();

  std::vector<bool> first_of_group_;  // by part
  std::uint64_t listed_pieces_ = 0;
};

/// The base of the classes that check a rule.
class RuleChecker {
 public:
  explicit RuleChecker(VerifyContext& context)
      : context_(context), schedule_(context.schedule), topology_(context.topology) {}

 protected:
  VerifyContext& context_;
  const ScheduleView& schedule_;
  const Topology& topology_;
};

/// Rule 6: computes the loads and the scratch share; a fault if a promise is broken.
void checkLinks(VerifyContext& context);
/// Rule 1. Fills the matches; sizes of both ends are equal for every count because the blocks are.
void checkMatching(VerifyContext& context);
/// Rule 2. Returns an order of steps that respects dependences and rendezvous; nothing after a
/// fault, or beyond the work limit.
std::optional<std::vector<Step>> checkProgress(VerifyContext& context);
/// Rule 3.
void checkRaces(VerifyContext& context);
/// Rule 4; executes the steps symbolically. Call when rules 1 to 3 hold.
void checkMeaning(VerifyContext& context, const std::vector<Step>& order);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_RULE_CONTEXT_H_
