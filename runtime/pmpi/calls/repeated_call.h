// Repeated calls: small blocking calls that a program makes again and again on a communicator, with
// all that is found out about one kept ready. Such a call binds its buffers, starts, and waits, or
// goes to MPI: nothing is looked up, checked, or allocated that was the same last time.
#ifndef TORC_RUNTIME_PMPI_CALLS_REPEATED_CALL_H_
#define TORC_RUNTIME_PMPI_CALLS_REPEATED_CALL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <mpi.h>

#include "runtime/collectives/call.h"
#include "runtime/collectives/call_cache.h"
#include "runtime/pmpi/calls/call_note.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/verdict.h"

namespace torc::runtime::pmpi {

/// What a call is but for its buffers, as the program made it.
struct CallKey {
  static CallKey of(const CollectiveCall& call) {
    const CallArguments& arguments = call.arguments;
    return {.id = call.id,
            .in_is_out = arguments.in == MPI_IN_PLACE,
            .out_is_in = arguments.out == MPI_IN_PLACE,
            .root = arguments.root,
            .type = arguments.type,
            .own_type = arguments.own_type,
            .op = arguments.op,
            .count = arguments.count,
            .own_count = arguments.own_count};
  }
  bool operator==(const CallKey&) const = default;
  std::uint64_t hash() const {
    const auto pair = [](int high, int low) {
      return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 |
             static_cast<std::uint32_t>(low);
    };
    const std::hash<MPI_Datatype> of_type;
    // A sum of products with odd numbers, which are made at the same time: this is in every call.
    // The upper half of such a sum depends on all bits.
    const std::uint64_t sum =
        pair(static_cast<int>(id) * 4 + in_is_out * 2 + out_is_in, root) * 0x9e3779b97f4a7c15u +
        of_type(type) * 0xc2b2ae3d27d4eb4fu + of_type(own_type) * 0x165667b19e3779f9u +
        std::hash<MPI_Op>()(op) * 0xd6e8feb86659fd93u +
        static_cast<std::uint64_t>(count) * 0xff51afd7ed558ccdu +
        static_cast<std::uint64_t>(own_count) * 0xc4ceb9fe1a85ec53u;
    return sum ^ sum >> 32;
  }

  CallId id;
  bool in_is_out = false, out_is_in = false;  // MPI_IN_PLACE
  int root = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL, own_type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  std::int64_t count = 0, own_count = 0;
};

/// A blocking call before it is described.
struct BriefCall {
  CallKey key;
  const void* in = nullptr;
  void* out = nullptr;
};

struct RepeatedCall {
  /// Whether torc does not serve it.
  bool isMpis() const { return verdict.isMpis(); }
  /// Whether buffers are such that nothing else has to be looked at.
  bool takes(const void* in, const void* out) {
    if (has_taken && in == taken_in && out == taken_out) return true;
    has_taken = canTake(in, out);
    taken_in = in;
    taken_out = out;
    return has_taken;
  }
  /// What the call is with these buffers. Refers to this object.
  const Call& callWith(const void* in, void* out);
  /// Binds what is laid out to the buffers, unless it is bound to them from the round before.
  Status bind(const void* in, void* out) {
    const bool is_the_same = is_bound && checked.in == in && checked.out == out;
    return is_the_same ? Status() : bindAnew(in, out);
  }
  /// Whether its round is complete.
  bool isOver() const { return plan->executor()->progress() == Progress::kDone; }
  /// One like it, described as what it is on its communicator.
  CollectiveCall callOf(const BriefCall& brief, std::uint64_t ordinal) const;

  CallKey key;
  CollectiveCall call;  // as it came once
  Call checked;
  CallNote note;
  Verdict verdict;
  PersistentPlan* plan = nullptr;  // acquired; null: of a call that is MPI's
  bool is_bound = false;           // to the buffers of `checked`
  bool is_running = false;         // an operation has it
  bool has_taken = false;          // the buffers that came last
  const void *taken_in = nullptr, *taken_out = nullptr;

 private:
  bool canTake(const void* in, const void* out) const;
  Status bindAnew(const void* in, void* out);
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
