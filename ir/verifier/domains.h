// Domains: which nodes execute an operation, as disjoint boxes of nodes (its guard, without the
// dead nodes and those whose message is dropped); and the cells into which some of these boxes cut
// the nodes.
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
  /// `schedule` must outlive this. Every box is one node (apart) if `per_rank`, and where that is
  /// so of every operation.
  Domains(const ScheduleView& schedule, bool per_rank);

  /// Of the nodes that execute `operation`.
  const RangesList& of(const Operation& operation);
  /// Of all nodes that are alive.
  const RangesList& live() const { return live_; }
  /// Whether every box is one node.
  bool apart() const { return apart_; }

 private:
  /// Cuts boxes into nodes where these are apart.
  RangesList cut(RangesList boxes) const;

  const ScheduleView& schedule_;
  DroppedMessages dropped_;
  RangesList whole_, live_;  // as few boxes as there can be; as asked for
  bool apart_ = false;
  /// By guard; and by what is dropped, which goes with the peer and the end of the message.
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, RangesList> of_;
};

/// Every node.
Ranges allNodes(const Topology& topology);
/// `box` moved by `distance`, which wraps around on every axis.
Ranges moved(const Ranges& box, const Coordinates& distance, const Topology& topology);
/// Adds `box` to disjoint boxes that it is disjoint from, joined to those that it touches.
void addJoined(Ranges box, const Topology& topology, RangesList& boxes);

/// Nodes that do something, of several things that some of them do.
struct Doing {
  Ranges nodes{};
  std::uint32_t what = 0;
};

/// Cuts the nodes into cells whose nodes all do the same of `list`, and calls `visit(cell, doing)`
/// for those that do anything, with what they do in ascending order. Returns how many these are;
/// stops when it is too much work.
std::uint64_t forEachCell(
    const Topology& topology, std::vector<Doing> list, ProofWork& work,
    llvm::function_ref<void(const Ranges& cell, llvm::ArrayRef<std::uint32_t> doing)> visit);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_DOMAINS_H_
