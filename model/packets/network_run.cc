// Packet network: events, in the order of time.
#include <algorithm>

#include <llvm/Support/Compiler.h>

#include "model/packets/network.h"

namespace torc::model {
namespace {

// Bytes of all sites that are near anyway: fetching them costs more than it saves.
constexpr std::size_t kNearBytes = std::size_t{1} << 21;
// Events between the one that is dealt with and those whose data are fetched; after how many of
// them it is measured how many ticks that is, and the most.
constexpr std::uint64_t kFetched = 16, kMeasured = 1 << 12, kMostTicks = 64;
constexpr std::uint64_t kProgressEvents = 1 << 22;

}  // namespace

LLVM_ATTRIBUTE_ALWAYS_INLINE void PacketNetwork::handle(const PacketEvent& event) {
  const std::uint32_t place = event.place, detail = event.detail >> 3;
  switch (static_cast<Event>(event.detail & 7)) {
    case kArrive:
      return arrived(place >> 6, place & 63, detail);
    case kLinkFree:
      return becameFree(place >> 4, place & 15, detail);
    case kTokens:
      addTokens(site_[place >> 4].outputs[place & 15], detail);
      return arbitrate(place >> 4, place & 15);
    case kDelivered:
      return delivered(place >> 6, place & 63, detail);
    case kProcessor:
      return finishJob(place);
    case kWake:
      if (site_[place].wakes_at == events_.now()) site_[place].wakes_at = 0;
      return serve(place);
    case kCall:
      return traffic_->called(*this, place);
  }
}

llvm::Error PacketNetwork::run(Traffic& traffic, const std::function<void()>& progress) {
  traffic_ = &traffic;
  traffic.start(*this);
  shareFifos(traffic);
  works_ = traffic.works();
  outgoing_.resize(std::size_t{nodes_} * classes_);
  for (std::uint32_t node = 0; node < nodes_; ++node)
    schedule(0, kWake, node, 0);
  PacketEvent event;
  std::uint64_t count = 0, time = 0;
  std::uint64_t next_sample = samples_.slice;
  const bool is_large = site_.size() * sizeof(Site) > kNearBytes;
  while (events_.next(event)) {
    if (events_.now() != time) {
      while (events_.now() >= next_sample) {
        sample();
        next_sample = samples_.all.back().end + samples_.slice;
      }
      if (is_large) fetchAhead(time, events_.now());
      time = events_.now();
    }
    handle(event);
    if (++count % kMeasured == 0) {
      fetch_distance_ = std::clamp<std::uint64_t>(kFetched * time / count, 1, kMostTicks);
      if (count % kProgressEvents == 0 && progress) progress();
    }
  }
  sample();
  return check();
}

/// Fetches what events will need, some ticks before they happen, when time goes on from one tick to
/// another: with thousands of nodes no cache holds it.
void PacketNetwork::fetchAhead(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t far = fetch_distance_, near = (far + 1) / 2;
  for (std::uint64_t past = std::min(to - from - 1, far) + 1; past-- > 0;) {
    events_.visit(far - past, [this](const PacketEvent& it) { prefetch(it); });
    if (near >= past)
      events_.visit(near - past, [this](const PacketEvent& it) { prefetchMore(it); });
  }
}

/// First what is known of an event at once.
void PacketNetwork::prefetch(const PacketEvent& event) const {
  const std::uint32_t place = event.place, detail = event.detail >> 3;
  switch (static_cast<Event>(event.detail & 7)) {
    case kArrive:
    case kDelivered: {
      const Site& site = site_[place >> 6];
      __builtin_prefetch(&site.queue(place & 63));
      __builtin_prefetch(&site.held);
      __builtin_prefetch(&moving_[detail]);
      return;
    }
    case kLinkFree: {
      const Site& site = site_[place >> 4];
      __builtin_prefetch(&site.queue(detail & 63));
      __builtin_prefetch(&site.held);
      __builtin_prefetch(&site.outputs[place & 15]);
      return;
    }
    case kTokens: {
      __builtin_prefetch(&site_[place >> 4].outputs[place & 15]);
      return;
    }
    case kProcessor:
      __builtin_prefetch(&site_[place].held);
      return;
    default:
      return;
  }
}

/// Then what these lead to.
void PacketNetwork::prefetchMore(const PacketEvent& event) const {
  const std::uint32_t place = event.place, detail = event.detail >> 3;
  switch (static_cast<Event>(event.detail & 7)) {
    case kArrive: {
      const Site& site = site_[place >> 6];
      for (std::uint32_t left = moving_[detail].directions; left != 0; left &= left - 1)
        __builtin_prefetch(&site.outputs[lowestBit(left)]);
      return;
    }
    case kDelivered: {
      const std::uint32_t direction = (place & 63) / kQueuesOfDirection;
      const InputPort& input = site_[place >> 6].inputs[direction];
      __builtin_prefetch(&site_[input.upstream].outputs[direction]);
      const std::uint32_t head = input.channels[(place & 63) % kQueuesOfDirection].head;
      if (head != kNoPacket) __builtin_prefetch(&moving_[head]);
      return;
    }
    case kLinkFree: {
      const Site& site = site_[place >> 4];
      const std::uint32_t queue = detail & 63, direction = place & 15;
      __builtin_prefetch(&site_[site.outputs[direction].neighbour].inputs[direction]);
      if (queue < kFirstInjection) {
        const std::uint32_t input = queue / kQueuesOfDirection;
        __builtin_prefetch(&site_[site.inputs[input].upstream].outputs[input]);
      }
      const std::uint32_t head = site.queue(queue).head;
      if (head != kNoPacket) __builtin_prefetch(&moving_[head]);
      return;
    }
    case kProcessor: {
      const Site& site = site_[place];
      if (site.job_kind != PacketJob::kWork) {
        __builtin_prefetch(&moving_[site.job]);
        __builtin_prefetch(&cargo_[site.job]);
      }
      __builtin_prefetch(&outgoing_[place * classes_]);
      return;
    }
    default:
      return;
  }
}

}  // namespace torc::model
