// Plan: the program of a call on this rank, with all memory and tables of its rounds. It runs one
// round at a time, with the buffers, the reduction and (one-shot) the message tags that it is bound
// to.
//
//   prepare: the part that may fail on one rank alone, before tags are agreed on: expansion, memory
//   layOut: makes the messages
//   bind: other buffers and another reduction, for a call with the same key
//   start: begins a round, which the context advances
//
// Only this class turns a checked call into its program. A torc_collective of the C API is a plan;
// those of one-shot calls belong to a cache.
#ifndef TORC_RUNTIME_COLLECTIVES_PLAN_H_
#define TORC_RUNTIME_COLLECTIVES_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/api/torc.h"
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
#include "runtime/transport/tag_space.h"
#include "schedules/expansion/expand.h"

namespace torc::runtime {

/// A call in its schedule's numbering: ranks and lists in the schedule's order.
struct ScheduleCall : Call {
  /// `ranks`: of the communicator, which `map` maps. If the orders differ, blocks that are
  /// contiguous by rank of the communicator need displacements.
  ScheduleCall(const Call& call, const RankMap& map, int rank, int ranks);

  /// The result refers to this object.
  Counts counts(const PairCounts* passing = nullptr) const {
    return {count, per_rank, displacements, in_per_rank, in_displacements, passing};
  }

  std::int32_t rank;

 private:
  /// Reorders the lists of one buffer. Without counts all blocks have `count` elements.
  static void putInOrder(const RankMap& map, int ranks, std::uint64_t count,
                         std::vector<std::uint64_t>& per_rank,
                         std::vector<std::uint64_t>& displacements);
};

/// Translates the peers of a program's operations to ranks of the communicator.
void mapPeers(const RankMap& map, FlatProgram& program);

/// Whether `schedule` is for the collective of a call, or for one that can serve it.
Status checkSchedule(const torc_schedule& schedule, Collective collective);

/// Whether the schedule has the order of ranks that a checked call needs.
Status checkOrder(const torc_schedule& schedule, const Call& call);

class Plan : public Round {
 public:
  /// Called at the end of a round, with its error; may free the plan.
  using Ended = void (*)(Plan& plan, const Status& status, void* cookie);

  explicit Plan(torc_schedule* owner) : schedule_(owner) {}

  /// The call has passed `check`, has its lists, and is supported by the schedule. `passing`: for
  /// pairs with different counts, if the schedule forwards blocks; used only during this call.
  /// Throws std::bad_alloc.
  Status prepare(const Call& call, const PairCounts* passing = nullptr);
  /// Precondition: prepared, with tags that all ranks agree on, or torc_geometry::kOneShot.
  Status layOut(int tag_base);
  /// Binds the buffers and the reduction of a call with the same key, between rounds.
  Status bind(const Call& call);
  /// Sets the tags of the next round, likewise; for one-shot calls.
  void bindTags(const TagRange& given) {
    transport_->bindTags(given);
    number = given.call;
  }
  /// Releases the reduction's datatype, and ends the use by a caller.
  void unbind() {
    reduction_.reset();
    ended = nullptr;
  }

  /// Starts a round. Precondition: none is active. Error: the error of an earlier failed round.
  Status start();
  /// The context continues a round that has begun.
  void link();
  bool advance() override;
  void finish() override;
  /// After a round: the steps that are not in the schedule.
  void finishRound();
  /// Fails an active round, which then does not end by `ended`.
  void abandon(const Status& status);
  /// The error of the last round, if any.
  Status roundStatus() const;

  /// Frees a persistent plan that is laid out, and its tags.
  static void free(std::unique_ptr<Plan> plan);

  torc_schedule* schedule() const { return schedule_; }
  torc_context* context() const { return schedule_->geometry->context; }
  /// As given to `prepare` or `bind`.
  const Call& call() const { return call_; }
  Executor& executor() const { return *executor_; }
  const Transport& transport() const { return *transport_; }
  /// Messages of a round that were shorter than their blocks. The reader clears them.
  std::vector<ShortMessage>& shorter() { return shorter_; }
  bool hasFailed() const {
    return executor_ != nullptr && executor_->progress() == Progress::kFailed;
  }
  /// Only a failed round leaves messages.
  bool isDrained() override { return !hasFailed() || executor_->drained(); }

  /// The program; between `prepare` and `layOut`.
  const FlatProgram& program() const { return expanded_->program; }

  /// Scratch memory for data.
  std::size_t dataBytes() const {
    return scratch_.bytes() + own_block_.bytes() + executor_->bufferBytes() +
           (rootless_ != nullptr ? rootless_->dataBytes() : 0);
  }
  /// All memory without this object itself.
  std::size_t bytes() const;

  TagClaim tags;             // of a persistent plan
  std::uint64_t number = 0;  // of a persistent plan or a one-shot call in its geometry: the same on
                             // all ranks
  bool active = false;
  std::uint64_t rounds = 0;
  Ended ended = nullptr;
  void* cookie = nullptr;

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
  std::uint64_t roundKey() const;
  /// The call that the schedule is for.
  const Call& scheduled() const { return rootless_ != nullptr ? rootless_->call() : call_; }
  const CollectiveRow& row() const { return rowOf(scheduled().collective); }

  torc_schedule* schedule_;
  Call call_;
  std::unique_ptr<RootlessCall> rootless_;  // null: the schedule is for the call's own collective
  MpiReduction reduction_;
  std::unique_ptr<Expanded> expanded_;
  Buffers buffers_;
  DataMemory scratch_;
  DataMemory own_block_;  // `out`, if that is also `in` and the two have different layouts
  std::byte* own_block_home_ = nullptr;  // destination of its copy at the end
  std::unique_ptr<Executor> executor_;
  Transport* transport_ = nullptr;  // owned by the executor
  std::vector<ShortMessage> shorter_;
  std::unique_ptr<RoundTrace> trace_;  // null: not traced
};

}  // namespace torc::runtime

struct torc_collective final : torc::runtime::Plan {
  using Plan::Plan;

  torc_callback callback = nullptr;
  void* callback_cookie = nullptr;
};

#endif  // TORC_RUNTIME_COLLECTIVES_PLAN_H_
