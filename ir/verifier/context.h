// What the rules of the verifier share: node classes, who executes what, matched messages, and
// the list of faults. One file per family of rules: matching.cc, progress.cc, races.cc,
// meaning.cc, links.cc.
#ifndef TORC_IR_VERIFIER_CONTEXT_H_
#define TORC_IR_VERIFIER_CONTEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/verifier/node_classes.h"
#include "ir/verifier/verifier.h"
#include "schedules/expansion/shares.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// The two ends of a message: operations, and the class of the other end.
struct Match {
  std::uint32_t operation = kNone;  // of the other end
  std::uint32_t node_class = 0;     // of the other end
};

/// One verification.
class VerifyContext {
 public:
  /// `root`: the root's coordinates as the schedule counts them, where the collective has one.
  /// `schedule` is `written` with its families folded (ir/families), where it has any.
  VerifyContext(const ScheduleView& written, const ScheduleView& schedule, const Coordinates& root,
                const VerifyOptions& options, VerifyResult& result);

  const ScheduleView& written;  // in which a region of a family is that of one message
  const ScheduleView& schedule;
  const Topology& topology;
  const Coordinates root;
  const VerifyOptions& options;
  VerifyResult& result;
  const PartTable parts;
  const BlockAxes axes;       // of blocks
  const NodeClasses classes;  // as written: folded, what counts from a peer counts from the node

  std::uint32_t classCount() const { return classes.count(); }
  bool collapsed(std::uint32_t axis) const { return classes.collapsed(axis); }
  Coordinates coordinatesOf(std::uint32_t node_class) const {
    return classes.coordinatesOf(node_class);
  }
  bool executes(std::uint32_t node_class, const Operation& operation) const {
    return classes.executes(node_class, operation);
  }
  BlockRanges rangesOf(const Piece& piece, const Coordinates& at) const;
  /// Whether a part is the first of those that no piece of the schedule tells apart: what holds for
  /// it holds for the others of its group.
  bool isFirstOfGroup(std::uint32_t part) const { return first_of_group_[part]; }
  /// How many pieces forEachPart visits for all lists of regions and frames together.
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

  /// "rank 5 (x=1, y=1)"; on a fully symmetric schedule the node at the origin.
  std::string rankText(const Coordinates& at) const;
  /// "the block of rank 5", "the block from rank 5 to rank 7".
  std::string blockText(const BlockCoordinates& at) const;

  void fault(Rule rule, std::uint32_t operation, const std::string& message);
  bool full() const { return result.faults.size() >= options.max_faults; }

  /// Other end of the message of `operation` at `node_class`; filled by checkMatching.
  Match& match(std::uint32_t node_class, std::uint32_t operation) {
    return matches_[static_cast<std::size_t>(node_class) * schedule.operations.size() + operation];
  }
  void allocateMatches() {
    matches_.resize(std::size_t{classCount()} * schedule.operations.size());
  }

 private:
  void groupParts();
  void countListedPieces();

  std::vector<Match> matches_;
  std::vector<bool> first_of_group_;  // by part
  std::uint64_t listed_pieces_ = 0;
};

/// Rule 1. Fills the matches; sizes of both ends are equal for every count because the blocks are.
void checkMatching(VerifyContext& context);
/// Rule 2. Returns the events (2 * operation + 0 for its start, + 1 for its completion) in an order
/// that respects dependences and rendezvous on all classes; empty if there is none, or, for
/// `per_class_order`, an order of (class * operations + operation) * 2 + event.
std::vector<std::uint64_t> checkProgress(VerifyContext& context, bool& per_class_order);
/// Rule 3.
void checkRaces(VerifyContext& context);
/// Rule 4; executes the events in `order` symbolically. Call when rules 1 to 3 hold.
void checkMeaning(VerifyContext& context, const std::vector<std::uint64_t>& order,
                  bool per_class_order);
/// Rule 6: fills the loads; a fault where a promise is broken. Scratch share as well.
void checkLinks(VerifyContext& context);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_CONTEXT_H_
