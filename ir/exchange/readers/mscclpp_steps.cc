// Steps of plans, in thread blocks and behind events.
#include "ir/exchange/readers/mscclpp_steps.h"

#include "ir/make_error.h"

namespace torc::ir {

RankStep PlanSteps::stepOf(const PlanOp& op, StepKind kind, const PlanChunks& src,
                           const PlanChunks& dst) {
  RankStep step;
  step.kind = kind;
  step.src = {src.buffer, src.first};
  step.dst = {dst.buffer, dst.first};
  step.count = src.count;
  step.line = op.line;
  step.number = op.number;
  return step;
}

std::int32_t PlanSteps::blockFor(std::size_t rank, std::int32_t of,
                                 const PlanConnection& connection) {
  std::vector<ThreadBlock>& blocks = programs_.ranks[rank].blocks;
  const auto [found, is_new] =
      blocks_[rank].try_emplace({of, connection}, static_cast<std::int32_t>(blocks.size()));
  if (is_new) {
    ThreadBlock& block = blocks.emplace_back();
    block.send_peer = connection.send;
    block.receive_peer = connection.receive;
    block.channel = connection.channel;
    block.line = gpu().blocks[block_].line;
    block.name = blockName();
  }
  return found->second;
}

StepOfRank PlanSteps::push(std::size_t rank, std::int32_t block, RankStep step,
                           llvm::ArrayRef<StepOfRank> before) {
  std::vector<RankStep>& steps =
      programs_.ranks[rank].blocks[static_cast<std::size_t>(block)].steps;
  for (const StepOfRank& earlier : before) {
    if (earlier.block == -1 || earlier.block == block) continue;
    if (step.after.block != -1) {
      RankStep& nothing = steps.emplace_back();
      nothing.line = step.line;
      nothing.number = step.number;
      nothing.after = step.after;
      ++steps_;
    }
    step.after = earlier;
  }
  steps.push_back(step);
  ++steps_;
  return {block, static_cast<std::int32_t>(steps.size()) - 1};
}

StepOfRank PlanSteps::add(const RankStep& step, const PlanConnection& connection) {
  const std::int32_t lane = blockFor(rank_, static_cast<std::int32_t>(block_), connection);
  pending_.push_back(tail_);
  tail_ = push(rank_, lane, step, pending_);
  pending_.clear();
  return tail_;
}

StepOfRank PlanSteps::endSoFar(const PlanOp& op) {
  return pending_.empty() ? tail_ : add(stepOf(op, StepKind::kNothing));
}

StepOfRank PlanSteps::addThere(std::size_t rank, std::int32_t channel, const RankStep& step) {
  const auto own = static_cast<std::int32_t>(rank_);
  const bool sends = step.row().sends;
  return push(rank, blockFor(rank, kNoBlock, {sends ? own : -1, sends ? -1 : own, channel}), step);
}

PlanSteps::EventId PlanSteps::eventOf(const EventKey& key) {
  const auto [event, is_new] = event_ids_.try_emplace(key, static_cast<EventId>(events_.size()));
  if (is_new) events_.emplace_back();
  return event->second;
}

void PlanSteps::happen(const EventKey& key, StepOfRank step) {
  events_[eventOf(key)].step = step;
}

void PlanSteps::waitFor(const EventKey& key, const PlanOp& op, const llvm::Twine& missing) {
  const EventId event = eventOf(key);
  events_[event].missing = at(op) + missing.str();
  waitFor(event);
}

llvm::Error PlanSteps::placeEvents() {
  for (RankProgram& program : programs_.ranks) {
    for (ThreadBlock& block : program.blocks) {
      for (RankStep& step : block.steps) {
        if (step.after.block != kEvent) continue;
        const Event& event = events_[static_cast<std::size_t>(step.after.index)];
        if (event.step.block == kEvent) return makeError(event.missing);
        step.after = event.step;
      }
    }
  }
  for (const auto& [key, number] : event_ids_) {
    const auto& [of, rank, from, id, turn] = key;
    const auto& [step, missing] = events_[number];
    if (of != EventOf::kPort || !missing.empty()) continue;
    return makeError(programs_.at({rank, static_cast<std::size_t>(step.block),
                                   static_cast<std::size_t>(step.index)}) +
                     "sends signal " + llvm::Twine(turn) + " to gpu " + llvm::Twine(rank) +
                     ", which nobody waits for");
  }
  return llvm::Error::success();
}

}  // namespace torc::ir
