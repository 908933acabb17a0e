// Call cache: one-shot calls of a geometry. A call is laid out once and then run with ever new
// buffers, datatypes of the same size, operations and message tags, without communication and
// without allocation: what repeats in a program is the schedule and the counts.
//
// Life of a call, all of it local to the rank:
//   TagRange tags = space.rangeOf(call's hash, schedule->tag_count)    on all ranks alike
//   laid = cache.acquire(schedule, call)               an idle persistent plan, or a new one
//   torc_collective collective(laid); collective.bindTags(tags);
//   space.hold(tags); torc_collective_start(&collective)               once space.ready(tags)
//   ... complete: space.release(tags); cache.release(laid)
//
// What the layout depends on is the key: schedule, collective, root, counts, displacements relative
// to the lowest, bytes of an element, whether in place. Handles of datatypes and operations are no
// part of it: MPI gives the handle of a freed one to a new one. They are looked at anew in every
// call.
//
// A persistent plan takes memory: tables, scratch, packed messages, the own block of an in-place
// reduce_scatter. All caches of a process share one limit; beyond it the calls that were idle
// longest are freed. What is in the cache is a matter of this rank alone and decides nothing but
// speed.
#ifndef TORC_RUNTIME_COLLECTIVES_CALL_CACHE_H_
#define TORC_RUNTIME_COLLECTIVES_CALL_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "runtime/api/torc.h"
#include "runtime/collectives/call.h"
#include "runtime/collectives/persistent_plan.h"
#include "support/status.h"

namespace torc::runtime {

class CallCache;

/// A persistent plan that belongs to a cache.
struct CachedCall : PersistentPlan {
  CachedCall(CallCache* owner, torc_schedule* schedule) : PersistentPlan(schedule), cache(owner) {}

  CallCache* cache;
  std::uint64_t key_hash = 0;
  std::size_t held_bytes = 0;
  // While idle: among the calls of one hash, and among all of the process by age.
  CachedCall* previous_alike = nullptr;
  CachedCall* next_alike = nullptr;
  CachedCall* older = nullptr;
  CachedCall* newer = nullptr;
};

/// The memory of a process's one-shot calls. Outlives its caches. Used by one thread at a time, as
/// they are.
class CallMemory {
 public:
  explicit CallMemory(std::size_t limit_bytes) : limit_(limit_bytes) {}
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;

  /// Kept to by freeing idle calls. Calls that run may together take more.
  std::size_t limit() const { return limit_; }
  /// Of all calls, idle or not; now, and at most so far.
  std::size_t bytes() const { return bytes_; }
  std::size_t mostBytes() const { return most_bytes_; }
  /// Since the beginning: calls that found a layout, calls that needed one.
  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  friend class CallCache;

  void add(std::size_t bytes);
  void append(CachedCall* idle);
  void remove(CachedCall* idle);
  void keepToLimit();

  std::size_t limit_;
  std::size_t bytes_ = 0, most_bytes_ = 0;
  std::uint64_t hits_ = 0, misses_ = 0;
  CachedCall* oldest_ = nullptr;
  CachedCall* newest_ = nullptr;
};

/// One geometry's calls, of all its schedules. Used by one thread at a time.
class CallCache {
 public:
  CallCache(torc_geometry* geometry, CallMemory* memory) : geometry_(geometry), memory_(memory) {}
  CallCache(const CallCache&) = delete;
  CallCache& operator=(const CallCache&) = delete;
  /// Frees all calls. None is acquired any more.
  ~CallCache();

  /// A persistent plan of `schedule`, which belongs to the geometry, bound to `call`. The call has
  /// passed `check` and has its lists; it need not outlive this, but its operation must, and so
  /// must the datatype where it is Keep::kOriginal. Errors are local: a schedule for another
  /// collective, no memory.
  StatusOr<PersistentPlan*> acquire(torc_schedule* schedule, const Call& call);

  /// A persistent plan that is still acquired serves another call, which has found it without
  /// asking.
  void servesAgain() { ++memory_->hits_; }

  /// Its round is complete, has failed, or was never started. The persistent plan may be freed in
  /// here. May be called from the callback of its collective, as the last thing that it does.
  void release(PersistentPlan* plan);

  /// Frees the idle calls of `schedule`, which is about to go.
  void forget(const torc_schedule* schedule);

  /// Whether the memory of all calls of the process is within its limit.
  bool isWithinLimit() const { return memory_->bytes() <= memory_->limit(); }

  /// Calls that are acquired.
  std::size_t running() const { return running_; }

 private:
  friend class CallMemory;

  /// Calls with one hash.
  struct Bucket {
    CachedCall* idle = nullptr;  // the last one released first
    std::size_t calls = 0;
  };

  CachedCall* findIdle(std::uint64_t hash, const torc_schedule* schedule, const Call& call);
  void putIdle(CachedCall* call);
  void takeIdle(CachedCall* call);
  void free(CachedCall* call);

  torc_geometry* geometry_;
  CallMemory* memory_;
  std::unordered_map<std::uint64_t, Bucket> buckets_;
  std::size_t running_ = 0;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_CALL_CACHE_H_
