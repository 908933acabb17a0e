// Domains: the nodes that execute each operation, as disjoint boxes (its guard without dead nodes
// and nodes whose message is dropped); and the cells into which such boxes cut the nodes.
#ifndef TORC_IR_VERIFIER_DOMAINS_H_
#define TORC_IR_VERIFIER_DOMAINS_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>

#include "ir/verifier/box_algebra.h"
#include "ir/verifier/span.h"
#include "schedules/broken_messages.h"
#include "schedules/schedule.h"

namespace torc::ir {

class Domains {
 public:
  /// `schedule` must outlive this. Every box is one node (apart) if `per_rank`, or if that holds
  /// for every operation anyway.
  Domains(const ScheduleView& schedule, bool per_rank);

  /// The nodes that execute `operation`.
  const RangesList& of(const Operation& operation);
  const RangesList& live() const { return live_; }
  /// Whether every box is one node.
  bool apart() const { return apart_; }

 private:
  /// Cuts boxes into single nodes if the domains are apart.
  RangesList cut(RangesList boxes) const;

  const ScheduleView& schedule_;
  DroppedMessages dropped_;
  RangesList whole_, live_;  // as few boxes as possible; cut as requested
  bool apart_ = false;
  /// By guard, peer and end of the message; the last two determine dropped messages.
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, RangesList> of_;
};

/// Adds `box` to boxes disjoint from it, joined to those that it touches.
void addJoined(const Ranges& box, const Topology& topology, RangesList& boxes);

/// The nodes that execute one of several entries.
struct Doing {
  Ranges nodes{};
  std::uint32_t what = 0;
};

/// Cuts the nodes into cells whose nodes all have the same entries of `list`, and calls
/// `visit(cell, doing)` for cells with any, entries ascending. Returns the number of these cells;
/// stops when the work limit is exceeded.
std::uint64_t forEachCell(
    const Topology& topology, std::vector<Doing> list, ProofWork& work,
    llvm::function_ref<void(const Ranges& cell, llvm::ArrayRef<std::uint32_t> doing)> visit);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_DOMAINS_H_
