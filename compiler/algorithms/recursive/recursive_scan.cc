// Along one axis after another, in rank order, nodes exchange the totals of their groups as in an
// allreduce, and groups grow until they are the axis. Within a larger group, a node prepends the
// totals of the groups below its own to the sum of its predecessors on the axis (`before`). At the
// end of an axis that sum is prepended to the node's prefix, which then covers all axes so far. In
// the last round of all, totals go upwards only.
//
// All sums cover consecutive ranks, the lower ones first: the schedule promises ordered sums.
//
// A node accumulates two values: totals, which the next round sends, and prefixes, which the rounds
// do not send. For each, one operation depends on all earlier ones (`totals_`, `prefixes_`).
#include "compiler/algorithms/recursive/recursive_scan.h"

#include <algorithm>
#include <array>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/recursive/recursive_steps.h"

namespace torc::compiler {
namespace {

class RecursiveScan : private RecursiveSteps {
 public:
  RecursiveScan(const CollectiveSpec& spec, std::uint32_t most_messages)
      : RecursiveSteps(spec, most_messages),
        includes_own_(rowOf(spec.collective).includesOwn()),
        in_(whole(Buffer::kIn)),
        out_(whole(Buffer::kOut)) {
    if (axes_.empty()) return;
    total_ = frame();
    before_ = frame();
    if (largest_radix_ > 2) lower_ = frame();
    for (std::vector<Region>& slots : staging_) {
      for (std::uint32_t i = 1; i < largest_radix_; ++i)
        slots.push_back(frame());
    }
  }

  Schedule run() {
    if (axes_.empty() && includes_own_) builder_.copy(everywhere(), out_, in_, {});
    for (axis_ = 0; axis_ < axes_.size(); ++axis_)
      alongAxis(rounds_[axis_]);
    Schedule schedule = builder_.take();
    schedule.flags |= kOrderedSums;
    return schedule;
  }

 private:
  void alongAxis(const AxisRounds& rounds);
  void exchange(const AxisRounds& rounds, const AxisRound& round, bool is_last);
  void exchangeAt(const Members& members, bool is_last);
  void fold(const AxisRounds& rounds);
  void unfold(const AxisRounds& rounds);
  void prepend(const Region& sum, Span nodes, const Awaited& after);
  void prependAt(const ir::StepPlace& at, const Region& sum, const Region* prefix,
                 const Awaited& after);
  void putBefore(const AxisRounds& rounds);

  bool isLastAxis() const { return axis_ + 1 == axes_.size(); }
  /// The value of a node before a round: its contribution, or the total of its group.
  const Region& totalAt(std::uint32_t node) const { return has_total_[node] ? total_ : in_; }

  void beginRound() {
    builder_.setPhase(static_cast<std::uint32_t>(begins_.size()));
    begins_.push_back({totals_, prefixes_});
  }
  /// The operations that wrote the totals for this round.
  Awaited totalIsThere() const { return awaited(begins_.back()[0]); }
  /// The operations that read the staging frames two rounds ago.
  Awaited stagingIsFree() const {
    Awaited after;
    if (begins_.size() < kRoundsOfStaging) return after;
    for (const std::uint32_t end : begins_[begins_.size() - kRoundsOfStaging])
      addTo(after, end);
    return after;
  }
  std::vector<Region>& staging() { return staging_[begins_.size() % kRoundsOfStaging]; }
  static void addTo(Awaited& after, std::uint32_t operation) {
    if (operation != kNone) after.push_back(operation);
  }

  const bool includes_own_;
  const Region in_, out_;
  Region total_;   // of a node's group
  Region before_;  // of earlier groups on the axis
  Region lower_;   // of earlier groups in the round
  std::array<std::vector<Region>, kRoundsOfStaging> staging_;
  // By coordinate on the axis:
  std::vector<bool> has_total_;   // the total is in its frame
  std::vector<bool> has_before_;  // there is a sum of earlier nodes
  std::vector<bool> has_prefix_;  // `out` has a prefix, for all coordinates on other axes
  std::uint32_t totals_ = kNone, prefixes_ = kNone;
  std::uint32_t total_sent_ = kNone, before_sent_ = kNone;  // last send to or by folded nodes
  std::vector<std::array<std::uint32_t, 2>> begins_;        // by round: both at its start
};

void RecursiveScan::alongAxis(const AxisRounds& rounds) {
  has_total_.assign(rounds.size, axis_ > 0);
  has_before_.assign(rounds.size, false);
  has_prefix_.assign(rounds.size, axis_ > 0 && includes_own_);
  if (rounds.folded > 0) fold(rounds);
  for (const AxisRound& round : rounds.rounds)
    exchange(rounds, round, isLastAxis() && &round == &rounds.rounds.back());
  putBefore(rounds);
  if (rounds.folded > 0) unfold(rounds);
  for (std::uint32_t node = 0; node < rounds.size && includes_own_; ++node) {
    if (!has_prefix_[node]) {  // no node precedes it: the prefix is its own value
      prefixes_ = builder_.copy(place(axis_, node), out_, in_, awaited(prefixes_));
    }
  }
}

void RecursiveScan::exchange(const AxisRounds& rounds, const AxisRound& round, bool is_last) {
  beginRound();
  // A guard ends between nodes that differ in having a total, or a sum of earlier nodes.
  std::vector<bool> changes(rounds.size);
  for (std::uint32_t node = 1; node < rounds.size; ++node)
    changes[node] =
        has_total_[node] != has_total_[node - 1] || has_before_[node] != has_before_[node - 1];
  for (const Members& members : membersOf(rounds, round, changes))
    exchangeAt(members, is_last);
  has_total_.assign(rounds.size, true);
}

void RecursiveScan::exchangeAt(const Members& members, bool is_last) {
  const ir::StepPlace at = place(axis_, members.nodes);
  const Region& own = totalAt(members.nodes.first);
  const std::uint32_t radix = members.radix(), digit = members.digit;
  Awaited sent;  // sends read the total, and must end before it is written
  for (std::uint32_t k = 1; k < radix; ++k) {
    const std::uint32_t to = (digit + k) % radix;
    if (is_last && to < digit) continue;
    sent.push_back(builder_.send(at, own, moves(axis_, members.distances[to]), totalIsThere()));
  }
  std::vector<Region> values(radix, own);
  std::vector<std::uint32_t> received(radix, kNone);
  for (std::uint32_t k = 1; k < radix; ++k) {
    const std::uint32_t from = (digit + radix - k) % radix;
    if (is_last && from > digit) continue;
    values[from] = staging()[k - 1];
    received[from] =
        builder_.receive(at, values[from], moves(axis_, -members.distances[from]), stagingIsFree());
  }
  // The values of the lower members, in the order of their coordinates. Their sum precedes the
  // node.
  Region lower = values[0];
  std::uint32_t summed = received[0];
  if (digit > 0) {
    const bool is_first = !has_before_[members.nodes.first];
    const Region& into = is_first ? before_ : lower_;
    Awaited begun = totalIsThere();
    addTo(begun, prefixes_);
    addTo(begun, before_sent_);
    // The last sends read `in`, if that has no total yet; prefixes are written to `out`, perhaps
    // the same memory. No total waits for these sends, so prefixes do.
    if (is_last) begun.append(sent);
    for (std::uint32_t d = 1; d < digit; ++d) {
      Awaited after = begun;
      addTo(after, summed);
      addTo(after, received[d]);
      summed = builder_.reduce(at, into, lower, values[d], after);
      lower = into;
    }
    Awaited after = begun;
    addTo(after, summed);
    if (!is_first) {
      prefixes_ = builder_.reduce(at, before_, lower, before_, after);
    } else if (digit == 1) {
      prefixes_ = builder_.copy(at, before_, lower, after);
    } else {
      prefixes_ = summed;
    }
    for (std::uint32_t k = 0; k < members.nodes.count; ++k)
      has_before_[members.nodes.first + k] = true;
  }
  if (is_last) return;
  // The total; the last step writes it into its frame.
  Region sum = digit == 0 ? own : lower;
  std::uint32_t ended = digit == 0 ? kNone : summed;
  for (std::uint32_t d = std::max(digit, 1u); d < radix; ++d) {
    Awaited after = totalIsThere();
    after.append(sent);
    addTo(after, ended);
    addTo(after, received[d]);
    addTo(after, totals_);
    addTo(after, total_sent_);
    ended = builder_.reduce(at, total_, sum, values[d], after);
    sum = total_;
  }
  totals_ = ended;
}

/// Prepends `sum` to `out` of `nodes`. Nodes may have no prefix from earlier axes: in an exscan,
/// this holds for nodes with coordinate 0 on all axes so far.
void RecursiveScan::prepend(const Region& sum, Span nodes, const Awaited& after) {
  if (has_prefix_[nodes.first]) {
    prependAt(place(axis_, nodes), sum, &out_, after);
  } else if (includes_own_) {
    prependAt(place(axis_, nodes), sum, &in_, after);
  } else {
    Box box;
    box[axes_[axis_]] = Interval::absolute(static_cast<std::int32_t>(nodes.first), nodes.count);
    for (std::size_t i = 0; i < axis_; ++i) {
      box[axes_[i]] = Interval::absolute(1, rounds_[i].size - 1);
      prependAt({stream_, builder_.box(box)}, sum, &out_, after);
      box[axes_[i]] = Interval::absolute(0);
    }
    prependAt({stream_, builder_.box(box)}, sum, nullptr, after);
  }
  for (std::uint32_t k = 0; k < nodes.count; ++k)
    has_prefix_[nodes.first + k] = true;
}

void RecursiveScan::prependAt(const ir::StepPlace& at, const Region& sum, const Region* prefix,
                              const Awaited& after) {
  Awaited all = after;
  addTo(all, prefixes_);
  prefixes_ = prefix == nullptr ? builder_.copy(at, out_, sum, all)
                                : builder_.reduce(at, out_, sum, *prefix, all);
}

/// Prepends the sums of earlier nodes on the axis to the prefixes of all nodes with such a sum.
void RecursiveScan::putBefore(const AxisRounds& rounds) {
  Span nodes;
  for (std::uint32_t node = 0; node <= rounds.size; ++node) {
    const bool has = node < rounds.size && has_before_[node];
    if (nodes.count > 0 && (!has || has_prefix_[node] != has_prefix_[nodes.first])) {
      prepend(before_, nodes, awaited(totals_));
      nodes = {};
    }
    if (!has) continue;
    if (nodes.count == 0) nodes.first = node;
    ++nodes.count;
  }
}

void RecursiveScan::fold(const AxisRounds& rounds) {
  beginRound();
  for (std::uint32_t low = 0; low < 2 * rounds.folded; low += 2) {
    Awaited ready = totalIsThere();
    addTo(ready, total_sent_);
    total_sent_ = builder_.send(place(axis_, low), totalAt(low), moves(axis_, 1), ready);
    const ir::StepPlace above = place(axis_, low + 1);
    Awaited after = totalIsThere();
    after.push_back(builder_.receive(above, staging()[0], moves(axis_, 1), stagingIsFree()));
    addTo(after, totals_);
    addTo(after, total_sent_);
    totals_ = builder_.reduce(above, total_, staging()[0], totalAt(low + 1), after);
    prepend(staging()[0], {low + 1, 1}, {totals_});
    has_total_[low + 1] = true;
  }
}

/// A folded node gets the sum of the nodes before the pair, and the total of the axis if another
/// axis follows.
void RecursiveScan::unfold(const AxisRounds& rounds) {
  beginRound();
  for (std::uint32_t low = 0; low < 2 * rounds.folded; low += 2) {
    const ir::StepPlace above = place(axis_, low + 1), below = place(axis_, low);
    if (low > 0) {
      Awaited ready = awaited(begins_.back()[1]);
      addTo(ready, before_sent_);
      before_sent_ = builder_.send(above, before_, moves(axis_, -1), ready);
      prepend(
          staging()[0], {low, 1},
          {builder_.receive(below, staging()[0], moves(axis_, -1), stagingIsFree()), total_sent_});
    }
    if (isLastAxis()) continue;
    Awaited ready = totalIsThere();
    addTo(ready, total_sent_);
    Awaited after = ready;
    addTo(after, totals_);
    total_sent_ = builder_.send(above, total_, moves(axis_, -1), ready);
    totals_ = builder_.receive(below, total_, moves(axis_, -1), after);
  }
  has_total_.assign(rounds.size, true);
}

}  // namespace

Schedule recursiveScan(const CollectiveSpec& spec, std::uint32_t most_messages) {
  return RecursiveScan(spec, most_messages).run();
}

}  // namespace torc::compiler
