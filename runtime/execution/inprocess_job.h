// In-process job: runs a schedule on all its ranks in one thread, with separate memory. It is the
// third check beside the symbolic and the per-rank proof: it computes with real numbers.
#ifndef TORC_RUNTIME_EXECUTION_INPROCESS_JOB_H_
#define TORC_RUNTIME_EXECUTION_INPROCESS_JOB_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/execution/executor.h"
#include "runtime/reductions/reduction.h"
#include "runtime/transport/data_memory.h"
#include "runtime/transport/inprocess_transport.h"
#include "schedules/expansion/expand.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc::runtime {

struct JobOptions {
  Delivery delivery = Delivery::kRendezvous;
  std::uint64_t seed = 0;  // of the adversary, and of the order of ranks
  bool in_place = false;   // `in` is `out`
  std::int32_t root = 0;   // of a rooted collective
  std::size_t element_bytes = 1;
  Reducer reducer;               // empty without reductions
  CoreThreads* cores = nullptr;  // see Executor::create
};

class InProcessJob {
 public:
  /// Expands and compiles the programs of all ranks. `schedule` has passed `validate`, and may be
  /// destroyed afterwards. Buffers start as zeros.
  static StatusOr<std::unique_ptr<InProcessJob>> create(const ScheduleView& schedule,
                                                        const Counts& counts,
                                                        const JobOptions& options);
  /// The same for programs that the caller has expanded, or made by hand, one per rank.
  static StatusOr<std::unique_ptr<InProcessJob>> create(std::span<const FlatProgram> programs,
                                                        const JobOptions& options);

  /// Binds all ranks to other memory, filled with zeros, and another reduction on elements of the
  /// same size. Between rounds.
  void rebind(const Reducer& reducer);

  std::int32_t ranks() const { return static_cast<std::int32_t>(members_.size()); }
  /// The buffers of `rank`. With in_place, `in` and `out` are the same memory.
  std::span<std::byte> in(std::int32_t rank) {
    return in_place_ ? out(rank) : bytesOf(members_[rank].in);
  }
  std::span<std::byte> out(std::int32_t rank) { return bytesOf(members_[rank].out); }
  std::span<const std::byte> scratch(std::int32_t rank) const {
    return bytesOf(members_[rank].scratch);
  }
  const Executor& executor(std::int32_t rank) const { return *members_[rank].executor; }
  const InProcessNetwork& network() const { return network_; }

  /// One round on all ranks. Allocates only on failure: kTransport if the job deadlocks (`no rank
  /// can go on: operation 12 of rank 3 is not complete, nor are those of 5 other ranks`), or an
  /// error of the network. After a failure the job cannot be used.
  Status run();

 private:
  struct Member {
    DataMemory in, out, scratch;
    std::unique_ptr<Executor> executor;
  };

  static std::span<std::byte> bytesOf(const DataMemory& memory) {
    return {memory.data(), memory.bytes()};
  }
  InProcessJob(std::int32_t ranks, const JobOptions& options);

  Buffers buffersOf(const Member& member) const;
  Status stuck() const;

  bool in_place_;
  std::size_t element_bytes_;
  bool shuffle_;
  std::mt19937_64 random_;
  InProcessNetwork network_;
  std::vector<Member> members_;
  std::vector<std::int32_t> order_;  // in which ranks advance
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_EXECUTION_INPROCESS_JOB_H_
