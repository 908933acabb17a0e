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
         (a.in_per_rank.empty() || a.in_displacements == b.in_displacements);
}

}  // namespace

void CallMemory::setIdle(CachedCall& call, bool is_idle) {
  std::list<CachedCall*>& to = is_idle ? idle_ : acquired_;
  to.splice(to.end(), is_idle ? acquired_ : idle_, call.place);
  call.is_idle = is_idle;
}

void CallMemory::keepToLimit() {
  while (bytes_ > limit_ && !idle_.empty())
    idle_.front()->cache->free(*idle_.front());
}

CallCache::~CallCache() {
  forget(nullptr);
}

StatusOr<Plan*> CallCache::acquire(torc_schedule* schedule, const Call& call) {
  CachedCall* acquired = nullptr;
  Status status = attempt([&]() -> Status {
    if (Status fits = checkSchedule(*schedule, call.collective); !fits.ok()) return fits;
    const std::uint64_t hash = hashOf(schedule, call);
    const auto [first, last] = calls_.equal_range(hash);
    const auto found = std::find_if(first, last, [&](const auto& entry) {
      const CachedCall& cached = *entry.second;
      return cached.is_idle && cached.schedule() == schedule && laidOutAlike(cached.call(), call);
    });
    if (found != last) {
      acquired = found->second.get();
      ++memory_->hits_;
      memory_->setIdle(*acquired, false);
      return acquired->bind(call);
    }
    auto made = std::make_unique<CachedCall>(this, schedule, hash);
    if (Status prepared = made->prepare(call); !prepared.ok()) return prepared;
    if (Status laid = made->layOut(torc_geometry::kOneShot); !laid.ok()) return laid;
    made->held_bytes = sizeof(CachedCall) + made->bytes();
    std::list<CachedCall*> listed{made.get()};
    made->place = listed.begin();
    acquired = calls_.emplace(hash, std::move(made))->second.get();
    memory_->acquired_.splice(memory_->acquired_.end(), listed);
    ++schedule->collectives;
    ++memory_->misses_;
    memory_->bytes_ += acquired->held_bytes;
    memory_->most_bytes_ = std::max(memory_->most_bytes_, memory_->bytes_);
    memory_->keepToLimit();
    return {};
  });
  if (status.ok()) return acquired;
  if (acquired != nullptr) release(acquired);
  return status;
}

void CallCache::release(Plan* plan) {
  auto& call = static_cast<CachedCall&>(*plan);
  call.unbind();
  if (call.hasFailed()) return free(call);
  memory_->setIdle(call, true);
  memory_->keepToLimit();
}

void CallCache::forget(const torc_schedule* schedule) {
  for (auto next = calls_.begin(); next != calls_.end();) {
    CachedCall& call = *(next++)->second;
    if (call.is_idle && (schedule == nullptr || call.schedule() == schedule)) free(call);
  }
}

void CallCache::free(CachedCall& call) {
  (call.is_idle ? memory_->idle_ : memory_->acquired_).erase(call.place);
  memory_->bytes_ -= call.held_bytes;
  --call.schedule()->collectives;
  const auto [first, last] = calls_.equal_range(call.key_hash);
  const auto found =
      std::find_if(first, last, [&](const auto& entry) { return entry.second.get() == &call; });
  geometry_->context->dispose(std::move(found->second));
  calls_.erase(found);
}

}  // namespace torc::runtime
