// Call cache: one-shot calls of a geometry. A call is laid out once and then run with ever new
// buffers, datatypes of the same size, operations and message tags, without communication and
// without allocation: what repeats in a program is the schedule and the counts.
//
// Life of a call, all of it local to the rank:
//   TagRange tags = ring.take(schedule->tag_count)    in the order of the calls, on all ranks alike
//   call = cache.acquire(schedule, arguments)         an idle laid-out call, or a new one
//   call->bindTags(tags.base); torc_collective_start(call)      once ring.ready(tags)
//   ... complete: ring.release(tags); cache.release(call)
//
// What the layout depends on is the key: schedule, counts, displacements relative to the lowest,
// bytes of an element, whether in place. Handles of datatypes and operations are no part of it: MPI
// gives the handle of a freed one to a new one. They are looked at anew in every call.
//
// Idle calls take memory (tables, scratch, packed messages). All caches of a process share one
// limit; beyond it the calls that were idle longest are freed. What is in the cache is a matter of
// this rank alone and decides nothing but speed.
#ifndef TORC_RUNTIME_CALL_CACHE_H_
#define TORC_RUNTIME_CALL_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "runtime/call.h"
#include "runtime/collective.h"
#include "runtime/torc.h"
#include "schedules/status.h"

namespace torc {

class CallCache;

/// The memory of a process's idle calls, oldest first. Outlives its caches.
class CallMemory {
 public:
  explicit CallMemory(std::size_t limit_bytes) : limit_(limit_bytes) {}
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;

  std::size_t limit() const { return limit_; }
  /// Of all calls of all caches, those that run included.
  std::size_t bytes() const { return bytes_; }
  std::size_t idleBytes() const { return idle_bytes_; }
  std::size_t mostBytes() const { return most_bytes_; }
  std::uint64_t evictions() const { return evictions_; }

 private:
  friend class CallCache;

  void append(torc_collective* call);
  void remove(torc_collective* call);
  void keepToLimit();

  std::size_t limit_;
  std::size_t bytes_ = 0, idle_bytes_ = 0, most_bytes_ = 0;
  std::uint64_t evictions_ = 0;
  torc_collective* oldest_ = nullptr;
  torc_collective* newest_ = nullptr;
};

/// One geometry's calls, of all its schedules. As a context: used by one thread at a time.
class CallCache {
 public:
  CallCache(torc_geometry* geometry, CallMemory* memory) : geometry_(geometry), memory_(memory) {}
  CallCache(const CallCache&) = delete;
  CallCache& operator=(const CallCache&) = delete;
  /// Frees all idle calls. None is acquired any more.
  ~CallCache();

  /// A call of `schedule`, which belongs to the geometry, bound to the arguments' buffers and not
  /// started. Counts in `arguments` need not outlive this. Errors are local: those of the
  /// torc_*_init functions (wrong arguments, unsupported datatypes and operations, no memory).
  StatusOr<torc_collective*> acquire(torc_schedule* schedule, const CallArguments& arguments);

  /// The call is complete, has failed, or was never started. It may be freed in here; may be called
  /// from the call's own callback, as the last thing that it does.
  void release(torc_collective* call);

  /// Frees the idle calls of `schedule`, which is about to go.
  void forget(const torc_schedule* schedule);

  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }
  /// Calls that are acquired.
  std::size_t running() const { return running_; }

 private:
  friend class CallMemory;

  torc_collective* findIdle(std::uint64_t key);
  void free(torc_collective* call);

  torc_geometry* geometry_;
  CallMemory* memory_;
  std::unordered_multimap<std::uint64_t, torc_collective*> idle_;  // by hash of the key
  Call wanted_;  // of the call being acquired; keeps its lists' memory
  std::uint64_t hits_ = 0, misses_ = 0;
  std::size_t running_ = 0;
};

}  // namespace torc

#endif  // TORC_RUNTIME_CALL_CACHE_H_
