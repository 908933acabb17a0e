// Call cache: keys, idle calls, memory.
#include "runtime/execution/call_cache.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/job/geometry.h"
#include "runtime/job/library.h"

namespace torc {
namespace {

class Hash {
 public:
  void add(std::uint64_t word) { value_ = mix(value_, word); }
  void add(std::span<const std::uint64_t> words) {
    add(words.size());
    if (words.empty()) return;
    // Four sums side by side: a multiplication need not wait for the one before it.
    std::array<std::uint64_t, 4> sums = {1, 2, 3, 4};
    std::size_t i = 0;
    for (; i + sums.size() <= words.size(); i += sums.size()) {
      for (std::size_t k = 0; k < sums.size(); ++k)
        sums[k] = mix(sums[k], words[i + k]);
    }
    for (; i < words.size(); ++i)
      add(words[i]);
    for (const std::uint64_t sum : sums)
      add(sum);
  }
  std::uint64_t value() const { return value_; }

 private:
  static std::uint64_t mix(std::uint64_t sum, std::uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
  }

  std::uint64_t value_ = 0xcbf29ce484222325u;
};

std::uint64_t hashOf(const torc_schedule* schedule, const Call& call) {
  Hash hash;
  hash.add(reinterpret_cast<std::uintptr_t>(schedule));
  hash.add(call.count);
  hash.add(call.type.bytes << 1 | (call.in_place ? 1 : 0));
  hash.add(call.per_rank);
  hash.add(call.displacements);
  return hash.value();
}

/// Whether two calls of one schedule have one layout.
bool laidOutAlike(const Call& a, const Call& b) {
  return a.count == b.count && a.type.bytes == b.type.bytes && a.in_place == b.in_place &&
         a.per_rank == b.per_rank && a.displacements == b.displacements;
}

std::size_t bytesOf(const OneShotCall& call) {
  const std::size_t lists =
      (call.call.per_rank.capacity() + call.call.displacements.capacity()) * sizeof(std::uint64_t);
  return sizeof(OneShotCall) + lists + call.scratch.bytes() + call.own_block.bytes() +
         call.executor->bufferBytes() + call.executor->tableBytes() +
         (call.trace != nullptr ? call.trace->bytes() : 0);
}

}  // namespace

void CallMemory::add(std::size_t bytes) {
  bytes_ += bytes;
  most_bytes_ = std::max(most_bytes_, bytes_);
}

void CallMemory::append(OneShotCall* idle) {
  idle->older = newest_;
  idle->newer = nullptr;
  (newest_ != nullptr ? newest_->newer : oldest_) = idle;
  newest_ = idle;
}

void CallMemory::remove(OneShotCall* idle) {
  (idle->older != nullptr ? idle->older->newer : oldest_) = idle->newer;
  (idle->newer != nullptr ? idle->newer->older : newest_) = idle->older;
}

void CallMemory::keepToLimit() {
  while (bytes_ > limit_ && oldest_ != nullptr) {
    OneShotCall* call = oldest_;
    call->cache->takeIdle(call);
    call->cache->free(call);
    ++evictions_;
  }
}

CallCache::~CallCache() {
  forget(nullptr);
}

StatusOr<torc_collective*> CallCache::acquire(torc_schedule* schedule,
                                              const CallArguments& arguments) {
  OneShotCall* call = nullptr;
  Status status = attempt([&]() -> Status {
    Call& wanted = memory_->wanted_;
    Status checked =
        checkCounts(arguments, schedule->view(), geometry_->rank, memory_->types_, wanted);
    if (!checked.ok()) return checked;
    const std::uint64_t hash = hashOf(schedule, wanted);
    call = findIdle(hash, schedule);
    if (call != nullptr) {
      ++memory_->hits_;
      ++running_;
      takeIdle(call);
      call->call.type = wanted.type;
      call->call.first_displacement = wanted.first_displacement;
      if (checked = call->prepareReduction(arguments); !checked.ok()) return checked;
      checked = checkBuffers(arguments, call->call, call->elements);
      if (!checked.ok()) return checked;
      call->takeBuffers(arguments);
      return call->executor->bind(call->buffers, call->reducer());
    }
    auto made = std::make_unique<OneShotCall>(this, schedule);
    made->key_hash = hash;
    if (checked = layOut(*made, arguments); !checked.ok()) return checked;
    ++buckets_[hash].calls;
    ++schedule->collectives;
    ++memory_->misses_;
    ++running_;
    call = made.release();
    memory_->add(call->bytes);
    memory_->keepToLimit();
    return {};
  });
  if (status.ok()) return call;
  if (call != nullptr) release(call);
  return status;
}

Status CallCache::layOut(OneShotCall& call, const CallArguments& arguments) {
  call.call = memory_->wanted_;
  Status status = call.prepareReduction(arguments);
  if (!status.ok()) return status;
  if (status = call.expand(); !status.ok()) return status;
  if (status = checkBuffers(arguments, call.call, call.elements); !status.ok()) return status;
  call.allocate();
  call.takeBuffers(arguments);
  if (status = call.lay(0, Requests::kOneShot); !status.ok()) return status;
  call.bytes = bytesOf(call);
  return {};
}

void CallCache::release(torc_collective* collective) {
  auto* call = static_cast<OneShotCall*>(collective);
  --running_;
  call->callback = nullptr;
  call->reduction.reset();
  if (call->executor->progress() == Progress::kFailed) {
    free(call);
    return;
  }
  putIdle(call);
  memory_->keepToLimit();
}

void CallCache::forget(const torc_schedule* schedule) {
  for (auto next = buckets_.begin(); next != buckets_.end();) {
    // Freeing the last call of a bucket takes the bucket away.
    auto bucket = next++;
    for (OneShotCall* call = bucket->second.idle; call != nullptr;) {
      OneShotCall* behind = call->next_alike;
      if (schedule == nullptr || call->schedule == schedule) {
        takeIdle(call);
        free(call);
      }
      call = behind;
    }
  }
}

OneShotCall* CallCache::findIdle(std::uint64_t hash, const torc_schedule* schedule) {
  const auto bucket = buckets_.find(hash);
  if (bucket == buckets_.end()) return nullptr;
  OneShotCall* call = bucket->second.idle;
  while (call != nullptr &&
         !(call->schedule == schedule && laidOutAlike(call->call, memory_->wanted_)))
    call = call->next_alike;
  return call;
}

void CallCache::putIdle(OneShotCall* call) {
  Bucket& bucket = buckets_.find(call->key_hash)->second;
  call->previous_alike = nullptr;
  call->next_alike = bucket.idle;
  if (bucket.idle != nullptr) bucket.idle->previous_alike = call;
  bucket.idle = call;
  memory_->append(call);
}

void CallCache::takeIdle(OneShotCall* call) {
  Bucket& bucket = buckets_.find(call->key_hash)->second;
  (call->previous_alike != nullptr ? call->previous_alike->next_alike : bucket.idle) =
      call->next_alike;
  if (call->next_alike != nullptr) call->next_alike->previous_alike = call->previous_alike;
  memory_->remove(call);
}

void CallCache::free(OneShotCall* call) {
  const auto bucket = buckets_.find(call->key_hash);
  if (--bucket->second.calls == 0) buckets_.erase(bucket);
  memory_->bytes_ -= call->bytes;
  --call->schedule->collectives;
  geometry_->context->dispose(std::unique_ptr<torc_collective>(call));
}

}  // namespace torc
