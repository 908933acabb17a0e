// Repeated calls: small blocking calls that a program makes again and again on a communicator, with
// all that is found out about one kept ready. Such a call binds its buffers, starts, and waits, or
// goes to MPI: nothing is looked up, checked, or allocated that was the same last time.
#ifndef TORC_RUNTIME_PMPI_CALLS_REPEATED_CALL_H_
#define TORC_RUNTIME_PMPI_CALLS_REPEATED_CALL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <mpi.h>

#include "runtime/collectives/call.h"
#include "runtime/collectives/call_cache.h"
#include "runtime/job/call_arguments.h"
#include "runtime/pmpi/calls/call_note.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/verdict.h"

namespace torc::runtime::pmpi {

struct RepeatedCall {
  const Verdict& verdict() const { return call.verdict; }
  bool isMpis() const { return call.verdict.isMpis(); }
  /// Whether buffers are such that nothing else has to be looked at.
  bool takes(const void* in, void* out) {
    return (has_taken && in == taken_in && out == taken_out) || takesAnew(in, out);
  }
  /// Binds what is laid out to the buffers that it has taken, unless it is bound to them from the
  /// round before.
  Status bind() { return is_bound ? Status() : bindAnew(); }
  /// Whether its round is complete.
  bool isOver() const { return plan->executor()->progress() == Progress::kDone; }
  /// One like it, described as what it is on its communicator.
  CollectiveCall callOf(const BriefCall& brief) const {
    CollectiveCall alike = call;
    alike.arguments.in = brief.in;
    alike.arguments.out = brief.out;
    return alike;
  }

  CallKey key;
  CollectiveCall call;  // as it came once
  Call checked;
  CallNote note;
  PersistentPlan* plan = nullptr;  // acquired; null: of a call that is MPI's
  bool is_bound = false;           // to these buffers
  bool is_running = false;         // an operation has it
  bool has_taken = false;          // the buffers that came last
  const void* taken_in = nullptr;
  void* taken_out = nullptr;

 private:
  bool takesAnew(const void* in, void* out);
  bool canTake(const void* in, const void* out) const;
  Status bindAnew();
};

/// Those of one communicator. With the lock.
class RepeatedCalls {
 public:
  /// `cache`: of the communicator, once it is set up. Outlives this.
  explicit RepeatedCalls(const std::unique_ptr<CallCache>& cache) : cache_(cache) {}
  RepeatedCalls(const RepeatedCalls&) = delete;
  RepeatedCalls& operator=(const RepeatedCalls&) = delete;
  ~RepeatedCalls() { dropAll(); }

  /// nullptr where there is none.
  RepeatedCall* find(const CallKey& key) {
    if (last_found_ != nullptr && last_found_->key == key) return last_found_;
    const Slot& slot = slotOf(key.hash());
    if (slot.kept == nullptr || !(slot.kept->key == key)) return nullptr;
    return last_found_ = slot.kept.get();
  }

  /// A blocking call has been served by `schedule`, or is MPI's for a reason that stays. The second
  /// in a row is kept, if it is such that buffers alone can make a difference, and there is memory.
  /// Throws std::bad_alloc.
  void keep(const CallKey& key, const CollectiveCall& call, const Call& checked,
            torc_schedule* schedule);

  /// Keeps it no longer, or none.
  void drop(RepeatedCall& repeated);
  void dropAll();

 private:
  static constexpr std::size_t kSlots = 8;
  struct Slot {
    std::uint64_t last_hash = 0;  // of the last call that was served here and not kept
    std::unique_ptr<RepeatedCall> kept;
  };

  Slot& slotOf(std::uint64_t hash) { return slots_[hash % kSlots]; }
  Slot* slotToKeepIn(const CallKey& key, const CollectiveCall& call, const Call& checked);

  const std::unique_ptr<CallCache>& cache_;
  std::array<Slot, kSlots> slots_;
  RepeatedCall* last_found_ = nullptr;
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_REPEATED_CALL_H_
