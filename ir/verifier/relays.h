// Relays: scatters and gathers whose root has its data carried to, or from, a few nodes (*hubs*) in
// a fixed place. Operations are then of two kinds: *ways*, with guards for some roots, and *trees*,
// with absolute guards, the same for every root. The trees are proved for one root alone.
//
// For a scatter let
//   (a) ways not touch `out`, trees not touch `in`; both share no stream;
//   (b) within a segment no way wait for a tree;
//   (c) a way and a tree operation that touch one slot on some node, one of them writing, be in an
//       order of dependences: by (b) of one segment the way first; else that of the earlier
//       segment. `in` and `out` count as one slot, for they may be in place.
// For each root it is proved that its ways leave the same contents of shared frames, but for the
// root's name. The trees, which move data alone, do the same with them:
// - Matching: by (a) messages are among ways or among trees.
// - Progress: a cycle is within a segment; by (b) it is among ways or among trees.
// - Races: of ways, as proved for each root; of trees, the same for all; of both by (c).
// - Meaning: by (c) trees read their own data and those left by the ways.
// A gather is the reverse: ways wait for trees, and read the contents of shared frames.
#ifndef TORC_IR_VERIFIER_RELAYS_H_
#define TORC_IR_VERIFIER_RELAYS_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "ir/verifier/box_algebra.h"
#include "ir/verifier/facts.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// `schedule`, without loops, with some of its operations, which `tables` holds; in the places of
/// the others are empty ones. Dependences go through these, like those of a node through operations
/// that it does not execute.
ScheduleView selectOperations(const ScheduleView& schedule, llvm::ArrayRef<char> is_selected,
                              Schedule& tables);

class Relays {
 public:
  /// `schedule` has no loops; each segment has `operations_per_segment` of its operations.
  Relays(const ScheduleView& schedule, std::uint32_t operations_per_segment);
  /// Whether ways and trees are apart, by (a) to (c).
  bool areApart() const { return are_apart_; }
  /// The schedule of ways alone; their dependences go through the trees. Without all boxes those
  /// of other operations are `*`.
  ScheduleView ways(bool with_all_boxes) const;
  bool isShared(std::uint32_t frame) const { return shared_.contains(frame); }

 private:
  bool separate(std::uint32_t operations_per_segment);

  const ScheduleView& schedule_;
  bool are_apart_ = false;
  std::vector<char> is_way_;  // by operation
  std::vector<Box> boxes_;    // of ways
  Schedule tables_;
  ScheduleView ways_;
  std::set<std::uint32_t> shared_;  // frames
};

/// The contents of shared frames during a proof.
struct RelayedFacts {
  using ByFrameAndPart = std::map<std::pair<std::uint32_t, std::uint32_t>, FactStore>;

  const Relays& relays;
  bool is_of_ways = false;  // the proof of ways alone
  ByFrameAndPart left;      // by this proof
  ByFrameAndPart known;     // before it

  /// Notes a fact of a part that is written to its frame, if that is shared.
  void note(std::uint32_t part, const Fact& fact, const FactSetting& setting);
  /// Calls `add` for the known facts on each of `nodes`: the ways of a gather begin with the data
  /// left by the trees.
  void bring(const RangesList& nodes, const FactSetting& setting,
             llvm::function_ref<void(std::uint32_t part, const Fact& fact)> add) const;
  /// Whether all that the ways of a scatter leave is right.
  bool leaveOnly(llvm::function_ref<bool(std::uint32_t part, const Fact& fact)> isRight) const;
  /// Whether they leave data wherever those of the first root do.
  bool coverKnown(const FactSetting& setting) const;
};

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_RELAYS_H_
