// Collective: starts the rounds of a persistent plan and handles their end. The handle of the C API
// owns its persistent plan; plans of one-shot calls belong to a cache.
#ifndef TORC_RUNTIME_COLLECTIVES_COLLECTIVE_H_
#define TORC_RUNTIME_COLLECTIVES_COLLECTIVE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/api/torc.h"
#include "runtime/collectives/plan.h"
#include "runtime/job/bound_schedule.h"
#include "runtime/job/context.h"
#include "runtime/job/geometry.h"
#include "runtime/transport/tag_space.h"

struct torc_collective final : torc::runtime::Round {
  /// Uses a persistent plan that outlives it and serves no other collective meanwhile.
  explicit torc_collective(torc::runtime::Plan* call) : plan(call) {}
  explicit torc_collective(std::unique_ptr<torc::runtime::Plan> call)
      : plan(call.get()), owned(std::move(call)) {}

  torc_schedule* schedule() const { return plan->schedule(); }
  torc_context* context() const { return schedule()->geometry->context; }
  torc::runtime::Executor& executor() const { return *plan->executor(); }

  /// The tags of the next round of a one-shot call.
  void bindTags(const torc::runtime::TagRange& given) {
    plan->bindTags(given);
    number = given.call;
  }

  /// Starts a round. Precondition: none is active. Error: the error of an earlier failed round.
  torc::Status start();
  bool advance() override;
  void finish() override;
  /// Fails an active round, without a callback.
  void abandon(const torc::Status& status);
  /// The error of the last round, if any.
  torc::Status roundStatus() const;

  /// For the trace: a number of the next round, the same on all ranks.
  std::uint64_t roundKey() const;

  /// Frees the tags and memory of a persistent collective.
  void releaseOwned();

  torc::runtime::Plan* plan;
  std::unique_ptr<torc::runtime::Plan> owned;  // null: in a cache
  torc::runtime::TagClaim tags;                // of a persistent one
  /// Number of a persistent collective or a one-shot call in its geometry: the same on all ranks.
  std::uint64_t number = 0;

  bool active = false;
  std::uint64_t rounds = 0;
  torc_callback callback = nullptr;
  void* cookie = nullptr;
};

#endif  // TORC_RUNTIME_COLLECTIVES_COLLECTIVE_H_
