// The allgather (recursive_allgather.cc) backwards in time: axes and rounds in reverse. Before a
// round a node has sums of the blocks of a box: its group's span on the axis, all coordinates on
// earlier axes, its own coordinate on later ones. It sends each other member of the group the sums
// of that member's smaller group, and receives the sums of its own. It adds them in the order of
// the members' coordinates.
//
// Sums lie in frames, in a different slot than their operands; the last sums are written to `out`.
// Folded nodes first send all their blocks, and at the end receive the sum of their own block.
#include "compiler/algorithms/recursive/recursive_reduce_scatter.h"

#include <map>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/recursive/recursive_steps.h"

namespace torc::compiler {
namespace {

/// Purposes of slots.
enum class SlotUse : std::uint8_t { kSum, kOtherSum, kCommonSum, kStaging };

class RecursiveReduceScatter : private RecursiveSums {
 public:
  RecursiveReduceScatter(const CollectiveSpec& spec, std::uint32_t most_messages)
      : RecursiveSums(spec, most_messages) {}

  Schedule run() {
    if (axes_.empty()) {
      builder_.copy(everywhere(), own(Buffer::kOut), own(Buffer::kIn), {});
      return builder_.take();
    }
    for (axis_ = axes_.size(); axis_-- > 0;) {
      const AxisRounds& rounds = rounds_[axis_];
      const bool is_first = axis_ + 1 == axes_.size();
      frames_.assign(rounds.size, is_first ? kNone : common_);
      if (rounds.folded > 0) fold(rounds);
      for (std::size_t i = rounds.rounds.size(); i-- > 0;)
        exchange(rounds, rounds.rounds[i], i == 0);
      if (rounds.folded > 0) unfold(rounds);
    }
    return builder_.take();
  }

 private:
  /// Blocks of a span of the axis, of all axes before it, of the own coordinate on later axes.
  std::uint32_t boxOf(const Span& span) {
    Box box;
    for (std::size_t i = axis_; i < axes_.size(); ++i)
      box[axes_[i]] = Interval::relative(0);
    if (span.count == rounds_[axis_].size) {
      box[axes_[axis_]] = Interval::all();
    } else if (span.count > 1) {
      box[axes_[axis_]] = Interval::absolute(static_cast<std::int32_t>(span.first), span.count);
    }
    return builder_.box(box);
  }
  /// The same for the blocks of another node: a span of one node is named by its coordinate.
  std::uint32_t boxOfOther(const Span& span) {
    if (span.count > 1) return boxOf(span);
    Box box;
    for (std::size_t i = axis_; i < axes_.size(); ++i)
      box[axes_[i]] = Interval::relative(0);
    box[axes_[axis_]] = Interval::absolute(static_cast<std::int32_t>(span.first));
    return builder_.box(box);
  }
  Region own(Buffer buffer) {
    Box box;
    for (const std::uint32_t axis : axes_)
      box[axis] = Interval::relative(0);
    return builder_.region(buffer, {{0, 1, builder_.box(box)}});
  }
  Region inFrame(std::uint32_t frame, std::uint32_t box) {
    return frame == kNone ? builder_.region(Buffer::kIn, {{0, 1, box}})
                          : builder_.region(Buffer::kScratch, {{0, 1, box}}, frame);
  }
  /// Slots are numbered in the order of their first use.
  std::uint32_t slotFor(SlotUse use, std::uint32_t k = 0) {
    const auto number = static_cast<std::uint32_t>(slots_.size());
    return slots_.try_emplace({use, k}, number).first->second;
  }
  std::uint32_t frame(std::uint32_t box, std::uint32_t slot) {
    const auto [entry, is_new] = known_frames_.try_emplace({box, slot}, 0);
    if (is_new) entry->second = builder_.addFrame({{0, 1, box}}, slot);
    return entry->second;
  }
  /// The frame for sums of `box` with operands in frame `before`, or in `in`.
  std::uint32_t sumFrame(std::uint32_t box, std::uint32_t before) {
    const bool is_first =
        before != kNone && builder_.schedule().frames[before].slot == slotFor(SlotUse::kSum);
    return frame(box, slotFor(is_first ? SlotUse::kOtherSum : SlotUse::kSum));
  }
  /// The frame for the k-th message of a round.
  std::uint32_t stagingFrame(std::uint32_t box, std::uint32_t k) {
    return frame(box, slotFor(SlotUse::kStaging, turn() * (largest_radix_ - 1) + k));
  }

  void exchange(const AxisRounds& rounds, const AxisRound& round, bool is_last);
  void addUp(const Members& members, bool is_result, std::vector<std::uint32_t>& frames);
  void fold(const AxisRounds& rounds);
  void unfold(const AxisRounds& rounds);

  std::vector<std::uint32_t> frames_;  // by coordinate: of the sums; kNone: `in`
  std::uint32_t common_ = kNone;       // frame of the sums on all nodes after an axis
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_frames_;  // by box, slot
  std::map<std::pair<SlotUse, std::uint32_t>, std::uint32_t> slots_;
};

void RecursiveReduceScatter::exchange(const AxisRounds& rounds, const AxisRound& round,
                                      bool is_last) {
  beginRound();
  std::vector<bool> changes(rounds.size);
  for (std::uint32_t node = 1; node < rounds.size; ++node)
    changes[node] = frames_[node] != frames_[node - 1];
  std::vector<std::uint32_t> frames = frames_;
  for (const Members& members : membersOf(rounds, round, changes)) {
    const bool is_single = members.spans[members.digit].count == 1;
    addUp(members, is_last && axis_ == 0 && is_single, frames);
  }
  frames_ = std::move(frames);
  if (is_last) common_ = frames_.back();  // unfold replaces it if nodes are folded
}

void RecursiveReduceScatter::addUp(const Members& members, bool is_result,
                                   std::vector<std::uint32_t>& frames) {
  const std::uint32_t before = frames_[members.nodes.first];
  const std::uint32_t box = boxOf(members.spans[members.digit]);
  Exchange exchange;
  exchange.own = inFrame(before, box);
  for (std::uint32_t digit = 0; digit < members.radix(); ++digit) {
    exchange.sent.push_back(inFrame(before, boxOfOther(members.spans[digit])));
    if (digit > 0) exchange.staging.push_back(inFrame(stagingFrame(box, digit - 1), box));
  }
  exchange.sum = own(Buffer::kOut);
  if (!is_result) {
    const std::uint32_t into = sumFrame(box, before);
    exchange.sum = inFrame(into, box);
    for (std::uint32_t i = 0; i < members.nodes.count; ++i)
      frames[members.nodes.first + i] = into;
  }
  exchange.partial = exchange.sum;
  exchangeAt(members, exchange);
}

void RecursiveReduceScatter::fold(const AxisRounds& rounds) {
  beginRound();
  const std::uint32_t box = boxOf({0, rounds.size});
  const Region handed = inFrame(stagingFrame(box, 0), box);
  const std::uint32_t into = sumFrame(box, frames_[0]);
  for (std::uint32_t low = 0; low < 2 * rounds.folded; low += 2) {
    const Region own = inFrame(frames_[low], box);
    const std::uint32_t sent =
        builder_.send(place(axis_, low), own, moves(axis_, 1), valueIsThere());
    const ir::StepPlace above = place(axis_, low + 1);
    Awaited after{builder_.receive(above, handed, moves(axis_, 1), stagingIsFree()), sent};
    awaitEnd(after);
    end_ = builder_.reduce(above, inFrame(into, box), handed, own, after);
    frames_[low + 1] = into;
  }
}

void RecursiveReduceScatter::unfold(const AxisRounds& rounds) {
  beginRound();
  const std::uint32_t box = boxOf({0, 1});
  const bool is_result = axis_ == 0;
  if (!is_result) common_ = frame(box, slotFor(SlotUse::kCommonSum));
  const Region result = is_result ? own(Buffer::kOut) : inFrame(common_, box);
  for (std::uint32_t node = 0; node < rounds.size; ++node) {
    const ir::StepPlace at = place(axis_, node);
    Awaited after = valueIsThere();
    if (rounds.isFolded(node)) {
      after.push_back(builder_.send(place(axis_, node + 1),
                                    inFrame(frames_[node + 1], boxOfOther({node, 1})),
                                    moves(axis_, -1), valueIsThere()));
      awaitEnd(after);
      end_ = builder_.receive(at, result, moves(axis_, -1), after);
    } else if (!is_result || node < 2 * rounds.folded) {
      awaitEnd(after);
      end_ = builder_.copy(at, result, inFrame(frames_[node], box), after);
    }
  }
}

}  // namespace

Schedule recursiveReduceScatter(const CollectiveSpec& spec, std::uint32_t most_messages) {
  return RecursiveReduceScatter(spec, most_messages).run();
}

}  // namespace torc::compiler
