// Call cache: keys, idle calls, memory.
#include "runtime/collectives/call_cache.h"

#include <algorithm>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/job/bound_schedule.h"
#include "runtime/job/geometry.h"
#include "support/hash.h"

namespace torc::runtime {
namespace {

std::uint64_t hashOf(const torc_schedule* schedule, const Call& call) {
  const std::uint64_t hash =
      hashNumbers(reinterpret_cast<std::uintptr_t>(schedule), call.count,
                  static_cast<std::uint64_t>(call.collective),
                  static_cast<std::uint64_t>(call.root), call.type.bytes, call.in_place);
  const std::uint64_t with_lists = hashList(call.displacements, hashList(call.per_rank, hash));
  if (call.in_per_rank.empty()) return with_lists;
  return hashList(call.in_displacements, hashList(call.in_per_rank, with_lists));
}

/// Whether two calls of one schedule can share a plan.
bool laidOutAlike(const Call& a, const Call& b) {
  return a.collective == b.collective && a.count == b.count && a.root == b.root &&
         a.type.bytes == b.type.bytes && a.in_place == b.in_place && a.per_rank == b.per_rank &&
         a.displacements == b.displacements && a.in_per_rank == b.in_per_rank &&
         a.in_displacements == b.in_displacements;
}

}  // namespace

void CallMemory::add(std::size_t bytes) {
  bytes_ += bytes;
  most_bytes_ = std::max(most_bytes_, bytes_);
}

void CallMemory::append(CachedCall* idle) {
  idle->older = newest_;
  idle->newer = nullptr;
  (newest_ != nullptr ? newest_->newer : oldest_) = idle;
  newest_ = idle;
}

void CallMemory::remove(CachedCall* idle) {
  (idle->older != nullptr ? idle->older->newer : oldest_) = idle->newer;
  (idle->newer != nullptr ? idle->newer->older : newest_) = idle->older;
}

void CallMemory::keepToLimit() {
  while (bytes_ > limit_ && oldest_ != nullptr) {
    CachedCall* call = oldest_;
    call->cache->takeIdle(call);
    call->cache->free(call);
  }
}

CallCache::~CallCache() {
  forget(nullptr);
}

StatusOr<PersistentPlan*> CallCache::acquire(torc_schedule* schedule, const Call& call) {
  CachedCall* acquired = nullptr;
  Status status = attempt([&]() -> Status {
    if (Status fits = checkSchedule(*schedule, call.collective); !fits.ok()) return fits;
    const std::uint64_t hash = hashOf(schedule, call);
    acquired = findIdle(hash, schedule, call);
    if (acquired != nullptr) {
      ++memory_->hits_;
      ++running_;
      takeIdle(acquired);
      return acquired->bind(call);
    }
    auto made = std::make_unique<CachedCall>(this, schedule);
    made->key_hash = hash;
    if (Status prepared = made->prepare(call); !prepared.ok()) return prepared;
    if (Status laid = made->layOut(0, Requests::kOneShot); !laid.ok()) return laid;
    made->held_bytes = sizeof(CachedCall) + made->bytes();
    ++buckets_[hash].calls;
    ++schedule->collectives;
    ++memory_->misses_;
    ++running_;
    acquired = made.release();
    memory_->add(acquired->held_bytes);
    memory_->keepToLimit();
    return {};
  });
  if (status.ok()) return acquired;
  if (acquired != nullptr) release(acquired);
  return status;
}

void CallCache::release(PersistentPlan* plan) {
  auto* call = static_cast<CachedCall*>(plan);
  --running_;
  call->unbind();
  if (call->hasFailed()) {
    free(call);
    return;
  }
  putIdle(call);
  memory_->keepToLimit();
}

void CallCache::forget(const torc_schedule* schedule) {
  for (auto next = buckets_.begin(); next != buckets_.end();) {
    // Freeing the last call of a bucket removes the bucket.
    auto bucket = next++;
    for (CachedCall* call = bucket->second.idle; call != nullptr;) {
      CachedCall* behind = call->next_alike;
      if (schedule == nullptr || call->schedule() == schedule) {
        takeIdle(call);
        free(call);
      }
      call = behind;
    }
  }
}

CachedCall* CallCache::findIdle(std::uint64_t hash, const torc_schedule* schedule,
                                const Call& wanted) {
  const auto bucket = buckets_.find(hash);
  if (bucket == buckets_.end()) return nullptr;
  CachedCall* call = bucket->second.idle;
  while (call != nullptr && !(call->schedule() == schedule && laidOutAlike(call->call(), wanted)))
    call = call->next_alike;
  return call;
}

void CallCache::putIdle(CachedCall* call) {
  Bucket& bucket = buckets_.find(call->key_hash)->second;
  call->previous_alike = nullptr;
  call->next_alike = bucket.idle;
  if (bucket.idle != nullptr) bucket.idle->previous_alike = call;
  bucket.idle = call;
  memory_->append(call);
}

void CallCache::takeIdle(CachedCall* call) {
  Bucket& bucket = buckets_.find(call->key_hash)->second;
  (call->previous_alike != nullptr ? call->previous_alike->next_alike : bucket.idle) =
      call->next_alike;
  if (call->next_alike != nullptr) call->next_alike->previous_alike = call->previous_alike;
  memory_->remove(call);
}

void CallCache::free(CachedCall* call) {
  const auto bucket = buckets_.find(call->key_hash);
  if (--bucket->second.calls == 0) buckets_.erase(bucket);
  memory_->bytes_ -= call->held_bytes;
  --call->schedule()->collectives;
  geometry_->context->dispose(std::unique_ptr<PersistentPlan>(call));
}

}  // namespace torc::runtime
