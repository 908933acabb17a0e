// The order of a program's steps.
#include "ir/exchange/program_order.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>

#include "ir/thrown.h"

namespace torc::ir {
namespace {

constexpr std::size_t kMostOfCircle = 6;  // most steps named in a message

}  // namespace

ProgramOrder::ProgramOrder(const RankPrograms& programs) : programs_(&programs) {
  number();
  match();
  sort();
}

std::string ProgramOrder::name(StepId id) const {
  return programs_->stepName(placeOf(id)) + " (line " + std::to_string(step(id).line) + ")";
}

StepId ProgramOrder::dependenceOf(StepId id) const {
  const StepOfRank& after = step(id).after;
  return after.block < 0 ? kNoStep
                         : idOf(rankOf(id), static_cast<std::size_t>(after.block),
                                static_cast<std::size_t>(after.index));
}

std::array<StepId, 5> ProgramOrder::before(StepId id) const {
  const StepId turn = id != blockOf(id).begin ? id - 1 : kNoStep;
  const StepId named = dependenceOf(id);
  return {turn, named, arrivalOf(turn), arrivalOf(named), sender_[id]};
}

std::size_t ProgramOrder::notBefore(llvm::ArrayRef<StepId> earlier, StepId later) const {
  if (earlier.empty()) return 0;
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
  return static_cast<std::size_t>(
      llvm::find_if(earlier, [&](StepId step) { return !seen.contains(step); }) - earlier.begin());
}

void ProgramOrder::number() {
  StepId next = 0;
  for (std::size_t rank = 0; rank < programs_->ranks.size(); ++rank) {
    const std::vector<ThreadBlock>& blocks = programs_->ranks[rank].blocks;
    rank_begin_.push_back(blocks_.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      block_of_.insert(block_of_.end(), blocks[b].steps.size(),
                       static_cast<std::uint32_t>(blocks_.size()));
      blocks_.push_back({rank, b, next});
      next += static_cast<StepId>(blocks[b].steps.size());
      for (std::size_t i = 0; i < blocks[b].steps.size(); ++i) {
        const auto [other, index] = blocks[b].steps[i].after;
        if (other < 0) continue;
        if (static_cast<std::size_t>(other) >= blocks.size() ||
            static_cast<std::size_t>(index) >=
                blocks[static_cast<std::size_t>(other)].steps.size()) {
          throwError(programs_->at({rank, b, i}) + "waits for tb " + llvm::Twine(other) + " step " +
                     llvm::Twine(index) + ", which gpu " + llvm::Twine(rank) + " does not have");
        }
      }
    }
  }
}

/// The k-th message of a connection has two ends.
void ProgramOrder::match() {
  receiver_.assign(size(), kNoStep);
  sender_.assign(size(), kNoStep);
  struct End {
    const Block* block = nullptr;
    std::vector<StepId> steps;
  };
  // By sender, receiver, channel.
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::array<End, 2>> connections;
  for (const Block& block : blocks_) {
    const ThreadBlock& one = programs_->ranks[block.rank].blocks[block.index];
    const auto rank = static_cast<std::int32_t>(block.rank);
    for (const bool receives : {false, true}) {
      std::vector<StepId> steps;
      for (StepId i = 0; i < one.steps.size(); ++i) {
        const StepKindRow& row = one.steps[i].row();
        if (receives ? row.receives : row.sends) steps.push_back(block.begin + i);
      }
      if (steps.empty()) continue;
      const std::int32_t peer = receives ? one.receive_peer : one.send_peer;
      End& end =
          connections[{receives ? peer : rank, receives ? rank : peer, one.channel}][receives];
      if (end.block != nullptr) {
        throwError(programs_->at(one.line) + programs_->blockName(block.rank, block.index) +
                   (receives ? ": receives from gpu " : ": sends to gpu ") + llvm::Twine(peer) +
                   " on channel " + llvm::Twine(one.channel) + ", as " +
                   programs_->blockName(end.block->rank, end.block->index) + " does");
      }
      end = {&block, std::move(steps)};
    }
  }
  for (const auto& [connection, ends] : connections) {
    const auto& [from, to, channel] = connection;
    const std::vector<StepId>&sends = ends[0].steps, &receives = ends[1].steps;
    if (sends.size() != receives.size()) {
      const bool more = sends.size() > receives.size();
      const StepId alone = more ? sends[receives.size()] : receives[sends.size()];
      const bool is_signal = step(alone).count == 0;
      const char* const takes = is_signal ? "waits for" : "receives";
      throwError(at(alone) + (more ? "sends" : takes) + (is_signal ? " signal " : " message ") +
                 llvm::Twine(std::min(sends.size(), receives.size())) + " from gpu " +
                 llvm::Twine(from) + " to gpu " + llvm::Twine(to) + " on channel " +
                 llvm::Twine(channel) + ", which nobody " + (more ? takes : "sends"));
    }
    for (std::size_t k = 0; k < sends.size(); ++k) {
      if (step(sends[k]).count != step(receives[k]).count) {
        throwError(at(receives[k]) + "receives " + llvm::Twine(step(receives[k]).count) +
                   " chunks where " + name(sends[k]) + " sends " +
                   llvm::Twine(step(sends[k]).count));
      }
      receiver_[sends[k]] = receives[k];
      sender_[receives[k]] = sends[k];
    }
  }
}

void ProgramOrder::sort() {
  // The steps that wait explicitly for a step: the first one, and for each of them the next.
  std::vector<StepId> first(size(), kNoStep), next(size(), kNoStep);
  std::vector<std::uint32_t> missing(size());
  for (auto id = static_cast<StepId>(size()); id-- > 0;) {
    if (const StepId named = dependenceOf(id); named != kNoStep)
      next[id] = std::exchange(first[named], id);
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
      for (StepId one = first[of]; one != kNoStep; one = next[one])
        complete(one);
    };
    completeAfter(id);
    if (receiver_[id] != kNoStep) complete(receiver_[id]);
    if (sender_[id] != kNoStep && step(sender_[id]).arrives) completeAfter(sender_[id]);
  }
  if (order_.size() < size()) circle(missing);
}

/// Each remaining step waits for another one: following them back finds a cycle.
void ProgramOrder::circle(const std::vector<std::uint32_t>& missing) const {
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
    // A step that only waits for its turn, after another such step, adds no information.
    if (isTurn(later, one) && isTurn(one, before(one))) continue;
    if (++count <= kMostOfCircle) text += name(one) + ", that for ";
  }
  if (count > kMostOfCircle) text += std::to_string(count - kMostOfCircle) + " others, they for ";
  throwError(text + "it");
}

}  // namespace torc::ir
