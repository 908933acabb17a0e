#include "passes/rounds/round_steps.h"

#include <algorithm>

namespace torc::passes {
namespace {

/// Received data use other slots than in the round before.
constexpr std::uint32_t kTurns = 2;

void add(ir::OperationIndices& list, const ir::OperationIndices& more) {
  for (const std::uint32_t operation : more) {
    if (std::find(list.begin(), list.end(), operation) == list.end()) list.push_back(operation);
  }
}

Box coordinatesOf(const Topology& topology, const PlanProgress& progress) {
  Box box;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (progress.isFixed(i) || topology.axes[i].size == 1) box[i] = Interval::relative(0);
  }
  return box;
}

}  // namespace

RoundSteps::RoundSteps(ir::StepBuilder& builder, RoundPart& part, std::uint32_t axis)
    : builder_(builder),
      topology_(builder.schedule().topology),
      part_(part),
      axis_(axis),
      size_(topology_.axes[axis].size),
      first_axis_(!part.progress.hasStarted()),
      there_(size_),
      there_before_(size_),
      sent_(size_) {}

void RoundSteps::copyOwn(ir::StepBuilder& builder, RoundPart& part) {
  const Box own = coordinatesOf(builder.schedule().topology, part.progress);
  const Piece piece{part.part, 1, builder.box(own)};
  part.copied = builder.copy({.stream = part.stream}, builder.region(Buffer::kOut, piece),
                             builder.region(Buffer::kIn, piece), {});
}

void RoundSteps::reduceScatter(const std::vector<RingRound>& rounds) {
  has_sum_.assign(size_, std::vector<bool>(size_, !first_axis_));
  own_additions_.assign(size_, 0);
  for (const RingRound& round : rounds) {
    for (const RingMessage& message : round)
      own_additions_[message.to] += std::ranges::count(message.blocks, message.to);
  }
  for (std::size_t i = 0; i < rounds.size(); ++i, ++part_.rounds) {
    round_ = i;
    const std::vector<Role> roles = rolesInReduceScatter(rounds[i]);
    std::vector<ir::OperationIndices> before = there_;
    for (const Members& members : membersOf(roles))
      reduceScatterAt(members, i + 1 == rounds.size());
    there_before_ = std::move(before);
  }
  endAxis();
}

void RoundSteps::allgather(const std::vector<RingRound>& rounds) {
  if (first_axis_) copyOwn(builder_, part_);
  for (std::size_t i = rounds.size(); i-- > 0;) {
    round_ = rounds.size() - 1 - i;
    const std::vector<Role> roles = rolesInAllgather(rounds[i]);
    for (const Members& members : membersOf(roles))
      allgatherAt(members);
  }
  endAxis();
}

void RoundSteps::endAxis() {
  part_.ended = tails_;
  if (chain_ != kNone) part_.ended.push_back(chain_);
  for (const auto& [number, last] : chains_)
    part_.ended.push_back(last);
}

// --- roles of nodes ---

/// Consecutive nodes with equal roles.
std::vector<RoundSteps::Members> RoundSteps::membersOf(const std::vector<Role>& roles) {
  std::vector<Members> all;
  for (std::uint32_t node = 0; node < roles.size(); ++node) {
    if (!all.empty() && *all.back().role == roles[node]) {
      ++all.back().count;
    } else {
      all.push_back({node, 1, &roles[node]});
    }
  }
  return all;
}

/// `blocks`, counted from `origin`, relative to `node`.
RoundSteps::Runs RoundSteps::runsOf(const std::vector<std::uint32_t>& blocks, std::uint32_t origin,
                                    std::uint32_t node) const {
  const bool wraps = topology_.axes[axis_].wraps();
  std::vector<std::int64_t> from_origin;
  for (const std::uint32_t block : blocks) {
    const std::int64_t offset = std::int64_t{block} - origin;
    from_origin.push_back(wraps ? wrap(offset, size_) : offset);
  }
  std::ranges::sort(from_origin);
  Runs runs;
  std::int64_t next = 0;
  for (const std::int64_t offset : from_origin) {
    if (!runs.empty() && offset == next) {
      ++runs.back().length;
    } else {
      std::int64_t seen = offset + origin - node;
      if (wraps) {
        seen = wrap(seen, size_);
        if (2 * seen > size_) seen -= size_;
      }
      runs.push_back({static_cast<std::int32_t>(seen), 1});
    }
    next = offset + 1;
  }
  return runs;
}

std::vector<RoundSteps::Role> RoundSteps::rolesInReduceScatter(const RingRound& round) {
  const bool is_result = !everyoneHasOut() && part_.progress.isLastToReduce(axis_);
  std::vector<RingMessage> messages;  // by whether their blocks have sums
  std::vector<bool> have_sums;
  for (const RingMessage& message : round) {
    for (const bool has_sums : {false, true}) {
      RingMessage some = message;
      std::erase_if(some.blocks,
                    [&](std::uint32_t block) { return has_sum_[message.from][block] != has_sums; });
      if (some.blocks.empty()) continue;
      messages.push_back(std::move(some));
      have_sums.push_back(has_sums);
    }
  }
  std::vector<Role> roles(size_);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& [from, to, moves, blocks] = messages[i];
    Message sent;
    sent.moves = moves;
    sent.has_sums = have_sums[i];
    sent.blocks = runsOf(blocks, from, from);
    roles[from].sends.push_back(std::move(sent));

    Message received;
    received.moves = moves;
    received.blocks = runsOf(blocks, from, to);
    std::vector<std::uint32_t> lists[kAdditions];
    for (const std::uint32_t block : blocks) {
      const bool is_last = is_result && block == to && --own_additions_[to] == 0;
      const std::size_t addition = has_sum_[to][block] ? kAdded : kBegun;
      lists[is_last ? kLast + addition : addition].push_back(block);
      has_sum_[to][block] = true;
    }
    for (std::size_t k = 0; k < kAdditions; ++k)
      received.additions[k] = runsOf(lists[k], from, to);
    roles[to].receives.push_back(std::move(received));
  }
  return roles;
}

std::vector<RoundSteps::Role> RoundSteps::rolesInAllgather(const RingRound& round) const {
  std::vector<Role> roles(size_);
  for (const RingMessage& message : round) {
    Message sent, received;
    sent.moves = received.moves = -message.moves;
    sent.blocks = runsOf(message.blocks, message.to, message.to);
    received.blocks = runsOf(message.blocks, message.to, message.from);
    roles[message.to].sends.push_back(std::move(sent));
    roles[message.from].receives.push_back(std::move(received));
  }
  return roles;
}

// --- operations ---

llvm::SmallVector<Piece, 4> RoundSteps::pieces(const Runs& runs) {
  Box box = coordinatesOf(topology_, part_.progress);
  llvm::SmallVector<Piece, 4> list;
  for (const Run& run : runs) {
    box[axis_] = Interval::relative(run.offset, run.length);
    list.push_back({part_.part, 1, builder_.box(box)});
  }
  return list;
}

Region RoundSteps::sums(const Runs& runs) {
  if (everyoneHasOut()) return region(Buffer::kOut, runs);
  if (part_.sums == kNone) {
    Box box = coordinatesOf(topology_, part_.progress);
    box[axis_] = Interval::all();
    part_.sums =
        builder_.addFrame({{part_.part, 1, builder_.box(box)}}, builder_.schedule().slot_count);
  }
  return region(Buffer::kScratch, runs, part_.sums);
}

std::uint32_t RoundSteps::stagingFrame(const Runs& runs, std::uint32_t number) {
  const auto slot =
      part_.slots.try_emplace({part_.rounds % kTurns, number}, builder_.schedule().slot_count);
  return builder_.addFrame(pieces(runs), slot.first->second);
}

ir::StepPlace RoundSteps::placeOf(const Members& members) {
  ir::StepPlace place{.stream = part_.stream};
  if (members.count == size_) return place;
  Box guard;
  guard[axis_] = Interval::absolute(static_cast<std::int32_t>(members.first), members.count);
  place.guard = builder_.box(guard);
  return place;
}

Shift RoundSteps::shiftOf(std::int32_t moves) const {
  Shift shift{};
  shift[axis_] = moves;
  return shift;
}

ir::OperationIndices RoundSteps::joined(const Members& members,
                                        const std::vector<ir::OperationIndices>& of) const {
  ir::OperationIndices all;
  for (std::uint32_t node = members.first; node < members.first + members.count; ++node)
    add(all, of[node]);
  return all;
}

void RoundSteps::addReceived(const ir::StepPlace& place, const Message& message,
                             std::uint32_t frame, ir::OperationIndices& after) {
  for (std::size_t k = 0; k < kAdditions; ++k) {
    const Runs& runs = message.additions[k];
    if (runs.empty()) continue;
    const Region so_far = k % kLast == kBegun ? region(Buffer::kIn, runs) : sums(runs);
    const Region sum = k >= kLast ? region(Buffer::kOut, runs) : sums(runs);
    const Region received = region(Buffer::kScratch, runs, frame);
    after = {builder_.reduce(place, sum, so_far, received, after)};
  }
}

void RoundSteps::reduceScatterAt(const Members& members, bool is_last_round) {
  const ir::StepPlace place = placeOf(members);
  ir::OperationIndices there = joined(members, there_);
  add(there, part_.ended);
  ir::OperationIndices sent = joined(members, sent_);
  for (const Message& message : members.role->sends) {
    const Region data =
        message.has_sums ? sums(message.blocks) : region(Buffer::kIn, message.blocks);
    sent.push_back(builder_.send(place, data, shiftOf(message.moves), there));
  }
  ir::OperationIndices free = part_.ended;
  if (round_ >= kTurns) free = joined(members, there_before_);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> received;  // frame, operation
  for (const Message& message : members.role->receives) {
    const std::uint32_t frame =
        stagingFrame(message.blocks, static_cast<std::uint32_t>(received.size()));
    const Region whole = wholeFrame(builder_.schedule().frames[frame], frame);
    received.push_back({frame, builder_.receive(place, whole, shiftOf(message.moves), free)});
  }
  ir::OperationIndices after = there;
  for (std::size_t i = 0; i < received.size(); ++i) {
    after.push_back(received[i].second);
    if (is_last_round && i + 1 == received.size()) {
      add(after, sent);
      if (chain_ != kNone) after.push_back(chain_);
    }
    addReceived(place, members.role->receives[i], received[i].first, after);
  }
  if (is_last_round && !received.empty()) {
    chain_ = after.front();
  } else if (is_last_round) {
    add(tails_, there);
    add(tails_, sent);
  }
  for (std::uint32_t node = members.first; node < members.first + members.count; ++node) {
    if (!received.empty()) there_[node] = after;
    sent_[node] = sent;
  }
}

void RoundSteps::allgatherAt(const Members& members) {
  const ir::StepPlace place = placeOf(members);
  ir::OperationIndices there = joined(members, there_);
  add(there, part_.ended);
  const Runs own = {{0, 1}};
  for (const Message& message : members.role->sends) {
    // The own block leaves from `in`, without waiting for its copy in `out`.
    const bool from_in = part_.copied != kNone && first_axis_ && message.blocks == own;
    ir::OperationIndices after = there;
    if (!from_in && part_.copied != kNone) after.push_back(part_.copied);
    const Region data = region(from_in ? Buffer::kIn : Buffer::kOut, message.blocks);
    builder_.send(place, data, shiftOf(message.moves), after);
  }
  ir::OperationIndices received;
  for (const Message& message : members.role->receives) {
    // It depends only on the receives of other nodes: it is posted before its message.
    std::uint32_t& last = chains_.try_emplace({round_, received.size()}, kNone).first->second;
    ir::OperationIndices after = part_.ended;
    if (last != kNone) after.push_back(last);
    last = builder_.receive(place, region(Buffer::kOut, message.blocks), shiftOf(message.moves),
                            after);
    received.push_back(last);
  }
  for (std::uint32_t node = members.first; node < members.first + members.count; ++node)
    add(there_[node], received);
}

}  // namespace torc::passes
