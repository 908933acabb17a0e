// Along one axis after another every node exchanges its value with the others of its group, and
// adds: round by round (axis_rounds.h) groups grow until they are the whole axis. n bytes in R
// rounds of f - 1 messages take about
//   sum over the rounds of (alpha + (f - 1) hops n beta)
// if messages of a round over several hops share links. The whole vector travels, so this suits
// short vectors; on longer axes it is further from the bandwidth bound.
//
// Sums. The members of a group all add their values in the order of their coordinates, so that
// every rank has the same bits. Groups represent consecutive nodes of an axis, and axes are visited
// in rank order: a sum always covers consecutive ranks, in their order.
//
// The steps of a round end in one sum on each node.
#include "compiler/algorithms/recursive/recursive_allreduce.h"

#include <algorithm>
#include <array>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/recursive/recursive_steps.h"

namespace torc::compiler {
namespace {

class RecursiveAllreduce : private RecursiveSums {
 public:
  RecursiveAllreduce(const CollectiveSpec& spec, std::uint32_t most_messages)
      : RecursiveSums(spec, most_messages), in_(whole(Buffer::kIn)), out_(whole(Buffer::kOut)) {
    if (axes_.empty()) return;
    if (largest_radix_ > 2) sum_ = frame();
    for (llvm::SmallVector<Region, 8>& slots : staging_) {
      for (std::uint32_t i = 1; i < largest_radix_; ++i)
        slots.push_back(frame());
    }
  }

  Schedule run() {
    if (axes_.empty()) builder_.copy(everywhere(), out_, in_, {});
    for (axis_ = 0; axis_ < axes_.size(); ++axis_) {
      const AxisRounds& rounds = rounds_[axis_];
      has_sum_.assign(rounds.size, axis_ > 0);
      if (rounds.folded > 0) fold(rounds);
      for (const AxisRound& round : rounds.rounds)
        exchange(rounds, round);
      if (rounds.folded > 0) unfold(rounds);
    }
    Schedule schedule = builder_.take();
    schedule.flags |= kOrderedSums;
    return schedule;
  }

 private:
  void exchange(const AxisRounds& rounds, const AxisRound& round);
  void fold(const AxisRounds& rounds);
  void unfold(const AxisRounds& rounds);

  /// The value of a node before a round: its contribution, or a sum.
  const Region& valueAt(std::uint32_t node) const { return has_sum_[node] ? out_ : in_; }

  llvm::SmallVector<Region, 8>& staging() { return staging_[turn()]; }

  const Region in_, out_;
  Region sum_;  // of the first members of a group
  std::array<llvm::SmallVector<Region, 8>, kRoundsOfStaging> staging_;
  std::vector<bool> has_sum_;         // by coordinate: the value is in `out`
  std::vector<std::uint32_t> folds_;  // the sends of the folded nodes on the axis
};

void RecursiveAllreduce::exchange(const AxisRounds& rounds, const AxisRound& round) {
  beginRound();
  // A guard ends between nodes with sums and nodes without.
  std::vector<bool> changes(rounds.size);
  for (std::uint32_t node = 1; node < rounds.size; ++node)
    changes[node] = has_sum_[node] != has_sum_[node - 1];
  for (const Members& members : membersOf(rounds, round, changes)) {
    const Region& own = valueAt(members.nodes.first);
    exchangeAt(members,
               {llvm::SmallVector<Region, 8>(members.radix(), own), own, staging(), sum_, out_});
  }
  has_sum_.assign(rounds.size, true);
}

void RecursiveAllreduce::fold(const AxisRounds& rounds) {
  beginRound();
  folds_.clear();
  for (std::uint32_t low = 0; low < 2 * rounds.folded; low += 2) {
    folds_.push_back(
        builder_.send(place(axis_, low), valueAt(low), moves(axis_, 1), valueIsThere()));
    const ir::StepPlace above = place(axis_, low + 1);
    Awaited after{builder_.receive(above, staging()[0], moves(axis_, 1), stagingIsFree())};
    awaitEnd(after);
    end_ = builder_.reduce(above, out_, staging()[0], valueAt(low + 1), after);
    has_sum_[low + 1] = true;
  }
}

void RecursiveAllreduce::unfold(const AxisRounds& rounds) {
  beginRound();
  for (std::uint32_t low = 0; low < 2 * rounds.folded; low += 2) {
    Awaited after{folds_[low / 2],
                  builder_.send(place(axis_, low + 1), out_, moves(axis_, -1), valueIsThere())};
    awaitEnd(after);
    end_ = builder_.receive(place(axis_, low), out_, moves(axis_, -1), after);
  }
}

}  // namespace

Schedule recursiveAllreduce(const CollectiveSpec& spec, std::uint32_t most_messages) {
  return RecursiveAllreduce(spec, most_messages).run();
}

}  // namespace torc::compiler
