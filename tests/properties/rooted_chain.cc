// Chains to the origin and back, operation by operation.
#include "tests/properties/rooted_chain.h"

#include "ir/step_builder.h"

namespace torc {
namespace {

using After = ir::OperationIndices;

Schedule chainHeader(const std::vector<std::uint32_t>& sizes, std::uint32_t chunks) {
  Topology topology;
  topology.axis_count = static_cast<std::uint32_t>(sizes.size());
  for (std::uint32_t axis = 0; axis < sizes.size(); ++axis) {
    topology.axes[axis].size = sizes[axis];
    topology.axes[axis].name = kAxisNames[axis];
    topology.order[axis] = static_cast<std::uint8_t>(axis);
  }
  Schedule header = ir::scheduleHeader(Collective::kAllreduce, topology, 1);
  header.colors[0].chunks = chunks;
  return header;
}

/// What the next step of a chunk has to wait for.
struct Chunk {
  std::uint32_t number;
  After has_sum, has_sent;
};

class ChainBuilder {
 public:
  ChainBuilder(const std::vector<std::uint32_t>& sizes, std::uint32_t chunks)
      : sizes_(sizes), steps_(chainHeader(sizes, chunks)) {}

  Schedule run() {
    std::vector<Chunk> chunks(steps_.schedule().colors[0].chunks);
    for (Chunk& chunk : chunks)
      chunk.number = steps_.addStream(
          {.part = static_cast<std::uint32_t>(steps_.schedule().streams.size()), .core = 0});
    for (Chunk& chunk : chunks) {
      for (std::uint32_t axis = 0; axis < sizes_.size(); ++axis)
        reduceAlong(chunk, axis);
    }
    steps_.setPhase(1);
    for (Chunk& chunk : chunks) {
      for (std::uint32_t axis = static_cast<std::uint32_t>(sizes_.size()); axis-- > 0;)
        distributeAlong(chunk, axis);
    }
    return steps_.take();
  }

 private:
  /// Nodes at coordinates `first` to `last` of `axis`, and at 0 of the axes before it.
  ir::StepPlace place(const Chunk& chunk, std::uint32_t axis, std::uint32_t first,
                      std::uint32_t last) {
    Box box;
    for (std::uint32_t before = 0; before < axis; ++before)
      box[before] = Interval::absolute(0);
    box[axis] = Interval::absolute(static_cast<std::int32_t>(first), last - first + 1);
    return {chunk.number, steps_.box(box)};
  }
  Region all(const Chunk& chunk, Buffer buffer, std::uint32_t frame = kNone) {
    return steps_.region(buffer, Piece{chunk.number, 1, steps_.box({})}, frame);
  }

  /// Towards coordinate 0: the nodes at 0 end with the sums.
  void reduceAlong(Chunk& chunk, std::uint32_t axis) {
    const std::uint32_t last = sizes_[axis] - 1;
    const Region from = all(chunk, axis == 0 ? Buffer::kIn : Buffer::kOut);
    const Region out = all(chunk, Buffer::kOut);
    const Shift down = ir::hop(axis, -1);
    chunk.has_sent.push_back(
        steps_.send(place(chunk, axis, last, last), from, down, chunk.has_sum));
    const std::uint32_t frame =
        steps_.addFrame(Piece{chunk.number, 1, steps_.box({})}, steps_.schedule().slot_count);
    chunk.has_sum = {steps_.receiveAndReduce(place(chunk, axis, 0, last - 1), out, from,
                                             all(chunk, Buffer::kScratch, frame), down,
                                             chunk.has_sum)};
    chunk.has_sent.push_back(
        steps_.send(place(chunk, axis, 1, last - 1), out, down, chunk.has_sum));
  }

  /// From coordinate 0 on.
  void distributeAlong(Chunk& chunk, std::uint32_t axis) {
    const std::uint32_t last = sizes_[axis] - 1;
    const Region out = all(chunk, Buffer::kOut);
    const Shift up = ir::hop(axis, 1);
    steps_.send(place(chunk, axis, 0, 0), out, up, chunk.has_sum);
    const std::uint32_t received =
        steps_.receive(place(chunk, axis, 1, last), out, up, chunk.has_sent);
    steps_.send(place(chunk, axis, 1, last - 1), out, up, {received});
    chunk.has_sum.push_back(received);
  }

  const std::vector<std::uint32_t> sizes_;
  ir::StepBuilder steps_;
};

}  // namespace

Schedule rootedChain(const std::vector<std::uint32_t>& sizes, std::uint32_t chunks) {
  return ChainBuilder(sizes, chunks).run();
}

}  // namespace torc
