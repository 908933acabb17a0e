// Collective: a call laid out for its buffers, started any number of times.
#ifndef TORC_RUNTIME_EXECUTION_COLLECTIVE_H_
#define TORC_RUNTIME_EXECUTION_COLLECTIVE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/api/torc.h"
#include "runtime/execution/call.h"
#include "runtime/execution/data_memory.h"
#include "runtime/execution/executor.h"
#include "runtime/execution/mpi_reduction.h"
#include "runtime/job/geometry.h"
#include "runtime/job/library.h"
#include "runtime/transport/mpi_transport.h"
#include "runtime/transport/tag_ring.h"
#include "schedules/expansion/expand.h"

struct torc_collective {
  explicit torc_collective(torc_schedule* owner) : schedule(owner) {}
  torc_collective(const torc_collective&) = delete;
  torc_collective& operator=(const torc_collective&) = delete;
  virtual ~torc_collective() = default;

  torc_context* context() const { return schedule->geometry->context; }

  /// What can fail on one rank, before tags are agreed on: checks, expansion, memory.
  torc::Status prepare(const torc::CallArguments& arguments);
  /// Makes the messages, with the agreed tags.
  torc::Status lay(int tag_base, torc::Requests requests);

  // The steps of `prepare` behind the check of counts, in this order.
  torc::Status prepareReduction(const torc::CallArguments& arguments);
  torc::Status expand();
  void allocate();  // throws std::bad_alloc
  /// Points `buffers` at the caller's, which have been checked.
  void takeBuffers(const torc::CallArguments& arguments);

  /// Other tags for the next round; only of Requests::kOneShot.
  void bindTags(const torc::TagRange& given) {
    transport->bindTags(given.base);
    number = given.number;
  }
  torc::Reducer reducer() const;

  /// Moves the round on; true when it is over.
  bool advance();
  /// After the round: last copies, callback. The collective is no longer linked.
  void finish();
  /// Ends a round that is under way as failed, without a callback.
  void abandon(const torc::Status& status);
  /// The error of the last round, if any.
  torc::Status roundStatus() const;

  /// Begins to tell the geometry's trace; the program is still there.
  void layTrace();
  /// For the trace: a number of the next round, the same on all ranks.
  std::uint64_t roundKey() const;

  torc_schedule* schedule;
  torc::Call call;
  torc::MpiReduction reduction;
  torc::BufferElements elements;
  torc::FlatProgram program;   // empty once the executor has it
  torc::MessagePieces pieces;  // likewise
  torc::Buffers buffers;
  torc::DataMemory scratch;
  torc::DataMemory own_block;  // in-place reduce_scatter: `out` until the vector is no longer read
  std::byte* own_block_home = nullptr;  // where it goes at the end
  torc::TagClaim tags;
  /// Of a persistent collective or of a one-shot call in its geometry: the same on all ranks.
  std::uint64_t number = 0;
  std::unique_ptr<torc::Executor> executor;
  torc::MpiTransport* transport = nullptr;  // the executor's
  std::unique_ptr<torc::RoundTrace> trace;  // null: not traced

  bool active = false;
  std::uint64_t rounds = 0;
  torc_callback callback = nullptr;
  void* cookie = nullptr;

  // Of the context's list.
  torc_collective* previous = nullptr;
  torc_collective* next = nullptr;
  std::uint64_t started_in_pass = 0;
};

#endif  // TORC_RUNTIME_EXECUTION_COLLECTIVE_H_
