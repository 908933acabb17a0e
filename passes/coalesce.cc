// Fuses a receive into scratch and the reduction of the received data into one recv_reduce, which
// the runtime starts and completes as a unit: half as many operations and dependences, and the
// addition runs as soon as the message is in.
//
// A pair `recv f` and `dst = a + f` is fused if f is received once and read by this reduction
// alone, on the same nodes. All other dependences of the reduction must precede the receive: then
// the reduction may run at the receive's place.
#include "passes/coalesce.h"

#include "ir/schedule_builder.h"

namespace torc::passes {
namespace {

/// The operations that use a frame, up to two.
struct FrameUse {
  std::uint32_t first = kNone, second = kNone;
  bool more = false;

  void add(std::uint32_t operation) {
    if (first == kNone) {
      first = operation;
    } else if (second == kNone && operation != first) {
      second = operation;
    } else if (operation != first && operation != second) {
      more = true;
    }
  }
};

class Coalesce final : public Pass {
 public:
  Coalesce()
      : Pass("coalesce", "fuses a receive and the reduction of what it received into recv_reduce",
             PassLevel::kStep) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    const Schedule& old = program.schedule;
    const std::vector<std::uint32_t> partner = findPairs(old);
    std::size_t fused = 0;
    for (std::uint32_t i = 0; i < partner.size(); ++i)
      fused += partner[i] != kNone && partner[i] > i;
    fused_ = static_cast<double>(fused);
    if (fused == 0) return PassResult::kWithoutChange;
    program.schedule = rebuild(old, partner);
    return PassResult::kWithChange;
  }

 private:
  /// For each operation its partner, or kNone.
  static std::vector<std::uint32_t> findPairs(const Schedule& schedule) {
    std::vector<FrameUse> uses(schedule.frames.size());
    std::vector<std::uint32_t> frames_in_slot(schedule.slot_count, 0);
    for (const Frame& frame : schedule.frames)
      ++frames_in_slot[frame.slot];
    for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
      const Operation& operation = schedule.operations[i];
      for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
        if (region->frame != kNone) uses[region->frame].add(i);
      }
    }
    std::vector<std::uint32_t> partner(schedule.operations.size(), kNone);
    for (std::uint32_t frame = 0; frame < uses.size(); ++frame) {
      const FrameUse& use = uses[frame];
      if (use.second == kNone || use.more) continue;
      // The frame must be alone in its slot: others could use the slot between receive and
      // reduction.
      if (frames_in_slot[schedule.frames[frame].slot] != 1) continue;
      if (!canFuse(schedule, use.first, use.second)) continue;
      partner[use.first] = use.second;
      partner[use.second] = use.first;
    }
    return partner;
  }

  static bool canFuse(const Schedule& schedule, std::uint32_t first, std::uint32_t second) {
    const Operation& receive = schedule.operations[first];
    const Operation& reduce = schedule.operations[second];
    if (receive.kind != OperationKind::kRecv || reduce.kind != OperationKind::kReduce) return false;
    if (receive.stream != reduce.stream || receive.phase != reduce.phase ||
        receive.guard != reduce.guard) {
      return false;
    }
    const Region& staging = receive.dst;
    if (reduce.b != staging) return false;
    if (staging != wholeFrame(schedule.frames[staging.frame], staging.frame)) return false;
    if (reduce.a.frame == staging.frame || reduce.dst.frame == staging.frame) return false;
    // Receives may not wait for dependences of the reduction alone, which would delay their sender.
    const ScheduleView view = schedule.view();
    const auto before_receive = view.dependencesOf(receive);
    bool after_receive = false;
    for (const std::uint32_t dependence : view.dependencesOf(reduce)) {
      after_receive |= dependence == first;
      if (dependence != first && !llvm::is_contained(before_receive, dependence)) return false;
    }
    return after_receive;
  }

  /// The schedule with fused pairs at the receive's place.
  static Schedule rebuild(const Schedule& old, const std::vector<std::uint32_t>& partner) {
    ir::ScheduleBuilder builder(old);
    Schedule& built = builder.schedule();
    built.streams = old.streams;
    built.frames = old.frames;
    built.slot_count = old.slot_count;
    built.boxes = old.boxes;
    built.pairs = old.pairs;
    built.peer_loops = old.peer_loops;
    built.pieces = old.pieces;
    built.shifts = old.shifts;

    const ScheduleView view = old.view();
    std::vector<std::uint32_t> moved(old.operations.size(), kNone);
    llvm::SmallVector<std::uint32_t, 16> dependences;
    for (std::uint32_t i = 0; i < old.operations.size(); ++i) {
      Operation operation = old.operations[i];
      if (partner[i] != kNone && partner[i] < i) {
        moved[i] = moved[partner[i]];
        continue;
      }
      dependences.clear();
      for (const std::uint32_t d : view.dependencesOf(operation))
        dependences.push_back(moved[d]);
      if (partner[i] != kNone) {
        const Operation& reduce = old.operations[partner[i]];
        for (const std::uint32_t d : view.dependencesOf(reduce)) {
          if (d != i) dependences.push_back(moved[d]);
        }
        operation.kind = OperationKind::kRecvReduce;
        operation.dst = reduce.dst;
        operation.a = reduce.a;
        operation.b = reduce.b;
      }
      moved[i] = builder.addOperation(operation, dependences);
    }
    return builder.take();
  }

  PassStatistic fused_{*this, "receives fused with their reduction"};
};

}  // namespace

std::unique_ptr<Pass> makePass(const CoalescePass&) {
  return std::make_unique<Coalesce>();
}

}  // namespace torc::passes
