// Put transport: positions of messages in the segment, before their first round.
#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "runtime/transport/put/put_transport.h"
#include "support/message.h"

namespace torc::runtime {

ChannelId PutTransport::prepare(const Envelope& envelope, const Segments& segments,
                                std::span<const std::size_t> fragments) {
  Message& message = messages_.emplace_back();
  static_cast<Envelope&>(message) = envelope;
  message.member = segment_->memberOf(envelope.peer);
  message.bytes = message.room = segments.bytes();
  message.contiguous = segments.isInRow();
  if (message.contiguous) message.place = segments.list[0].place;
  message.runs = runs_.add(segments);
  message.first_fragment = static_cast<std::uint32_t>(fragments_.size());
  message.fragment_count = static_cast<std::uint32_t>(fragments.size());
  fragments_.insert(fragments_.end(), fragments.begin(), fragments.end());
  return static_cast<ChannelId>(messages_.size() - 1);
}

void PutTransport::commit() {
  layOut();
  for (ChannelId channel = 0; channel < messages_.size(); ++channel) {
    Message& message = messages_[channel];
    if (message.way != Way::kPut) leaveBeyond(channel);
    if (message.way == Way::kBeyond) continue;
    if (!message.sending && mayCopy(message) && segment_->copied().data() == nullptr) {
      segment_->copied().allocate(kMostStretch);
    }
    if (message.contiguous || message.runs.count == 0) continue;
    message.walk = static_cast<std::uint32_t>(walks_.size());
    walks_.emplace_back(runs_[message.runs]);
  }
  fragments_ = {};
  writable_.resize(static_cast<std::size_t>(segment_->members()));
  seen_.resize(writable_.size());
  for (std::vector<ChannelId>* list : {&sends_, &receives_, &waiting_, &done_})
    list->reserve(messages_.size());
  draining_.reserve(messages_.size());
  beyond_->commit();
}

/// Gives every message a slot, or leaves all messages of a pair of ranks to `beyond`.
void PutTransport::layOut() {
  std::vector<ChannelId> order(messages_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto pairOf = [&](ChannelId channel) {
    return std::tuple(messages_[channel].member, messages_[channel].sending);
  };
  std::ranges::sort(order, {}, [&](ChannelId channel) {
    return std::tuple_cat(pairOf(channel), std::tuple(messages_[channel].tag));
  });
  PairRegions& regions = segment_->regions();
  std::vector<std::size_t> lengths;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    lengths.clear();
    for (; end < order.size() && pairOf(order[end]) == pairOf(order[begin]); ++end)
      lengths.push_back(messages_[order[end]].bytes);
    const auto [member, sending] = pairOf(order[begin]);
    if (member < 0) continue;
    const std::vector<MessageSlot> slots = layOutPair(lengths, regions.mostRoom());
    Pair pair{messages_[order[begin]].peer,
              member,
              sending,
              !slots.empty(),
              end == begin + 1,
              {track_.index, 0}};
    // A pair without room has the smallest region, to report that.
    if (pair.has_room) pair.kind.room = regions.roomFor(endOf(slots.back(), lengths.back()));
    regions.want(member, sending, pair.kind);
    pairs_.push_back(pair);
    open_.push_back(pair);
    if (!pair.has_room && sending) left_.push_back(pair);
    if (!pair.has_room) continue;
    for (std::size_t i = begin; i < end; ++i) {
      Message& message = messages_[order[i]];
      message.way = Way::kOpen;
      message.is_alone = pair.is_alone;
      message.kind = pair.kind;
      lay(message, message.bytes, slots[i - begin]);
    }
  }
  regions.makeWanted();
  settle();
}

void PutTransport::lay(Message& message, std::size_t bytes, const MessageSlot& slot) {
  message.bytes = bytes;
  message.slot = slot;
  message.stretch = std::clamp(roundToCacheLine(bytes / 2), kLeastStretch, kMostStretch);
}

/// Restores its slot after a round with a shorter message.
void PutTransport::layAsPrepared(Message& message) {
  PairRegions& regions = segment_->regions();
  lay(message, message.room, layOutPair({&message.room, 1}, regions.mostRoom()).front());
  const PairRegions::State state = regions.look(message.member, false, message.kind);
  message.way = state == PairRegions::State::kUp     ? Way::kPut
                : state == PairRegions::State::kDown ? Way::kBeyond
                                                     : Way::kOpen;
  message.region = regions.region(message.member, false, message.kind);
  message.lane_stride = regions.laneStride(message.kind.room);
}

/// Chooses the medium for messages of pairs that were open, and starts those that wait for it.
/// False: failed, see status().
bool PutTransport::settle() {
  PairRegions& regions = segment_->regions();
  std::erase_if(open_, [&](const Pair& pair) {
    const PairRegions::State state = regions.look(pair.member, pair.sending, pair.kind);
    if (state == PairRegions::State::kOpen) return false;
    if (!pair.has_room) return true;
    for (Message& message : messages_) {
      if (message.member != pair.member || message.sending != pair.sending) continue;
      if (message.bytes != message.room) continue;  // a shorter message lies elsewhere
      message.way = state == PairRegions::State::kUp ? Way::kPut : Way::kBeyond;
      message.region = regions.region(pair.member, pair.sending, pair.kind);
      message.lane_stride = regions.laneStride(pair.kind.room);
    }
    return true;
  });
  bool all_start = true;
  std::erase_if(waiting_, [&](ChannelId channel) {
    if (messages_[channel].way == Way::kOpen) return false;
    all_start = start(channel) && all_start;
    return true;
  });
  return all_start;
}

void PutTransport::leaveBeyond(ChannelId channel) {
  Message& message = messages_[channel];
  const auto fragments =
      std::span(fragments_).subspan(message.first_fragment, message.fragment_count);
  message.channel_beyond = beyond_->prepare(message, runs_[message.runs], fragments);
  channel_of_beyond_.resize(message.channel_beyond + 1);
  channel_of_beyond_[message.channel_beyond] = channel;
}

void PutTransport::bind(const Bases& bases) {
  bases_ = bases;
  beyond_->bind(bases);
}

}  // namespace torc::runtime
