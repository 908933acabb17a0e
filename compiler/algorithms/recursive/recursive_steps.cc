#include "compiler/algorithms/recursive/recursive_steps.h"

#include <algorithm>

namespace torc::compiler {

RecursiveSteps::RecursiveSteps(const CollectiveSpec& spec, std::uint32_t most_messages)
    : topology_(spec.topology),
      builder_(ir::scheduleHeader(spec.collective, topology_, 1)),
      stream_(builder_.addStream({0, 0})) {
  for (std::uint32_t i = 0; i < topology_.axis_count; ++i) {
    const std::uint32_t axis = topology_.order[i];
    if (topology_.axes[axis].size == 1) continue;
    axes_.push_back(axis);
    rounds_.push_back(axisRounds(topology_.axes[axis].size, most_messages));
    for (const AxisRound& round : rounds_.back().rounds)
      largest_radix_ = std::max(largest_radix_, round.radix);
  }
}

Region RecursiveSteps::frame() {
  const std::uint32_t frame = builder_.addFrame({{0, 1, builder_.box({})}}, slots_++);
  return wholeFrame(builder_.schedule().frames[frame], frame);
}

ir::StepPlace RecursiveSteps::place(std::size_t axis, Span nodes) {
  Box box;
  box[axes_[axis]] = Interval::absolute(static_cast<std::int32_t>(nodes.first), nodes.count);
  return {stream_, builder_.box(box)};
}

Shift RecursiveSteps::moves(std::size_t axis, std::int64_t distance) const {
  const Axis& on = topology_.axes[axes_[axis]];
  const auto size = std::int64_t{on.size};
  if (on.wraps() && 2 * distance > size) distance -= size;
  if (on.wraps() && 2 * distance < -size) distance += size;
  Shift shift{};
  shift[axes_[axis]] = static_cast<std::int32_t>(distance);
  return shift;
}

void RecursiveSums::exchangeAt(const Members& members, const Exchange& exchange) {
  const ir::StepPlace at = place(axis_, members.nodes);
  const std::uint32_t radix = members.radix();
  Awaited ended;  // before the sum is written, perhaps over `own`
  for (std::uint32_t k = 1; k < radix; ++k) {
    const std::uint32_t digit = (members.digit + k) % radix;
    ended.push_back(builder_.send(at, exchange.sent[digit], moves(axis_, members.distances[digit]),
                                  valueIsThere()));
  }
  std::vector<Region> values(radix, exchange.own);
  std::vector<std::uint32_t> received(radix, kNone);
  for (std::uint32_t k = 1; k < radix; ++k) {
    const std::uint32_t digit = (members.digit + radix - k) % radix;
    values[digit] = exchange.staging[k - 1];
    received[digit] = builder_.receive(at, values[digit], moves(axis_, -members.distances[digit]),
                                       stagingIsFree());
  }
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
    const Region& dst = is_last ? exchange.sum : exchange.partial;
    summed = builder_.reduce(at, dst, sum, values[d], after);
    sum = dst;
  }
  end_ = summed;
}

std::vector<RecursiveSteps::Members> RecursiveSteps::membersOf(
    const AxisRounds& rounds, const AxisRound& round, const std::vector<bool>& split) const {
  // The coordinates that the places from `first` on represent, including nodes folded into them.
  const auto span_of = [&](std::uint32_t first, std::uint32_t count) {
    const std::uint32_t begin = first < rounds.folded ? 2 * first : first + rounds.folded;
    return Span{begin, rounds.coordinateOf(first + count - 1) + 1 - begin};
  };
  std::vector<Members> all;
  for (std::uint32_t p = 0; p < rounds.places(); ++p) {
    const std::uint32_t coordinate = rounds.coordinateOf(p);
    Members members{{coordinate, 1}, p / round.stride % round.radix, {}, {}};
    const std::uint32_t lowest = p - members.digit * round.stride;
    const std::uint32_t group = lowest - lowest % round.stride;
    for (std::uint32_t d = 0; d < round.radix; ++d) {
      members.distances.push_back(std::int64_t{rounds.coordinateOf(lowest + d * round.stride)} -
                                  coordinate);
      members.spans.push_back(span_of(group + d * round.stride, round.stride));
    }
    const bool begins = !split.empty() && split[coordinate];
    if (!all.empty() && !begins && all.back().nodes.first + all.back().nodes.count == coordinate &&
        all.back().digit == members.digit && all.back().distances == members.distances &&
        all.back().spans == members.spans) {
      ++all.back().nodes.count;
    } else {
      all.push_back(std::move(members));
    }
  }
  return all;
}

}  // namespace torc::compiler
