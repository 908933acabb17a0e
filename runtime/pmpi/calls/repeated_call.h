// Repeated calls: small blocking calls that a program repeats on a communicator, with all results
// of their checks and their persistent plan. Such a call binds its buffers, starts and waits, or
// falls back to MPI: it repeats no look-up, check or allocation.
#ifndef TORC_RUNTIME_PMPI_CALLS_REPEATED_CALL_H_
#define TORC_RUNTIME_PMPI_CALLS_REPEATED_CALL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/collectives/call.h"
#include "runtime/collectives/call_cache.h"
#include "runtime/job/call_arguments.h"
#include "runtime/non_copyable.h"
#include "runtime/pmpi/calls/collective_call.h"

namespace torc::runtime::pmpi {

struct RepeatedCall {
  const Verdict& verdict() const { return call.verdict; }
  bool isMpis() const { return call.verdict.isMpis(); }
  /// Whether the plan accepts these buffers without further checks.
  bool takes(const void* in, void* out) {
    return (has_taken && in == taken_in && out == taken_out) || takesAnew(in, out);
  }
  /// Binds the plan to the accepted buffers, unless it is bound to them from the round before.
  Status bind() { return is_bound ? Status() : bindAnew(); }
  /// Whether its round is complete.
  bool isOver() const { return plan->executor().progress() == Progress::kDone; }
  /// A full description of a call that is alike on this communicator.
  CollectiveCall callOf(const BriefCall& brief) const {
    CollectiveCall alike = call;
    alike.arguments.in = brief.in;
    alike.arguments.out = brief.out;
    return alike;
  }

  CallKey key;
  CollectiveCall call;  // the first such call
  Call checked;
  CallNote note;
  Plan* plan = nullptr;     // acquired; null: of a fallback
  bool is_bound = false;    // to the accepted buffers
  bool is_running = false;  // an operation uses it
  bool has_taken = false;   // accepts the buffers of the last call
  const void* taken_in = nullptr;
  void* taken_out = nullptr;

 private:
  bool takesAnew(const void* in, void* out);
  bool canTake(const void* in, const void* out) const;
  Status bindAnew();
};

/// The repeated calls of one communicator. With the lock.
class RepeatedCalls : NonCopyable {
 public:
  /// `cache`: of the communicator, once it is set up. Outlives this.
  explicit RepeatedCalls(const std::unique_ptr<CallCache>& cache) : cache_(cache) {}
  ~RepeatedCalls() { dropAll(); }

  /// nullptr: not kept.
  RepeatedCall* find(const CallKey& key) {
    if (last_found_ != nullptr && last_found_->key == key) return last_found_;
    const Slot& slot = slotOf(key.hash());
    if (slot.kept == nullptr || !(slot.kept->key == key)) return nullptr;
    return last_found_ = slot.kept.get();
  }

  /// `schedule` has served a blocking call, or the call falls back to MPI for a lasting reason. The
  /// second in a row is kept, if only its buffers can change, and if there is memory. Throws
  /// std::bad_alloc.
  void keep(const CallKey& key, const CollectiveCall& call, const Call& checked,
            torc_schedule* schedule);

  /// Stops keeping it.
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
