// Writes operations outside of loops unchanged, and of loops the first iteration.
#include "passes/loops/loop_writer.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "ir/schedule_builder.h"

namespace torc::passes {
namespace {

class LoopWriter {
 public:
  LoopWriter(const Schedule& schedule, const RolledLoops& found)
      : schedule_(schedule),
        view_(schedule.view()),
        found_(found),
        builder_(schedule),
        frames_(schedule.frames.size(), kNone),
        numbers_(schedule.operations.size(), kNone) {
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < numbers_.size(); ++i) {
      if (!found.inLoop(i) || found.inFirstIteration(i) == i) numbers_[i] = next++;
    }
  }

  Schedule run() {
    for (const Stream& stream : schedule_.streams)
      builder_.addStream(stream);
    for (std::uint32_t i = 0; i < schedule_.operations.size();) {
      if (found_.inLoop(i)) {
        const RolledLoop& loop = found_.loops[found_.loop_of[i]];
        writeLoop(loop);
        i = loop.of.end();
      } else {
        writeOperation(schedule_.operations[i]);
        ++i;
      }
    }
    return builder_.take();
  }

 private:
  void writeOperation(Operation operation) {
    for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
      writeRegion(*region, 1, [&](bool of_frame) {
        llvm::SmallVector<Piece, 4> list;
        for (const Piece& piece :
             of_frame ? view_.piecesOf(schedule_.frames[region->frame]) : view_.piecesOf(*region))
          list.push_back({piece.part, piece.parts, builder_.blocks(view_, piece.box)});
        return list;
      });
    }
    if (operation.guard != kNone) operation.guard = builder_.box(view_.boxes[operation.guard]);
    const auto after = view_.dependencesOf(operation);
    dependences_.clear();
    addOutside({after.begin(), after.end()});
    finish(operation);
  }

  void writeLoop(const RolledLoop& loop) {
    builder_.beginLoop(loop.of.count);
    for (std::uint32_t position = 0; position < loop.of.period; ++position) {
      const RepeatedOperation& repeated = loop.of.body[position];
      Operation operation = repeated.first();
      std::uint32_t number = 0;
      for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
        const auto copies = loop.copies.find(region->frame);
        writeRegion(*region, copies == loop.copies.end() ? 1 : copies->second,
                    [&](bool of_frame) { return repeated.pieces(number, of_frame, builder_); });
        ++number;
      }
      if (operation.guard != kNone) operation.guard = builder_.box(repeated.guard());
      dependences_.clear();
      addWaits(loop.waits[position], loop.of.begin);
      finish(operation);
    }
    builder_.endLoop();
  }

  /// The region, of `pieces(false)`, and its frame if new, of `pieces(true)`, with `copies` slots
  /// in rotation.
  template <typename Pieces>
  void writeRegion(Region& region, std::uint32_t copies, Pieces pieces) {
    if (!region.present()) return;
    std::uint32_t frame = kNone;
    if (region.frame != kNone) {
      std::uint32_t& made = frames_[region.frame];
      const std::uint32_t slot = found_.slots[schedule_.frames[region.frame].slot];
      if (made == kNone) made = builder_.addFrame(pieces(true), slot, copies);
      frame = made;
    }
    region = builder_.region(region.buffer, pieces(false), frame);
  }

  void finish(Operation& operation) {
    if (operation.peer != kNone) operation.peer = builder_.peer(view_, operation);
    builder_.addOperation(operation, dependences_);
  }

  /// Adds the dependences of an operation in a loop whose first iteration is at `begin`.
  void addWaits(const Waits& waits, std::uint32_t begin) {
    for (const auto& [at, distance] : waits.before) {
      const bool here = distance == 0 && iterationsOf(at) == 0;
      dependences_.push_back(here ? numbers_[begin + at] : along(begin + at, -distance));
    }
    for (const auto& [dependence, offset] : waits.along)
      dependences_.push_back(along(dependence, offset));
    for (const auto& [dependence, offset] : waits.back)
      dependences_.push_back(along(dependence, offset, IterationOrigin::kBack));
    addOutside(waits.outside);
  }

  /// Adds the dependences of an operation outside of its loop: one on all iterations of another
  /// loop if all are listed.
  void addOutside(const std::set<std::uint32_t>& outside) {
    std::map<std::uint32_t, std::uint32_t> often;  // by dependence on a first iteration
    const auto firstOf = [&](std::uint32_t dependence) {
      const std::uint32_t operation = operationOf(dependence);
      return found_.inLoop(operation)
                 ? dependenceOn(found_.inFirstIteration(operation), iterationsOf(dependence))
                 : dependence;
    };
    for (const std::uint32_t dependence : outside)
      often[firstOf(dependence)] += 1;
    for (const std::uint32_t dependence : outside) {
      const std::uint32_t operation = operationOf(dependence);
      if (!found_.inLoop(operation) ||
          often[firstOf(dependence)] < found_.repetitionOf(operation).count) {
        dependences_.push_back(onOutside(dependence));
      } else if (found_.iterationOf(operation) == 0) {
        Iterations all{.depth = static_cast<std::uint16_t>(iterationsOf(dependence) > 0)};
        if (all.depth > 0) all.origin[0] = IterationOrigin::kAll;
        dependences_.push_back(on(operation, view_.segmentsBefore(dependence), all));
      }
    }
  }

  /// The dependence on an operation outside of the waiting operation's loop.
  std::uint32_t onOutside(std::uint32_t dependence) {
    const std::uint32_t operation = operationOf(dependence);
    const std::uint32_t segments = view_.segmentsBefore(dependence);
    if (!found_.inLoop(operation)) return on(operation, segments, {});
    Iterations iterations{.depth = 1};
    const std::uint32_t iteration = found_.iterationOf(operation);
    const std::uint32_t left = found_.repetitionOf(operation).count - 1 - iteration;
    iterations.origin[0] = left <= iteration ? IterationOrigin::kLast : IterationOrigin::kFirst;
    iterations.offset[0] =
        left <= iteration ? -static_cast<std::int32_t>(left) : static_cast<std::int32_t>(iteration);
    return on(found_.inFirstIteration(operation), segments, iterations);
  }

  /// The dependence on the parallel iterations of a loop.
  std::uint32_t along(std::uint32_t dependence, std::int32_t offset,
                      IterationOrigin origin = IterationOrigin::kOwn) {
    Iterations iterations{.depth = 1};
    iterations.origin[0] = origin;
    iterations.offset[0] = offset;
    return on(operationOf(dependence), view_.segmentsBefore(dependence), iterations);
  }

  /// The dependence on an operation outside of loops, or on iterations of one.
  std::uint32_t on(std::uint32_t operation, std::uint32_t segments, Iterations iterations) {
    iterations.segments = static_cast<std::uint16_t>(segments);
    if (segments == 0 && iterations.depth == 0) return numbers_[operation];
    return builder_.dependence(numbers_[operation], iterations);
  }

  const Schedule& schedule_;
  const ScheduleView view_;
  const RolledLoops& found_;
  ir::ScheduleBuilder builder_;
  std::vector<std::uint32_t> frames_;       // new numbers, by old ones
  std::vector<std::uint32_t> numbers_;      // of operations; of loops, of the first iteration
  std::vector<std::uint32_t> dependences_;  // of the current operation
};

}  // namespace

Schedule withLoops(const Schedule& schedule, const RolledLoops& found) {
  return LoopWriter(schedule, found).run();
}

}  // namespace torc::passes
