// Call cache: persistent plans of a geometry's one-shot calls. A plan is made once and then serves
// calls with other buffers, datatypes of the same size, operations and message tags, without
// communication or allocation: programs repeat schedules and counts.
//
// Life of a call, local to the rank:
//   TagRange tags = space.rangeOf(call's hash, schedule->tag_count)    on all ranks alike
//   laid = cache.acquire(schedule, call)               an idle persistent plan, or a new one
//   laid->bindTags(tags); space.hold(tags); laid->start()              once space.ready(tags)
//   ... complete: space.release(tags); cache.release(laid)
//
// The key has all inputs of the plan: schedule, collective, root, counts, displacements relative to
// the lowest, bytes of an element, whether in place. It has no handles of datatypes and operations,
// since MPI reuses freed handles: each call examines them again.
//
// A persistent plan uses memory: tables, scratch, packed messages, the own block of an in-place
// reduce_scatter. All caches of a process share one limit; beyond it the calls that were idle
// longest are freed. The contents of the cache may differ between ranks, and affect only speed.
#ifndef TORC_RUNTIME_COLLECTIVES_CALL_CACHE_H_
#define TORC_RUNTIME_COLLECTIVES_CALL_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "runtime/api/torc.h"
#include "runtime/collectives/call.h"
#include "runtime/collectives/plan.h"
#include "runtime/non_copyable.h"
#include "support/status.h"

namespace torc::runtime {

class CallCache;

/// A plan in a cache.
struct CachedCall : Plan {
  CachedCall(CallCache* owner, torc_schedule* schedule, std::uint64_t hash)
      : Plan(schedule), cache(owner), key_hash(hash) {}

  CallCache* cache;
  std::uint64_t key_hash;
  std::size_t held_bytes = 0;
  bool is_idle = false;
  std::list<CachedCall*>::iterator place;  // in a list of CallMemory
};

/// The memory of a process's one-shot calls. Outlives its caches. Not thread-safe, like these.
class CallMemory : NonCopyable {
 public:
  explicit CallMemory(std::size_t limit_bytes) : limit_(limit_bytes) {}

  /// Enforced by freeing idle calls. Calls that run at the same time may exceed it.
  std::size_t limit() const { return limit_; }
  /// Of all calls, idle or not; now, and at most so far.
  std::size_t bytes() const { return bytes_; }
  std::size_t mostBytes() const { return most_bytes_; }
  /// Since the beginning: calls that found a plan, and calls that needed a new one.
  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  friend class CallCache;

  void setIdle(CachedCall& call, bool is_idle);
  void keepToLimit();

  std::size_t limit_;
  std::size_t bytes_ = 0, most_bytes_ = 0;
  std::uint64_t hits_ = 0, misses_ = 0;
  std::list<CachedCall*> idle_, acquired_;  // those idle for longest first
};

/// One geometry's calls, of all its schedules. Not thread-safe.
class CallCache : NonCopyable {
 public:
  CallCache(torc_geometry* geometry, CallMemory* memory) : geometry_(geometry), memory_(memory) {}
  /// Frees all calls. Precondition: none is acquired.
  ~CallCache();

  /// A persistent plan of `schedule`, which belongs to the geometry, bound to `call`. The call has
  /// passed `check` and has its lists; it need not outlive this, but its operation must, and so
  /// must the datatype if it is Keep::kOriginal. Errors are local: a schedule for another
  /// collective, no memory.
  StatusOr<Plan*> acquire(torc_schedule* schedule, const Call& call);

  /// Counts another call of a persistent plan that is still acquired.
  void servesAgain() { ++memory_->hits_; }

  /// The round is complete, has failed, or was never started. May free the persistent plan. May be
  /// called from the callback of its collective, as the callback's last action.
  void release(Plan* plan);

  /// Frees the idle calls of `schedule`, before that is freed.
  void forget(const torc_schedule* schedule);

  /// Whether the memory of all calls of the process is within its limit.
  bool isWithinLimit() const { return memory_->bytes() <= memory_->limit(); }

 private:
  friend class CallMemory;

  void free(CachedCall& call);

  torc_geometry* geometry_;
  CallMemory* memory_;
  std::unordered_multimap<std::uint64_t, std::unique_ptr<CachedCall>> calls_;  // by hash
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_CALL_CACHE_H_
