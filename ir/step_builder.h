// StepBuilder: the interface by which algorithms write steps. It assembles sends, receives,
// reductions and copies with their stream, phase, executing nodes and dependences.
#ifndef TORC_IR_STEP_BUILDER_H_
#define TORC_IR_STEP_BUILDER_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/schedule_builder.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Indices of operations returned by a builder.
using OperationIndices = llvm::SmallVector<std::uint32_t, 8>;

/// A header without steps, named like its collective, in `colors` colors of equal weight with their
/// axes in natural order; algorithms with other colors add them.
Schedule scheduleHeader(Collective collective, const Topology& topology, std::uint32_t colors = 0);

/// Stream and executing nodes of an operation.
struct StepPlace {
  std::uint32_t stream = 0;
  std::uint32_t guard = kNone;  // index of a box of the builder; kNone: every node
};

/// The shift to the neighbour at x + `sign` along `axis`.
Shift hop(std::uint32_t axis, int sign);

/// Each function appends a step to the current phase with the dependences `after`, and returns its
/// index. A message has one shift for its send and its receive: the sender's peer is at the shift,
/// the receiver's at its opposite.
class StepBuilder : public ScheduleBuilder {
 public:
  using ScheduleBuilder::ScheduleBuilder;
  using After = llvm::ArrayRef<std::uint32_t>;

  /// Sets the phase of later steps; 0 initially.
  void setPhase(std::uint32_t phase) { phase_ = static_cast<std::uint16_t>(phase); }
  std::uint32_t phase() const { return phase_; }

  /// `moves` is a Shift, or a PeerLoop for a message with every peer.
  template <typename Moves>
  std::uint32_t send(const StepPlace& place, const Region& a, const Moves& moves, After after) {
    return message(OperationKind::kSend, place, moves, {.a = a}, after);
  }
  template <typename Moves>
  std::uint32_t receive(const StepPlace& place, const Region& dst, const Moves& moves,
                        After after) {
    return message(OperationKind::kRecv, place, moves, {.dst = dst}, after);
  }
  /// dst = a + received data, in one operation; `staging` is the scratch that receives.
  std::uint32_t receiveAndReduce(const StepPlace& place, const Region& dst, const Region& a,
                                 const Region& staging, const Shift& moves, After after) {
    return message(OperationKind::kRecvReduce, place, moves, {dst, a, staging}, after);
  }
  /// A signal, and its receiving end.
  std::uint32_t notify(const StepPlace& place, const Shift& moves, After after) {
    return message(OperationKind::kNotify, place, moves, {}, after);
  }
  std::uint32_t await(const StepPlace& place, const Shift& moves, After after) {
    return message(OperationKind::kAwait, place, moves, {}, after);
  }
  /// dst = a + b.
  std::uint32_t reduce(const StepPlace& place, const Region& dst, const Region& a, const Region& b,
                       After after) {
    return add({.kind = OperationKind::kReduce}, place, {dst, a, b}, after);
  }
  /// dst = a.
  std::uint32_t copy(const StepPlace& place, const Region& dst, const Region& a, After after) {
    return add({.kind = OperationKind::kCopy}, place, {dst, a}, after);
  }

 private:
  struct Regions {
    Region dst{}, a{}, b{};
  };
  std::uint32_t add(Operation operation, const StepPlace& place, const Regions& regions,
                    After after);
  std::uint32_t message(OperationKind kind, const StepPlace& place, const Shift& moves,
                        const Regions& regions, After after);
  std::uint32_t message(OperationKind kind, const StepPlace& place, const PeerLoop& peers,
                        const Regions& regions, After after);

  std::uint16_t phase_ = 0;
};

}  // namespace torc::ir

#endif  // TORC_IR_STEP_BUILDER_H_
