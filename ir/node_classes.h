// Node classes: groups the nodes of a torus that a schedule treats alike. Along a collapsed axis a
// schedule looks the same from every node, and coordinate 0 stands for all: no guard and no
// absolute box restricts it, no node is dead, and it wraps or only loops over peers go along it.
// Along the others every coordinate is a class of its own. Work of verifier and simulator for each
// class covers every node, at a cost independent of the size of the torus.
#ifndef TORC_IR_NODE_CLASSES_H_
#define TORC_IR_NODE_CLASSES_H_

#include <array>
#include <cstdint>

#include "schedules/broken_messages.h"
#include "schedules/schedule.h"

namespace torc::ir {

class NodeClasses {
 public:
  /// The tables of `schedule`, which has passed `validate`, must outlive this. With `per_rank`
  /// nothing is collapsed: every node is a class.
  NodeClasses(const ScheduleView& schedule, bool per_rank);

  std::uint32_t count() const { return count_; }
  bool collapsed(std::uint32_t axis) const { return collapsed_[axis]; }
  /// The node that stands for a class: 0 on collapsed axes.
  Coordinates coordinatesOf(std::uint32_t node_class) const;
  std::uint32_t classOf(const Coordinates& at) const;
  /// The class at `shift` from a class, and its distance along the collapsed axes.
  std::uint32_t neighbour(std::uint32_t node_class, const Shift& shift,
                          Coordinates& collapsed_distance) const;
  /// Dead nodes are classes too, and execute nothing.
  bool executes(std::uint32_t node_class, const Operation& operation) const;
  /// Upper bound of the number of classes that execute `operation`: dead nodes count, and with a
  /// root-relative guard all do.
  double executions(const Operation& operation) const;

 private:
  bool looksTheSame(std::uint32_t axis) const;

  ScheduleView schedule_;
  mutable DroppedMessages dropped_;  // a cache
  BlockAxes axes_;
  std::array<bool, kMaxAxes> collapsed_{};
  std::uint32_t count_ = 1;
};

/// Direction of a message from its sender: the shift of a send (`sign` 1) or the opposite of that
/// of a receive (-1). It counts modulo the sizes of axes that wrap, because on a ring of two nodes
/// X+1 and X-1 are the same peer. Both ends of a message have the same direction.
Shift messageDirection(const Topology& topology, const Shift& shift, int sign);

}  // namespace torc::ir

#endif  // TORC_IR_NODE_CLASSES_H_
