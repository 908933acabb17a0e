// Bruck's all-to-all ("Efficient Algorithms for All-to-All Communications in Multiport
// Message-Passing Systems", IEEE TPDS 1997, section 3.2, radix 2): the fewest messages, each of
// half of a node's data, for blocks so short that start-ups cost more than bytes.
//
// Rounds. A block goes delta steps up the axis, in the powers of two of delta: in round b a node
// sends to the node 2^b above all blocks with that bit. Before the round a node has, of the blocks
// from the node lo below it (lo < 2^b), those to the nodes above it by multiples of 2^b. Blocks
// without the bit stay, copied next to the received ones. If the number of nodes d is no power of
// two, the last multiples have fewer sources.
#include "passes/exchanges/bruck_alltoall.h"

#include <algorithm>
#include <utility>

namespace torc::passes {
namespace {

/// The data of the node `above` the executing one: of the blocks from the nodes lo < `sources`
/// below it, those to the nodes at first, first + step, ... above it, on an axis of `size`.
BlockList blocksOf(ExchangeSteps& steps, std::uint32_t size, std::int32_t above,
                   std::uint32_t sources, std::uint32_t first, std::uint32_t step) {
  BlockList list;
  for (std::uint32_t to = first; to < size; to += step) {
    const std::uint32_t count = std::min(sources, size - to);
    list.push_back(
        steps.blocks(Interval::relative(above - static_cast<std::int32_t>(count - 1), count),
                     Interval::relative(above + static_cast<std::int32_t>(to))));
  }
  return list;
}

}  // namespace

void expandBruckAlltoall(ExchangeSteps steps, std::uint32_t axis) {
  ir::StepBuilder& builder = steps.builder();
  const std::uint32_t size = steps.topology().axes[axis].size;
  ir::OperationIndices after = steps.after();
  std::uint32_t frame = kNone;
  const auto held = [&](const BlockList& blocks) {
    return frame == kNone ? steps.before(blocks) : steps.within(frame, blocks);
  };
  for (std::uint32_t bit = 1; bit < size; bit *= 2) {
    const auto up = static_cast<std::int32_t>(bit);
    const BlockList sent = blocksOf(steps, size, 0, bit, bit, 2 * bit);
    const BlockList received = blocksOf(steps, size, -up, bit, bit, 2 * bit);
    const BlockList kept = blocksOf(steps, size, 0, bit, 0, 2 * bit);
    const bool last = 2 * bit >= size;
    const std::uint32_t next =
        last ? kNone : steps.newFrame(blocksOf(steps, size, 0, 2 * bit, 0, 2 * bit));
    const auto arriving = [&](const BlockList& blocks) {
      return last ? steps.behind(blocks) : steps.within(next, blocks);
    };
    Shift moves{};
    moves[axis] = up;
    const ir::StepPlace place = steps.newStream();
    const std::uint32_t receive = builder.receive(place, arriving(received), moves, {});
    builder.send(place, held(sent), moves, after);
    const std::uint32_t copy = builder.copy(place, arriving(kept), held(kept), after);
    after = {receive, copy};
    frame = next;
  }
  steps.finish(std::move(after));
}

}  // namespace torc::passes
