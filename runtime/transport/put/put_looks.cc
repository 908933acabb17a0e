// Put transport: checks of a rank while no message arrives.
#include <algorithm>

#include "runtime/transport/put/put_transport.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

// Between two checks whether the awaited processes have ended.
constexpr std::int64_t kNanosecondsBetweenLooks = 500'000'000;

}  // namespace

/// For receives that accept a shorter message: it may lie in a smaller region.
void PutTransport::lookForShorter() {
  PairRegions& regions = segment_->regions();
  const auto find = [&](ChannelId channel) {
    Message& message = messages_[channel];
    if (message.sending || message.bytes != message.room) return false;
    regions.answer(message.member);
    PairRegions::Kind kind{track_.index, 0};
    for (; kind.room < message.kind.room; ++kind.room) {
      RegionHeader* region = regions.region(message.member, false, kind);
      if (region == nullptr) continue;
      const std::size_t stride = regions.laneStride(kind.room);
      std::byte* const lane = laneOf(region, stride);
      const auto& header = *reinterpret_cast<const CellHeader*>(lane);
      if (header.flag.load(std::memory_order_acquire) != flagOf(0)) continue;
      if (!takesShorter(message, header.message_bytes)) continue;
      message.way = Way::kPut;
      message.region = region;
      message.lane_stride = stride;
      message.lane = lane;
      return true;
    }
    return false;
  };
  std::ranges::for_each(receives_, find);
  std::erase_if(waiting_, [&](ChannelId channel) {
    if (!find(channel)) return false;
    receives_.push_back(channel);
    return true;
  });
}

/// While no message arrives: an awaited rank may have ended, or be in another call.
void PutTransport::lookAround() {
  const std::int64_t now = nanoseconds();
  if (fruitless_ == kLooksBeforeMedium) {
    looked_at_ = now;
    ended_ = {};
  }
  // Its last messages have arrived since it was seen to have ended.
  if (!ended_.ok()) status_ = ended_;
  if (now - looked_at_ < kNanosecondsBetweenLooks) return;
  looked_at_ = now;
  ended_ = lookForEnded();
  if (has_lane_ && ended_.ok()) status_ = lookForDifference();
}

Status PutTransport::lookForEnded() {
  seen_.assign(seen_.size(), false);
  const auto look = [&](const Message& message) -> Status {
    if (message.member < 0 || seen_[static_cast<std::size_t>(message.member)]) return {};
    seen_[static_cast<std::size_t>(message.member)] = true;
    const Status running = segment_->checkRunning(message.peer);
    if (running.ok()) return {};
    return {running.code(), torc::message(running.message(), " before it has ",
                                          message.sending ? "read" : "sent", " a message")};
  };
  for (const std::vector<ChannelId>* list : {&receives_, &sends_, &waiting_}) {
    for (const ChannelId channel : *list) {
      if (Status status = look(messages_[channel]); !status.ok()) return status;
    }
  }
  for (const Message& message : messages_) {
    if (!message.is_active_beyond) continue;
    if (Status status = look(message); !status.ok()) return status;
  }
  return {};
}

/// If the ranks' lengths differ so much that the two ends have different room for their messages,
/// or only one has room, each would wait for another medium.
Status PutTransport::lookForDifference() {
  PairRegions& regions = segment_->regions();
  for (const Pair& pair : pairs_) {
    if (pair.sending) continue;
    regions.answer(pair.member);
    PairRegions::Kind kind{track_.index, 0};
    for (; kind.room < static_cast<int>(PairRegions::kRooms.size()); ++kind.room) {
      RegionHeader* region = regions.region(pair.member, false, kind);
      if (region == nullptr) continue;
      const auto& first =
          *reinterpret_cast<const CellHeader*>(laneOf(region, regions.laneStride(kind.room)));
      const bool takes_it =
          shorter_ != nullptr && pair.is_alone && kind.room < pair.kind.room;  // see lookForShorter
      const bool is_here = pair.has_room && (takes_it || kind.room == pair.kind.room);
      if (!is_here && first.flag.load(std::memory_order_acquire) == flagOf(0)) {
        return callsDiffer(pair.rank, " has ", first.message_bytes,
                           " bytes where another length is expected");
      }
      if (pair.has_room && kind.room == 0 &&
          leftBeyond(*region).load(std::memory_order_acquire) == round_) {
        return {StatusCode::kTruncated,
                torc::message("messages from rank ", pair.rank,
                              " have other lengths there: the ranks' calls differ")};
      }
    }
  }
  return {};
}

std::vector<Transport::Awaited> PutTransport::awaited(std::size_t limit) const {
  std::vector<Awaited> peers = beyond_->awaited(limit);
  for (const std::vector<ChannelId>* waiting : {&receives_, &sends_, &waiting_}) {
    for (const ChannelId channel : *waiting)
      addAwaited(messages_[channel], limit, peers);
  }
  return peers;
}

}  // namespace torc::runtime
