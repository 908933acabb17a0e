// Along one axis after another every node exchanges what it has with the others of its group, and
// adds: round by round (axis_rounds.h) groups grow until they are the axis. n bytes in R rounds of
// f - 1 messages take about
//   sum over the rounds of (alpha + (f - 1) hops n beta)
// where messages of a round that go over several hops share links: the vector travels whole, so
// this is for short ones. The bandwidth's bound is further away the longer the axes are.
//
// Sums. The members of a group add what they have in the order of their coordinates, all the same
// way, so that every rank has the same bits. Groups stand for consecutive nodes of an axis, and
// axes are gone through as ranks are counted: a sum is always of consecutive ranks, in their order.
//
// A message has a guard for its nodes by their coordinates on the axis; consecutive ones that send
// equally far share one. Steps of a round end in one operation on each node; these name one
// another, so that who waits for the last of them waits for the own: dependences pass through
// operations that a node does not execute. Every round is a phase.
#include "compiler/algorithms/recursive/recursive_exchange.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/recursive/axis_rounds.h"
#include "ir/step_builder.h"

namespace torc {
namespace {

/// A round receives while what came in the one before is added.
constexpr std::uint32_t kRoundsOfStaging = 2;

class RecursiveSteps {
 public:
  RecursiveSteps(const CollectiveSpec& spec, std::uint32_t most_messages)
      : topology_(spec.topology),
        builder_(scheduleHeader(spec.collective, topology_, 1)),
        stream_(builder_.addStream({0, 0})),
        in_(data(Buffer::kIn)),
        out_(data(Buffer::kOut)) {
    std::uint32_t largest = 2;
    for (std::uint32_t i = 0; i < topology_.axis_count; ++i) {
      const std::uint32_t axis = topology_.order[i];
      if (topology_.axes[axis].size == 1) continue;
      axes_.push_back(axis);
      rounds_.push_back(axisRounds(topology_.axes[axis].size, most_messages));
      for (const AxisRound& round : rounds_.back().rounds)
        largest = std::max(largest, round.radix);
    }
    if (axes_.empty()) return;
    if (largest > 2) sum_ = frame();
    for (std::vector<Region>& slots : staging_) {
      for (std::uint32_t i = 0; i < largest; ++i)
        slots.push_back(i + 1 < largest ? frame() : Region{});
    }
  }

  Schedule run() {
    if (axes_.empty()) builder_.copy({stream_, kNone}, out_, in_, {});
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      axis_ = axes_[i];
      const AxisRounds& rounds = rounds_[i];
      has_sum_.assign(rounds.size, i > 0);
      if (rounds.folded > 0) fold(rounds);
      for (const AxisRound& round : rounds.rounds)
        exchange(rounds, round);
      if (rounds.folded > 0) unfold(rounds);
    }
    return builder_.take();
  }

 private:
  /// Nodes of consecutive coordinates on the axis that do the same in a round.
  struct Members {
    std::uint32_t first = 0, count = 0, digit = 0;
    bool has_sum = false;
    llvm::SmallVector<std::int64_t, 8> distances;  // to the member of each digit
  };

  void exchange(const AxisRounds& rounds, const AxisRound& round);
  void exchangeAt(const Members& members);
  std::vector<Members> membersOf(const AxisRounds& rounds, const AxisRound& round) const;
  void fold(const AxisRounds& rounds);
  void unfold(const AxisRounds& rounds);

  Region data(Buffer buffer) { return builder_.region(buffer, {{0, 1, builder_.box({})}}); }
  Region frame() {
    const std::uint32_t frame = builder_.addFrame({{0, 1, builder_.box({})}}, slots_++);
    return wholeFrame(builder_.schedule().frames[frame], frame);
  }
  StepPlace place(std::uint32_t first, std::uint32_t count = 1) {
    Box box;
    box[axis_] = Interval::absolute(static_cast<std::int32_t>(first), count);
    return {stream_, builder_.box(box)};
  }
  /// What nodes have before a round: what they contribute, or a sum.
  const Region& value(bool has_sum) const { return has_sum ? out_ : in_; }
  /// The way by which a message moves, the shorter one round a ring.
  Shift moves(std::int64_t distance) const;

  void beginRound() {
    builder_.setPhase(static_cast<std::uint32_t>(begins_.size()));
    begins_.push_back(end_);
  }
  using Awaited = llvm::SmallVector<std::uint32_t, 16>;
  /// What brought the value of a round to its nodes.
  Awaited valueIsThere() const { return awaited(begins_.back()); }
  /// What read the staging of a round before, in the last round but one.
  Awaited stagingIsFree() const {
    return begins_.size() < kRoundsOfStaging ? Awaited()
                                             : awaited(begins_[begins_.size() - kRoundsOfStaging]);
  }
  std::vector<Region>& staging() { return staging_[begins_.size() % kRoundsOfStaging]; }
  static Awaited awaited(std::uint32_t operation) {
    return operation == kNone ? Awaited() : Awaited{operation};
  }
  /// `operation` ends a round on its nodes.
  void ends(std::uint32_t operation) { end_ = operation; }
  void awaitEnd(Awaited& after) const {
    if (end_ != kNone) after.push_back(end_);
  }

  const Topology topology_;
  StepBuilder builder_;
  const std::uint32_t stream_;
  const Region in_, out_;
  std::uint32_t slots_ = 0;
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes_;  // of more than one node, as ranks are counted
  llvm::SmallVector<AxisRounds, kMaxAxes> rounds_;   // of each of them
  Region sum_;                                       // of a group's first members
  std::array<std::vector<Region>, kRoundsOfStaging> staging_;
  std::uint32_t axis_ = 0;             // that is exchanged along
  std::vector<bool> has_sum_;          // by coordinate: the value is in `out`
  std::vector<std::uint32_t> begins_;  // by round: what ended the one before; kNone: nothing
  std::uint32_t end_ = kNone;          // names all that end the round so far
  std::vector<std::uint32_t> folds_;   // the sends of the axis's folded nodes
};

Shift RecursiveSteps::moves(std::int64_t distance) const {
  const Axis& axis = topology_.axes[axis_];
  const auto size = std::int64_t{axis.size};
  if (axis.wraps() && 2 * distance > size) distance -= size;
  if (axis.wraps() && 2 * distance < -size) distance += size;
  Shift shift{};
  shift[axis_] = static_cast<std::int32_t>(distance);
  return shift;
}

std::vector<RecursiveSteps::Members> RecursiveSteps::membersOf(const AxisRounds& rounds,
                                                               const AxisRound& round) const {
  std::vector<Members> all;
  for (std::uint32_t p = 0; p < rounds.places(); ++p) {
    const std::uint32_t digit = p / round.stride % round.radix;
    const std::uint32_t coordinate = rounds.coordinateOf(p);
    Members members{coordinate, 1, digit, has_sum_[coordinate], {}};
    const std::uint32_t lowest = p - digit * round.stride;
    for (std::uint32_t d = 0; d < round.radix; ++d) {
      members.distances.push_back(std::int64_t{rounds.coordinateOf(lowest + d * round.stride)} -
                                  coordinate);
    }
    if (!all.empty() && all.back().first + all.back().count == coordinate &&
        all.back().digit == digit && all.back().has_sum == members.has_sum &&
        all.back().distances == members.distances) {
      ++all.back().count;
    } else {
      all.push_back(std::move(members));
    }
  }
  return all;
}

void RecursiveSteps::exchange(const AxisRounds& rounds, const AxisRound& round) {
  beginRound();
  for (const Members& members : membersOf(rounds, round))
    exchangeAt(members);
  has_sum_.assign(rounds.size, true);
}

void RecursiveSteps::exchangeAt(const Members& members) {
  const StepPlace at = place(members.first, members.count);
  const Region& own = value(members.has_sum);
  const auto radix = static_cast<std::uint32_t>(members.distances.size());
  Awaited ended;  // before `out` is written, where `own` may be
  for (std::uint32_t k = 1; k < radix; ++k) {
    const std::int64_t distance = members.distances[(members.digit + k) % radix];
    ended.push_back(builder_.send(at, own, moves(distance), valueIsThere()));
  }
  std::vector<Region> values(radix, own);
  std::vector<std::uint32_t> received(radix, kNone);
  for (std::uint32_t k = 1; k < radix; ++k) {
    const std::uint32_t digit = (members.digit + radix - k) % radix;
    values[digit] = staging()[k - 1];
    received[digit] =
        builder_.receive(at, values[digit], moves(-members.distances[digit]), stagingIsFree());
  }
  // In the order of the coordinates, the last step into `out`.
  Region sum = values[0];
  std::uint32_t summed = received[0];
  for (std::uint32_t d = 1; d < radix; ++d) {
    Awaited after = valueIsThere();
    for (const std::uint32_t operation : {summed, received[d]}) {
      if (operation != kNone) after.push_back(operation);
    }
    const bool is_last = d + 1 == radix;
    if (is_last) {
      after.append(ended);
      awaitEnd(after);
    }
    const Region& dst = is_last ? out_ : sum_;
    summed = builder_.reduce(at, dst, sum, values[d], after);
    sum = dst;
  }
  ends(summed);
}

void RecursiveSteps::fold(const AxisRounds& rounds) {
  beginRound();
  folds_.clear();
  for (std::uint32_t low = 0; low < 2 * rounds.folded; low += 2) {
    const Region& own = value(has_sum_[low]);
    folds_.push_back(builder_.send(place(low), own, moves(1), valueIsThere()));
    const StepPlace above = place(low + 1);
    Awaited after{builder_.receive(above, staging()[0], moves(1), stagingIsFree())};
    awaitEnd(after);
    ends(builder_.reduce(above, out_, staging()[0], own, after));
    has_sum_[low + 1] = true;
  }
}

void RecursiveSteps::unfold(const AxisRounds& rounds) {
  beginRound();
  for (std::uint32_t low = 0; low < 2 * rounds.folded; low += 2) {
    Awaited after{folds_[low / 2], builder_.send(place(low + 1), out_, moves(-1), valueIsThere())};
    awaitEnd(after);
    ends(builder_.receive(place(low), out_, moves(-1), after));
  }
}

llvm::Expected<Program> planExchanges(const CollectiveSpec& spec, const char* name,
                                      std::uint32_t most_messages) {
  if (spec.topology.isDamaged()) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   std::string(name) + ": messages cannot go round damage");
  }
  Program program;
  program.schedule = RecursiveSteps(spec, most_messages).run();
  return program;
}

}  // namespace

llvm::Expected<Program> planRecursiveDoubling(const CollectiveSpec& spec) {
  return planExchanges(spec, "recursive-doubling", 1);
}

llvm::Expected<Program> planRecursiveMultiplying(const CollectiveSpec& spec) {
  return planExchanges(spec, "recursive-multiplying", 7);
}

}  // namespace torc
