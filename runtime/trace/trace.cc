// Trace: the ring buffer of events, and the table of texts.
#include "runtime/trace/trace.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace torc::runtime {

std::int64_t traceClock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::uint64_t traceClockIdentity() {
  // The boot and the time namespace identify a clock.
  std::string identity;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> identity;
  char name[64];
  const ssize_t length = ::readlink("/proc/self/ns/time", name, sizeof(name));
  if (identity.empty() || length < 0) return 0;
  identity.append(name, static_cast<std::size_t>(length));
  return std::hash<std::string>()(identity) | 1;
}

Trace::Trace(std::size_t capacity, int rank, bool calls_only)
    : rank_(rank), calls_only_(calls_only), capacity_(std::max<std::size_t>(capacity, 1)) {
  ring_.reserve(capacity_);
}

void Trace::record(const TraceEvent& event) {
  if (calls_only_ && event.kind != TraceKind::kCall && event.kind != TraceKind::kCollective) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  if (ring_.size() < capacity_) {
    ring_.push_back(event);
  } else {
    ring_[recorded_ % capacity_] = event;
  }
  ++recorded_;
}

void Trace::record(TraceKind kind, std::string_view name, std::string_view detail,
                   std::int64_t begin, std::uint64_t bytes) {
  TraceEvent event = endedEvent(kind, begin, bytes);
  event.name = text(name);
  if (!detail.empty()) event.detail = text(detail);
  record(event);
}

std::uint32_t Trace::text(std::string_view text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto known = number_of_text_.find(text); known != number_of_text_.end()) {
    return known->second;
  }
  const auto number = static_cast<std::uint32_t>(texts_.size());
  number_of_text_.emplace(text, number);
  texts_.emplace_back(text);
  return number;
}

void Trace::setCoordinates(std::string coordinates) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (coordinates_.empty()) coordinates_ = std::move(coordinates);
}

/// Rounds, each with the name of the call that began it, from the begin of the call.
std::vector<TraceEvent> Trace::joined() const {
  std::vector<TraceEvent> events = ring_, rounds;
  std::ranges::stable_sort(events, {}, &TraceEvent::begin);
  TraceEvent call;
  for (TraceEvent& event : events) {
    if (event.kind == TraceKind::kCall) {
      call = event;
    } else {
      if (call.name != kNone && event.begin <= call.end) {
        event.name = std::exchange(call.name, kNone);
        event.begin = call.begin;
        event.end = std::max(event.end, call.end);
      }
      rounds.push_back(event);
    }
  }
  return rounds;
}

std::vector<TraceEvent> Trace::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::exchange(closed_, true)) return ring_;
  const std::uint64_t oldest = recorded_ < capacity_ ? 0 : recorded_ % capacity_;
  std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(oldest), ring_.end());
  if (calls_only_) ring_ = joined();
  return ring_;
}

}  // namespace torc::runtime
