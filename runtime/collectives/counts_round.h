// Counts round: precedes a call with different counts for each pair, if its schedule forwards
// blocks. The same schedule first moves the counts (schedules/expansion/count_exchange.h). Every
// rank learns the lengths of the blocks that it forwards, and compares those that it receives with
// its own counts.
//
//   prepare: the part that may fail on one rank alone, before tags are agreed on
//   layOut: makes the messages
//   run: one round, with all ranks
#ifndef TORC_RUNTIME_COLLECTIVES_COUNTS_ROUND_H_
#define TORC_RUNTIME_COLLECTIVES_COUNTS_ROUND_H_

#include <memory>

#include "runtime/collectives/call.h"
#include "runtime/collectives/plan.h"
#include "runtime/execution/executor.h"
#include "runtime/job/bound_schedule.h"
#include "runtime/non_copyable.h"
#include "runtime/transport/data_memory.h"
#include "schedules/expansion/count_exchange.h"
#include "schedules/expansion/expand.h"
#include "support/status.h"

namespace torc::runtime {

class CountsRound : NonCopyable {
 public:
  /// `call` has passed `check`, has its lists, and is one for `schedule`, which is not direct; both
  /// outlive this object.
  CountsRound(const torc_schedule& schedule, const Call& call);

  /// Throws std::bad_alloc.
  Status prepare();
  /// Uses the tags from `tag_base` on, as many as the schedule has, exclusively until the round is
  /// over.
  Status layOut(int tag_base);
  /// Waits for the other ranks. Errors: a message that failed; kMismatch, a rank that sends a block
  /// of another length than this rank expects. Throws std::bad_alloc.
  Status run();

  /// Whether no message of the round is active.
  bool isOver() const { return executor_ == nullptr || executor_->progress() != Progress::kFailed; }
  /// For the blocks that this rank forwards; after `run`.
  const PairCounts& passing() const { return passing_; }

 private:
  Status compare() const;

  const torc_schedule& schedule_;
  const ScheduleCall seen_;
  const CountExchange exchange_;
  FlatProgram program_;
  DataMemory in_, out_, scratch_;
  std::unique_ptr<Executor> executor_;
  PairCounts passing_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_COUNTS_ROUND_H_
