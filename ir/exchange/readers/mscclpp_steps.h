// Turns operations of an MSCCL++ plan into steps of rank programs. A thread block of a plan has one
// thread block here for each of its connections; its work in the memory of another gpu, and that of
// a proxy, has one of its own. An event stands for a step whose place is not yet known and that
// others wait for.
#ifndef TORC_IR_EXCHANGE_READERS_MSCCLPP_STEPS_H_
#define TORC_IR_EXCHANGE_READERS_MSCCLPP_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/Twine.h>

#include "ir/exchange/rank_programs.h"
#include "ir/exchange/readers/mscclpp_plan.h"

namespace torc::ir {

/// The peers and the channel of a thread block.
struct PlanConnection {
  std::int32_t send = -1, receive = -1, channel = 0;
  auto operator<=>(const PlanConnection&) const = default;
};

class PlanSteps {
 protected:
  using EventId = std::uint32_t;
  enum class EventOf : std::uint8_t { kPort, kSemaphore, kBarrier, kPackets };
  /// The kind of an event, its gpu, the gpu that causes it, the number of its port, semaphore,
  /// barrier or chunk, and its sequence number.
  using EventKey = std::tuple<EventOf, std::size_t, std::size_t, std::int32_t, std::uint32_t>;
  static constexpr std::int32_t kNoBlock = -1;

  explicit PlanSteps(const MscclppPlan& plan) : plan_(plan), blocks_(plan.gpus.size()) {}

  const PlanGpu& gpu() const { return plan_.gpus[rank_]; }
  std::string blockName() const {
    return "gpu " + std::to_string(rank_) + " tb " + std::to_string(block_);
  }
  /// `x.json:57: error: gpu 3 tb 1 step 4: `.
  std::string at(const PlanOp& op) const {
    return programs_.at(op.line) + blockName() + " step " + std::to_string(op.number) + ": ";
  }

  /// The first fault is reported; later steps are ignored.
  void refuse(const llvm::Twine& fault) {
    if (fault_.empty()) fault_ = fault.str();
  }
  void refuse(const PlanOp& op, const llvm::Twine& what) { refuse(at(op) + what); }
  bool failed() const { return !fault_.empty(); }

  /// A step on chunks; without chunks, a signal.
  static RankStep stepOf(const PlanOp& op, StepKind kind, const PlanChunks& src = {},
                         const PlanChunks& dst = {}) {
    return {.kind = kind,
            .src = {src.buffer, src.first},
            .dst = {dst.buffer, dst.first},
            .count = src.count,
            .line = op.line,
            .number = op.number};
  }

  /// The thread block of a gpu for a connection of thread block `of` of its plan, or of none.
  std::int32_t blockFor(std::size_t rank, std::int32_t of, const PlanConnection& connection) {
    std::vector<ThreadBlock>& blocks = programs_.ranks[rank].blocks;
    const auto [found, is_new] =
        blocks_[rank].try_emplace({of, connection}, static_cast<std::int32_t>(blocks.size()));
    if (is_new) {
      blocks.push_back({.send_peer = connection.send,
                        .receive_peer = connection.receive,
                        .channel = connection.channel,
                        .line = gpu().blocks[block_].line,
                        .name = blockName(),
                        .steps = {}});
    }
    return found->second;
  }

  /// Appends a step that waits for all of `before`; empty steps before it carry all but one
  /// dependence.
  StepOfRank push(std::size_t rank, std::int32_t block, RankStep step,
                  llvm::ArrayRef<StepOfRank> before = {}) {
    std::vector<RankStep>& steps =
        programs_.ranks[rank].blocks[static_cast<std::size_t>(block)].steps;
    for (const StepOfRank& earlier : before) {
      if (earlier.block == -1 || earlier.block == block) continue;
      if (step.after.block != -1) {
        steps.push_back({.after = step.after, .line = step.line, .number = step.number});
        ++steps_;
      }
      step.after = earlier;
    }
    steps.push_back(step);
    ++steps_;
    return {block, static_cast<std::int32_t>(steps.size()) - 1};
  }

  /// Adds a step to the current thread block, in order.
  StepOfRank add(const RankStep& step, const PlanConnection& connection = {}) {
    const std::int32_t lane = blockFor(rank_, static_cast<std::int32_t>(block_), connection);
    pending_.push_back(tail_);
    tail_ = push(rank_, lane, step, pending_);
    pending_.clear();
    return tail_;
  }

  /// The last step so far; a negative block: nothing to wait for.
  StepOfRank endSoFar(const PlanOp& op) {
    return pending_.empty() ? tail_ : add(stepOf(op, StepKind::kNothing));
  }

  /// Adds a step in the memory of `rank`, after those of this gpu there on the channel.
  StepOfRank addThere(std::size_t rank, std::int32_t channel, const RankStep& step) {
    const auto own = static_cast<std::int32_t>(rank_);
    const bool sends = step.row().sends;
    return push(rank, blockFor(rank, kNoBlock, {sends ? own : -1, sends ? -1 : own, channel}),
                step);
  }

  EventId eventOf(const EventKey& key) {
    const auto [event, is_new] = event_ids_.try_emplace(key, static_cast<EventId>(events_.size()));
    if (is_new) events_.emplace_back();
    return event->second;
  }

  void happen(const EventKey& key, StepOfRank step) { events_[eventOf(key)].step = step; }

  /// Makes the next step wait for an event. If it never happens, the error is `missing`, at `op`.
  void waitFor(EventId event) { pending_.push_back({kEvent, static_cast<std::int32_t>(event)}); }
  void waitFor(const EventKey& key, const PlanOp& op, const llvm::Twine& missing) {
    const EventId event = eventOf(key);
    events_[event].missing = at(op) + missing.str();
    waitFor(event);
  }

  /// Replaces events in dependences by their steps.
  void placeEvents() {
    for (RankProgram& program : programs_.ranks) {
      for (ThreadBlock& block : program.blocks) {
        for (RankStep& step : block.steps) {
          if (step.after.block != kEvent) continue;
          const Event& event = events_[static_cast<std::size_t>(step.after.index)];
          if (event.step.block == kEvent) return refuse(event.missing);
          step.after = event.step;
        }
      }
    }
    for (const auto& [key, number] : event_ids_) {
      const auto& [of, rank, from, id, turn] = key;
      const auto& [step, missing] = events_[number];
      if (of != EventOf::kPort || !missing.empty()) continue;
      return refuse(programs_.at({rank, static_cast<std::size_t>(step.block),
                                  static_cast<std::size_t>(step.index)}) +
                    "sends signal " + llvm::Twine(turn) + " to gpu " + llvm::Twine(rank) +
                    ", which nobody waits for");
    }
  }

  const MscclppPlan& plan_;
  RankPrograms programs_;
  std::string fault_;
  std::uint64_t steps_ = 0;
  std::size_t rank_ = 0, block_ = 0;          // current gpu and thread block
  StepOfRank tail_;                           // the last step of this thread block
  llvm::SmallVector<StepOfRank, 4> pending_;  // dependences of the next step

 private:
  static constexpr std::int32_t kEvent = -2;  // block number of a step whose place is an event
  struct Event {
    StepOfRank step{kEvent, 0};  // until it happens
    std::string missing;         // empty: no explicit dependence
  };
  std::vector<Event> events_;
  std::map<EventKey, EventId> event_ids_;
  std::vector<std::map<std::pair<std::int32_t, PlanConnection>, std::int32_t>> blocks_;  // of a gpu
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_MSCCLPP_STEPS_H_
