// StepBuilder: how an algorithm writes its steps. Sends, receives, reductions and copies with their
// stream, their phase, the nodes that execute them and what they wait for are put together here,
// whichever algorithm they belong to.
#ifndef TORC_IR_STEP_BUILDER_H_
#define TORC_IR_STEP_BUILDER_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/schedule_builder.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Indices of operations, as they are returned by a builder.
using OperationIndices = llvm::SmallVector<std::uint32_t, 8>;

/// A header without steps, named like its collective, in `colors` colors of equal weight that visit
/// the axes in their order; where that is another, the algorithm adds them.
Schedule scheduleHeader(Collective collective, const Topology& topology, std::uint32_t colors = 0);

/// Where an operation belongs: its stream, and the nodes that execute it.
struct StepPlace {
  std::uint32_t stream = 0;
  std::uint32_t guard = kNone;  // index of a box of the builder; kNone: every node
};

/// The shift that brings a message to the neighbour at x + `sign` along `axis`.
Shift hop(std::uint32_t axis, int sign);

/// Each of the steps is appended to the current phase and waits for the operations `after`; its
/// index is returned. A message moves by a shift, which is the same for its send and its receive:
/// the sender's peer is there, the receiver's is as far the other way.
class StepBuilder : public ScheduleBuilder {
 public:
  using ScheduleBuilder::ScheduleBuilder;

  /// What follows belongs to this phase; 0 to begin with.
  void setPhase(std::uint32_t phase) { phase_ = static_cast<std::uint16_t>(phase); }
  std::uint32_t phase() const { return phase_; }

  std::uint32_t send(const StepPlace& place, const Region& a, const Shift& moves,
                     llvm::ArrayRef<std::uint32_t> after);
  std::uint32_t receive(const StepPlace& place, const Region& dst, const Shift& moves,
                        llvm::ArrayRef<std::uint32_t> after);
  /// The same with every peer of a loop over peers.
  std::uint32_t send(const StepPlace& place, const Region& a, const PeerLoop& peers,
                     llvm::ArrayRef<std::uint32_t> after);
  std::uint32_t receive(const StepPlace& place, const Region& dst, const PeerLoop& peers,
                        llvm::ArrayRef<std::uint32_t> after);
  /// dst = a + what is received, in one operation; `staging` is the scratch that receives.
  std::uint32_t receiveAndReduce(const StepPlace& place, const Region& dst, const Region& a,
                                 const Region& staging, const Shift& moves,
                                 llvm::ArrayRef<std::uint32_t> after);
  /// A signal, and the end that waits for it.
  std::uint32_t notify(const StepPlace& place, const Shift& moves,
                       llvm::ArrayRef<std::uint32_t> after);
  std::uint32_t await(const StepPlace& place, const Shift& moves,
                      llvm::ArrayRef<std::uint32_t> after);
  /// dst = a + b.
  std::uint32_t reduce(const StepPlace& place, const Region& dst, const Region& a, const Region& b,
                       llvm::ArrayRef<std::uint32_t> after);
  /// dst = a.
  std::uint32_t copy(const StepPlace& place, const Region& dst, const Region& a,
                     llvm::ArrayRef<std::uint32_t> after);

 private:
  Operation operation(OperationKind kind, const StepPlace& place) const;
  Operation message(OperationKind kind, const StepPlace& place, const Shift& moves);
  Operation message(OperationKind kind, const StepPlace& place, const PeerLoop& moves);

  std::uint16_t phase_ = 0;
};

}  // namespace torc::ir

#endif  // TORC_IR_STEP_BUILDER_H_
