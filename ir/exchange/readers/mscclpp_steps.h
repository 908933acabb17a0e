// Steps of rank programs that operations of an MSCCL++ plan become. A thread block of a plan has a
// thread block here for each of its connections; what it does in the memory of another gpu, or has
// a proxy do, has one of its own. What is waited for before it is known where it happens is an
// event.
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
#include <llvm/Support/Error.h>

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
  /// The gpu where it happens, the gpu that it comes from, of what it is, and the how manieth.
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

  /// A step on chunks; without any, a signal.
  static RankStep stepOf(const PlanOp& op, StepKind kind, const PlanChunks& src = {},
                         const PlanChunks& dst = {});
  /// The thread block of a gpu for a connection of thread block `of` of its plan, or of none.
  std::int32_t blockFor(std::size_t rank, std::int32_t of, const PlanConnection& connection);
  /// Appends a step that waits for all of `before`: for all but one by steps before it, which do
  /// nothing.
  StepOfRank push(std::size_t rank, std::int32_t block, RankStep step,
                  llvm::ArrayRef<StepOfRank> before = {});
  /// Adds a step to the thread block that is gone through; all of them keep their order.
  StepOfRank add(const RankStep& step, const PlanConnection& connection = {});
  /// The end of it so far; a negative block: nothing has to be waited for.
  StepOfRank endSoFar(const PlanOp& op);
  /// Adds a step in the memory of `rank`, behind those that this gpu has there on the channel.
  StepOfRank addThere(std::size_t rank, std::int32_t channel, const RankStep& step);

  EventId eventOf(const EventKey& key);
  void happen(const EventKey& key, StepOfRank step);
  /// The next step waits for an event. That it does not happen is an error: `missing`, of `op`.
  void waitFor(EventId event) { pending_.push_back({kEvent, static_cast<std::int32_t>(event)}); }
  void waitFor(const EventKey& key, const PlanOp& op, const llvm::Twine& missing);
  /// Steps that wait for events wait for the steps that these are.
  llvm::Error placeEvents();

  const MscclppPlan& plan_;
  RankPrograms programs_;
  std::uint64_t steps_ = 0;
  std::size_t rank_ = 0, block_ = 0;          // that are gone through
  StepOfRank tail_;                           // the last step of this thread block
  llvm::SmallVector<StepOfRank, 4> pending_;  // what the next step waits for

 private:
  static constexpr std::int32_t kEvent = -2;  // as the block of a step: its place is an event
  struct Event {
    StepOfRank step{kEvent, 0};  // so long as it does not happen
    std::string missing;         // empty: nothing waits for it by name
  };
  std::vector<Event> events_;
  std::map<EventKey, EventId> event_ids_;
  std::vector<std::map<std::pair<std::int32_t, PlanConnection>, std::int32_t>> blocks_;  // of a gpu
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_MSCCLPP_STEPS_H_
