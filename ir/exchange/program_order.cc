// The order of a program's steps.
#include "ir/exchange/program_order.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <llvm/ADT/DenseSet.h>

#include "ir/make_error.h"

namespace torc::ir {
namespace {

constexpr std::size_t kMostOfCircle = 6;  // steps that are named

}  // namespace

llvm::Expected<ProgramOrder> ProgramOrder::of(const RankPrograms& programs) {
  ProgramOrder order(programs);
  if (llvm::Error error = order.number()) return error;
  if (llvm::Error error = order.match()) return error;
  if (llvm::Error error = order.sort()) return error;
  return order;
}

StepPosition ProgramOrder::placeOf(StepId id) const {
  const std::uint32_t block = block_of_[id];
  const std::size_t rank = rank_of_block_[block];
  return {rank, block - rank_begin_[rank], id - block_begin_[block]};
}

const ThreadBlock& ProgramOrder::block(StepId id) const {
  const StepPosition place = placeOf(id);
  return programs_->ranks[place.rank].blocks[place.block];
}

const RankStep& ProgramOrder::step(StepId id) const {
  return block(id).steps[id - block_begin_[block_of_[id]]];
}

std::string ProgramOrder::at(StepId id) const {
  const StepPosition place = placeOf(id);
  return programs_->at(place.rank, place.block, place.index);
}

std::string ProgramOrder::name(StepId id) const {
  const StepPosition place = placeOf(id);
  return programs_->place(place.rank, place.block, place.index) + " (line " +
         std::to_string(step(id).line) + ")";
}

StepId ProgramOrder::dependenceOf(StepId id) const {
  const RankStep& waiting = step(id);
  if (waiting.after_block < 0) return kNoStep;
  return idOf(rankOf(id), static_cast<std::size_t>(waiting.after_block),
              static_cast<std::size_t>(waiting.after));
}

std::array<StepId, 5> ProgramOrder::before(StepId id) const {
  const StepId turn = id != block_begin_[block_of_[id]] ? id - 1 : kNoStep;
  const StepId named = dependenceOf(id);
  return {turn, named, arrivalOf(turn), arrivalOf(named), sender_[id]};
}

StepId ProgramOrder::notBefore(llvm::ArrayRef<StepId> earlier, StepId later) const {
  std::uint32_t lowest = levels_[later];
  for (const StepId step : earlier)
    lowest = std::min(lowest, levels_[step]);
  std::vector<StepId> reached{later};
  llvm::DenseSet<StepId> seen;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const StepId one : before(reached[i])) {
      if (one == kNoStep || levels_[one] < lowest || !seen.insert(one).second) continue;
      reached.push_back(one);
    }
  }
  for (const StepId step : earlier) {
    if (!seen.contains(step)) return step;
  }
  return kNoStep;
}

llvm::Error ProgramOrder::number() {
  StepId next = 0;
  for (std::size_t rank = 0; rank < programs_->ranks.size(); ++rank) {
    const std::vector<ThreadBlock>& blocks = programs_->ranks[rank].blocks;
    rank_begin_.push_back(block_begin_.size());
    for (const ThreadBlock& block : blocks) {
      block_begin_.push_back(next);
      rank_of_block_.push_back(static_cast<std::uint32_t>(rank));
      block_of_.insert(block_of_.end(), block.steps.size(),
                       static_cast<std::uint32_t>(block_begin_.size() - 1));
      next += static_cast<StepId>(block.steps.size());
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (std::size_t i = 0; i < blocks[b].steps.size(); ++i) {
        const RankStep& step = blocks[b].steps[i];
        if (step.after_block < 0) continue;
        const auto other = static_cast<std::size_t>(step.after_block);
        if (other >= blocks.size() ||
            static_cast<std::size_t>(step.after) >= blocks[other].steps.size()) {
          return makeError(programs_->at(rank, b, i) + "waits for tb " + llvm::Twine(other) +
                           " step " + llvm::Twine(step.after) + ", which gpu " + llvm::Twine(rank) +
                           " does not have");
        }
      }
    }
  }
  return llvm::Error::success();
}

/// The k-th message of a connection has two ends.
llvm::Error ProgramOrder::match() {
  receiver_.assign(size(), kNoStep);
  sender_.assign(size(), kNoStep);
  // By sender, receiver, channel: the blocks at the two ends.
  using Connection = std::tuple<std::int32_t, std::int32_t, std::int32_t>;
  struct Ends {
    std::size_t sender = ~std::size_t{0}, receiver = ~std::size_t{0};  // of all ranks' blocks
  };
  std::map<Connection, Ends> connections;
  const auto blockAt = [&](std::size_t block) -> const ThreadBlock& {
    const std::size_t rank = rank_of_block_[block];
    return programs_->ranks[rank].blocks[block - rank_begin_[rank]];
  };
  const auto blockName = [&](std::size_t block) {
    const std::size_t rank = rank_of_block_[block];
    if (!blockAt(block).name.empty()) return blockAt(block).name;
    return "gpu " + std::to_string(rank) + " tb " + std::to_string(block - rank_begin_[rank]);
  };
  const auto stepsOf = [&](std::size_t block, bool (*has)(StepKind)) {
    std::vector<StepId> steps;
    if (block == ~std::size_t{0}) return steps;
    const ThreadBlock& all = blockAt(block);
    for (std::size_t i = 0; i < all.steps.size(); ++i) {
      if (has(all.steps[i].kind)) steps.push_back(block_begin_[block] + static_cast<StepId>(i));
    }
    return steps;
  };
  for (std::size_t block = 0; block < block_begin_.size(); ++block) {
    const ThreadBlock& one = blockAt(block);
    const auto rank = static_cast<std::int32_t>(rank_of_block_[block]);
    const auto take = [&](std::size_t& end, llvm::StringRef does,
                          std::int32_t peer) -> llvm::Error {
      if (end != ~std::size_t{0}) {
        return makeError(llvm::Twine(programs_->origin) + ":" + llvm::Twine(one.line) +
                         ": error: " + blockName(block) + ": " + does + " gpu " +
                         llvm::Twine(peer) + " on channel " + llvm::Twine(one.channel) + ", as " +
                         blockName(end) + " does");
      }
      end = block;
      return llvm::Error::success();
    };
    const auto does = [&](bool (*has)(StepKind)) {
      return std::ranges::any_of(one.steps, [&](const RankStep& s) { return has(s.kind); });
    };
    if (does(&hasSend)) {
      Ends& ends = connections[{rank, one.send_peer, one.channel}];
      if (llvm::Error error = take(ends.sender, "sends to", one.send_peer)) return error;
    }
    if (does(&hasReceive)) {
      Ends& ends = connections[{one.receive_peer, rank, one.channel}];
      if (llvm::Error error = take(ends.receiver, "receives from", one.receive_peer)) return error;
    }
  }
  for (const auto& [connection, ends] : connections) {
    const std::vector<StepId> sends = stepsOf(ends.sender, &hasSend),
                              receives = stepsOf(ends.receiver, &hasReceive);
    const auto& [from, to, channel] = connection;
    if (sends.size() != receives.size()) {
      const bool more = sends.size() > receives.size();
      const StepId alone = more ? sends[receives.size()] : receives[sends.size()];
      const bool is_signal = step(alone).count == 0;
      return makeError(at(alone) +
                       (more        ? is_signal ? "sends signal " : "sends message "
                        : is_signal ? "waits for signal "
                                    : "receives message ") +
                       llvm::Twine(std::min(sends.size(), receives.size())) + " from gpu " +
                       llvm::Twine(from) + " to gpu " + llvm::Twine(to) + " on channel " +
                       llvm::Twine(channel) +
                       (!more       ? ", which nobody sends"
                        : is_signal ? ", which nobody waits for"
                                    : ", which nobody receives"));
    }
    for (std::size_t k = 0; k < sends.size(); ++k) {
      if (step(sends[k]).count != step(receives[k]).count) {
        return makeError(at(receives[k]) + "receives " + llvm::Twine(step(receives[k]).count) +
                         " chunks where " + name(sends[k]) + " sends " +
                         llvm::Twine(step(sends[k]).count));
      }
      receiver_[sends[k]] = receives[k];
      sender_[receives[k]] = sends[k];
    }
  }
  return llvm::Error::success();
}

llvm::Error ProgramOrder::sort() {
  // Who waits for a step by name, one list behind the other.
  std::vector<std::uint32_t> begin(size() + 1), waiting;
  for (StepId id = 0; id < size(); ++id) {
    if (const StepId named = dependenceOf(id); named != kNoStep) ++begin[named + 1];
  }
  for (std::size_t i = 1; i < begin.size(); ++i)
    begin[i] += begin[i - 1];
  waiting.resize(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1), missing(size());
  for (StepId id = 0; id < size(); ++id) {
    const StepId named = dependenceOf(id);
    if (named != kNoStep) waiting[next[named]++] = id;
    for (const StepId one : before(id))
      missing[id] += one != kNoStep ? 1 : 0;
  }
  levels_.assign(size(), 0);
  order_.reserve(size());
  for (StepId id = 0; id < size(); ++id) {
    if (missing[id] == 0) order_.push_back(id);
  }
  for (std::size_t done = 0; done < order_.size(); ++done) {
    const StepId id = order_[done];
    const auto complete = [&](StepId after) {
      levels_[after] = std::max(levels_[after], levels_[id] + 1);
      if (--missing[after] == 0) order_.push_back(after);
    };
    const auto completeAfter = [&](StepId of) {
      if (of + 1 < size() && block_of_[of + 1] == block_of_[of]) complete(of + 1);
      for (std::uint32_t i = begin[of]; i < begin[of + 1]; ++i)
        complete(waiting[i]);
    };
    completeAfter(id);
    if (receiver_[id] != kNoStep) complete(receiver_[id]);
    if (sender_[id] != kNoStep && step(sender_[id]).arrives) completeAfter(sender_[id]);
  }
  return order_.size() < size() ? circle(missing) : llvm::Error::success();
}

/// Of what is left each step waits for another one: back from one of them it goes round.
llvm::Error ProgramOrder::circle(const std::vector<std::uint32_t>& missing) const {
  const auto before = [&](StepId of) {
    for (const StepId one : this->before(of)) {
      if (one != kNoStep && missing[one] > 0) return one;
    }
    return kNoStep;
  };
  StepId id = 0;
  while (missing[id] == 0)
    ++id;
  std::vector<bool> seen(size());
  for (; !seen[id]; id = before(id))
    seen[id] = true;
  std::string text = at(id) + "deadlock: it waits for ";
  const auto isTurn = [&](StepId of, StepId earlier) {
    return earlier + 1 == of && block_of_[earlier] == block_of_[of];
  };
  std::size_t count = 0;
  for (StepId later = id, one = before(id); one != id; later = std::exchange(one, before(one))) {
    // What only waits for its turn, for another that does, says nothing.
    if (isTurn(later, one) && isTurn(one, before(one))) continue;
    if (++count <= kMostOfCircle) text += name(one) + ", that for ";
  }
  if (count > kMostOfCircle) text += std::to_string(count - kMostOfCircle) + " others, they for ";
  return makeError(text + "it");
}

}  // namespace torc::ir
