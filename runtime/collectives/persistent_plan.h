// Persistent plan: the program of a call on this rank, with all memory and tables that its rounds
// need. It runs one round at a time, with the buffers, the reduction and (one-shot) the message
// tags that it is bound to.
//
//   prepare: what can fail on one rank alone, before tags are agreed on: expansion, memory
//   lay: makes the messages
//   bind: other buffers and another reduction, for a call alike
//
// This is the one place that takes a checked call to its program. What starts rounds and is told of
// their end is a torc_collective (runtime/collectives/collective.h).
#ifndef TORC_RUNTIME_COLLECTIVES_PERSISTENT_PLAN_H_
#define TORC_RUNTIME_COLLECTIVES_PERSISTENT_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/collectives/call.h"
#include "runtime/collectives/rootless_call.h"
#include "runtime/execution/executor.h"
#include "runtime/job/bound_schedule.h"
#include "runtime/job/context.h"
#include "runtime/job/geometry.h"
#include "runtime/reductions/mpi_reduction.h"
#include "runtime/trace/round_trace.h"
#include "runtime/transport/data_memory.h"
#include "runtime/transport/mpi_transport.h"
#include "schedules/expansion/expand.h"

namespace torc::runtime {

/// A call as its schedule sees it: ranks and lists in the schedule's order.
struct ScheduleCall {
  /// `ranks`: of the communicator, which `map` maps. Blocks that follow one another by rank of the
  /// communicator need displacements where the order is another.
  ScheduleCall(const Call& call, const RankMap& map, int rank, int ranks);

  /// Refers to this object.
  Counts counts(const PairCounts* passing = nullptr) const {
    return {count, per_rank, displacements, in_per_rank, in_displacements, passing};
  }

  std::int32_t rank, root;
  bool in_place;
  std::uint64_t count;
  std::vector<std::uint64_t> per_rank, displacements;
  std::vector<std::uint64_t> in_per_rank, in_displacements;  // of pairs

 private:
  /// Lists of one buffer. Without counts all blocks have `count` elements.
  static void putInOrder(const RankMap& map, int ranks, std::uint64_t count,
                         std::vector<std::uint64_t>& per_rank,
                         std::vector<std::uint64_t>& displacements);
};

/// Whether `schedule` is one for the collective of a call, or for one that serves it.
Status checkSchedule(const torc_schedule& schedule, Collective collective);

/// Whether a checked call for which the order of ranks matters finds it in a schedule.
Status checkOrder(const torc_schedule& schedule, const Call& call);

class PersistentPlan : public MessageMemory {
 public:
  explicit PersistentPlan(torc_schedule* owner) : schedule_(owner) {}
  PersistentPlan(const PersistentPlan&) = delete;
  PersistentPlan& operator=(const PersistentPlan&) = delete;

  /// The call has passed `check` and has its lists, and is one that the schedule serves. `passing`:
  /// of pairs whose counts differ, where the schedule forwards blocks; needed in here alone.
  /// Throws std::bad_alloc.
  Status prepare(const Call& call, const PairCounts* passing = nullptr);
  /// Once prepared, with tags that all ranks agree on.
  Status layOut(int tag_base, Requests requests);
  /// To the buffers and the reduction of a call alike, between rounds; only of Requests::kOneShot.
  Status bind(const Call& call);
  /// Other tags for the next round, likewise.
  void bindTags(const TagRange& tags) { transport_->bindTags(tags); }
  /// Lets go of the reduction's datatype.
  void unbind() { reduction_.reset(); }

  /// Between rounds, or once a round is over: what the schedule cannot do.
  void finishRound();

  torc_schedule* schedule() const { return schedule_; }
  /// As it came.
  const Call& call() const { return call_; }
  Executor* executor() const { return executor_.get(); }
  const Transport& transport() const { return *transport_; }
  /// Messages of a round that were shorter than their blocks. Whoever has taken them clears them.
  std::vector<ShortMessage>& shorter() { return shorter_; }
  RoundTrace* trace() const { return trace_.get(); }
  bool hasFailed() const {
    return executor_ != nullptr && executor_->progress() == Progress::kFailed;
  }
  /// Only messages of a failed round are ever left.
  bool isDrained() override { return !hasFailed() || executor_->drained(); }

  /// What is laid out; between `prepare` and `layOut`.
  const FlatProgram& program() const { return expanded_->program; }

  /// Working memory for data.
  std::size_t dataBytes() const {
    return scratch_.bytes() + own_block_.bytes() + executor_->bufferBytes() +
           (rootless_ != nullptr ? rootless_->dataBytes() : 0);
  }
  /// All memory but this object's own.
  std::size_t bytes() const;

 private:
  struct Expanded {
    FlatProgram program;
    MessageFragments fragments;
  };

  Status useReduction();
  Status expand(const PairCounts* passing);
  void allocate();
  void takeBuffers();
  Reducer reducer() const;
  void makeTrace();
  /// What the schedule is one for.
  const Call& scheduled() const { return rootless_ != nullptr ? rootless_->call() : call_; }
  const CollectiveRow& row() const { return rowOf(scheduled().collective); }

  torc_schedule* schedule_;
  Call call_;
  std::unique_ptr<RootlessCall> rootless_;  // null: the schedule is one for the call's collective
  MpiReduction reduction_;
  std::unique_ptr<Expanded> expanded_;
  Buffers buffers_;
  DataMemory scratch_;
  DataMemory own_block_;  // `out`, where that is also `in` and the two are not laid alike
  std::byte* own_block_home_ = nullptr;  // where it goes at the end
  std::unique_ptr<Executor> executor_;
  Transport* transport_ = nullptr;  // the executor's
  std::vector<ShortMessage> shorter_;
  std::unique_ptr<RoundTrace> trace_;  // null: not traced
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_PERSISTENT_PLAN_H_
