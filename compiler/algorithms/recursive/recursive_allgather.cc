// In a round every node has the blocks of a box: its group's span on the axis, all coordinates on
// earlier axes, its own coordinate on later ones. It sends them to the other members, and receives
// their blocks in their final place in `out`. Every block reaches a node once; a node sends each of
// its blocks at most f - 1 times.
#include "compiler/algorithms/recursive/recursive_allgather.h"

#include <utility>

#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/recursive/recursive_steps.h"

namespace torc::compiler {
namespace {

class RecursiveAllgather : private RecursiveSteps {
 public:
  RecursiveAllgather(const CollectiveSpec& spec, std::uint32_t most_messages)
      : RecursiveSteps(spec, most_messages) {}

  Schedule run() {
    const Region own = blocks(Buffer::kOut, 0, {});
    copied_ = builder_.copy(everywhere(), own, blocks(Buffer::kIn, 0, {}), {});
    for (axis_ = 0; axis_ < axes_.size(); ++axis_) {
      const AxisRounds& rounds = rounds_[axis_];
      if (rounds.folded > 0) fold(rounds);
      for (const AxisRound& round : rounds.rounds)
        exchange(rounds, round);
      if (rounds.folded > 0) unfold(rounds);
    }
    return builder_.take();
  }

 private:
  /// Blocks of some spans of axis `at` and of all earlier axes; without a span, the own block.
  Region blocks(Buffer buffer, std::size_t at, llvm::ArrayRef<Span> spans) {
    Box box;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (i >= at) box[axes_[i]] = Interval::relative(0);
    }
    if (spans.empty()) return builder_.region(buffer, {{0, 1, builder_.box(box)}});
    llvm::SmallVector<Piece, 2> pieces;
    for (const Span& span : spans) {
      box[axes_[at]] = span.count == rounds_[at].size
                           ? Interval::all()
                           : Interval::absolute(static_cast<std::int32_t>(span.first), span.count);
      pieces.push_back({0, 1, builder_.box(box)});
    }
    return builder_.region(buffer, pieces);
  }

  /// The blocks of a node: at first its own block in `in`, later the gathered blocks in `out`.
  Region gathered(const Span& span) {
    const bool is_own = axis_ == 0 && span.count == 1;
    return blocks(is_own ? Buffer::kIn : Buffer::kOut, axis_,
                  is_own ? llvm::ArrayRef<Span>() : span);
  }

  void beginRound() {
    builder_.setPhase(phases_++);
    chains_.assign(largest_radix_, kNone);
  }
  void endRound() {
    for (const std::uint32_t last : chains_) {
      if (last != kNone) received_.push_back(last);
    }
  }
  /// All receives of a node in earlier rounds.
  Awaited allIsThere() const {
    Awaited after(received_.begin(), received_.end());
    after.push_back(copied_);
    return after;
  }
  /// The k-th receive of a round; receives with different guards form a chain of dependences.
  void receive(std::uint32_t k, const ir::StepPlace& at, const Region& into,
               std::int64_t distance) {
    chains_[k] = builder_.receive(at, into, moves(axis_, distance), awaited(chains_[k]));
  }

  void exchange(const AxisRounds& rounds, const AxisRound& round) {
    beginRound();
    for (const Members& members : membersOf(rounds, round)) {
      const ir::StepPlace at = place(axis_, members.nodes);
      const std::uint32_t radix = members.radix();
      const Region own = gathered(members.spans[members.digit]);
      for (std::uint32_t k = 1; k < radix; ++k) {
        const std::int64_t distance = members.distances[(members.digit + k) % radix];
        builder_.send(at, own, moves(axis_, distance), allIsThere());
      }
      // Near nodes first, so that a node's blocks have no holes: this shortens the proof.
      for (std::uint32_t k = 1; k < radix; ++k) {
        const bool is_below = k <= members.digit;
        const std::uint32_t digit = is_below ? members.digit - k : k;
        receive(k, at, blocks(Buffer::kOut, axis_, members.spans[digit]),
                -members.distances[digit]);
      }
    }
    endRound();
  }

  void fold(const AxisRounds& rounds) {
    beginRound();
    for (std::uint32_t low = 0; low < 2 * rounds.folded; low += 2) {
      builder_.send(place(axis_, low), gathered({low, 1}), moves(axis_, 1), allIsThere());
      receive(0, place(axis_, low + 1), blocks(Buffer::kOut, axis_, Span{low, 1}), 1);
    }
    endRound();
  }

  void unfold(const AxisRounds& rounds) {
    beginRound();
    for (std::uint32_t low = 0; low < 2 * rounds.folded; low += 2) {
      // All blocks but those that the folded node sent.
      llvm::SmallVector<Span, 2> rest;
      if (low > 0) rest.push_back({0, low});
      rest.push_back({low + 1, rounds.size - low - 1});
      const Region others = blocks(Buffer::kOut, axis_, rest);
      builder_.send(place(axis_, low + 1), others, moves(axis_, -1), allIsThere());
      receive(0, place(axis_, low), others, -1);
    }
    endRound();
  }

  std::uint32_t phases_ = 0;
  std::uint32_t copied_ = kNone;         // the copy of the own block into `out`
  std::vector<std::uint32_t> chains_;    // of this round, by number of the receive: the last one
  std::vector<std::uint32_t> received_;  // the ends of these chains in earlier rounds
};

}  // namespace

Schedule recursiveAllgather(const CollectiveSpec& spec, std::uint32_t most_messages) {
  return RecursiveAllgather(spec, most_messages).run();
}

}  // namespace torc::compiler
