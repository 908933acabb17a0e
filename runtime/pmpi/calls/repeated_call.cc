// Repeated calls: selects the calls to keep, and the buffers that they accept.
#include "runtime/pmpi/calls/repeated_call.h"

#include <utility>

#include "runtime/pmpi/calls/held_handles.h"

namespace torc::runtime::pmpi {
namespace {

// In longer calls the time of the look-ups does not matter.
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 10;
// Memory kept for one call, which the limit on persistent plans cannot reclaim.
constexpr std::size_t kMostMemory = std::size_t{256} << 10;

bool isSomewhere(const void* buffer) {
  return buffer != nullptr && buffer != MPI_IN_PLACE;
}

}  // namespace

bool RepeatedCall::canTake(const void* in_buffer, const void* out_buffer) const {
  const std::uint64_t in_bytes = checked.in_place ? 0 : checked.elements.in * checked.type.bytes;
  const std::uint64_t out_bytes = checked.elements.out * checked.type.bytes;
  if (in_bytes > 0 && !isSomewhere(in_buffer)) return false;
  if (checked.in_place && checked.whole_is_in) return isSomewhere(in_buffer);
  if (out_bytes > 0 && !isSomewhere(out_buffer)) return false;
  const auto in = reinterpret_cast<std::uintptr_t>(in_buffer);
  const auto out = reinterpret_cast<std::uintptr_t>(out_buffer);
  const bool overlap = in < out + out_bytes && out < in + in_bytes;
  return in_bytes == 0 || out_bytes == 0 || !overlap;
}

bool RepeatedCall::takesAnew(const void* in, void* out) {
  is_bound = false;
  taken_in = in;
  taken_out = out;
  return has_taken = canTake(in, out);
}

Status RepeatedCall::bindAnew() {
  const bool own_stays = checked.in_place && checked.whole_is_in;
  checked.in = taken_in;
  checked.out = own_stays ? const_cast<void*>(taken_in) : taken_out;
  Status status = plan->bind(checked);
  is_bound = status.ok();
  return status;
}

/// The slot for a call that comes the second time in a row; nullptr: it is not kept.
RepeatedCalls::Slot* RepeatedCalls::slotToKeepIn(const CallKey& key, const CollectiveCall& call,
                                                 const Call& checked) {
  const bool is_simple = !call.arguments.has_counts && !checked.packs_in && !checked.unpacks_out &&
                         !isHeldType(key.type) && !isHeldType(key.own_type) && !isHeldOp(key.op);
  if (!is_simple || call.bytes > kMostBytes) return nullptr;
  const std::uint64_t hash = key.hash();
  Slot& slot = slotOf(hash);
  if (slot.kept != nullptr && (slot.kept->key == key || slot.kept->is_running)) return nullptr;
  return std::exchange(slot.last_hash, hash) == hash ? &slot : nullptr;
}

void RepeatedCalls::keep(const CallKey& key, const CollectiveCall& call, const Call& checked,
                         torc_schedule* schedule) {
  Slot* slot = slotToKeepIn(key, call, checked);
  if (slot == nullptr) return;
  const bool is_mpis = call.verdict.isMpis();
  // Keeping a served call gains more than keeping a fallback.
  if (is_mpis && slot->kept != nullptr && !slot->kept->isMpis()) return;
  auto repeated = std::make_unique<RepeatedCall>(
      RepeatedCall{.key = key, .call = call, .checked = checked, .note = noteOn(call)});
  if (!is_mpis) {
    const StatusOr<Plan*> acquired = cache_->acquire(schedule, checked);
    if (!acquired.ok()) return;
    if ((*acquired)->bytes() > kMostMemory || !cache_->isWithinLimit()) {
      cache_->release(*acquired);
      return;
    }
    repeated->plan = *acquired;
  }
  if (slot->kept != nullptr) drop(*slot->kept);
  slot->kept = std::move(repeated);
}

void RepeatedCalls::drop(RepeatedCall& repeated) {
  if (!repeated.isMpis()) cache_->release(repeated.plan);
  if (last_found_ == &repeated) last_found_ = nullptr;
  Slot& slot = slotOf(repeated.key.hash());
  slot.last_hash = 0;
  slot.kept.reset();
}

void RepeatedCalls::dropAll() {
  for (Slot& slot : slots_) {
    if (slot.kept != nullptr) drop(*slot.kept);
  }
}

}  // namespace torc::runtime::pmpi
