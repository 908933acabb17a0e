// Put transport: messages written into the segment, read from it, and what waits for that.
#include "runtime/transport/put/put_transport.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "runtime/transport/put/process_memory.h"
#include "support/hash.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

// Rounds of such moves before the caller may do something else, and looks for the next.
constexpr int kPiecesInARow = 64;
constexpr int kLooksAtStream = 100;
// Fruitless looks between two at what a receiver says that it has read: some calls of its.
constexpr unsigned kLooksBetweenCredits = 16;
// Fruitless looks after which the medium beyond gets on: about a microsecond.
constexpr unsigned kLooksBeforeMedium = 64;
// Fruitless looks after which each may take long, as the core has others to run: so many of them
// are between two looks at the clock.
constexpr unsigned kLooksBeforeRest = 2048, kLooksAtRest = 4;
// Between two looks whether the processes that are waited for have ended.
constexpr std::int64_t kNanosecondsBetweenLooks = 500'000'000;

}  // namespace

PutTransport::PutTransport(std::shared_ptr<HostSegment> segment, LaneTrack track,
                           std::unique_ptr<Transport> beyond, SentBytes* sent)
    : segment_(std::move(segment)), track_(track), beyond_(std::move(beyond)), sent_(sent) {}

PutTransport::~PutTransport() {
  endRound();
}

// ---- Messages and their slots

StatusOr<ChannelId> PutTransport::prepareSend(std::int32_t peer, std::uint32_t tag,
                                              const Segments& segments,
                                              std::span<const std::size_t> fragments,
                                              SendMode mode) {
  const StatusOr<ChannelId> channel = prepare(true, peer, tag, segments, fragments);
  messages_.back().mode = mode;
  return channel;
}

StatusOr<ChannelId> PutTransport::prepareRecv(std::int32_t peer, std::uint32_t tag,
                                              const Segments& segments,
                                              std::span<const std::size_t> fragments) {
  return prepare(false, peer, tag, segments, fragments);
}

StatusOr<ChannelId> PutTransport::prepare(bool sending, std::int32_t peer, std::uint32_t tag,
                                          const Segments& segments,
                                          std::span<const std::size_t> fragments) {
  Message& message = messages_.emplace_back();
  message.rank = peer;
  message.tag = tag;
  message.sending = sending;
  message.member = segment_->memberOf(peer);
  message.bytes = message.room = segments.bytes();
  message.contiguous = segments.list.size() == 1 && segments.list[0].loop_count == 0;
  if (message.contiguous) message.place = segments.list[0].place;
  message.first_run = static_cast<std::uint32_t>(runs_.size());
  message.run_count = static_cast<std::uint32_t>(segments.list.size());
  for (const Segment& segment : segments.list) {
    runs_.push_back(segment);
    runs_.back().first_loop = addLoops(segments.loopsOf(segment), loops_);
  }
  message.first_fragment = static_cast<std::uint32_t>(fragments_.size());
  message.fragment_count = static_cast<std::uint32_t>(fragments.size());
  fragments_.insert(fragments_.end(), fragments.begin(), fragments.end());
  return static_cast<ChannelId>(messages_.size() - 1);
}

Segments PutTransport::segmentsOf(const Message& message) const {
  return {std::span(runs_).subspan(message.first_run, message.run_count), loops_};
}

Status PutTransport::commit() {
  layOut();
  for (ChannelId channel = 0; channel < messages_.size(); ++channel) {
    Message& message = messages_[channel];
    if (message.way != Way::kPut) {
      if (Status status = leaveBeyond(channel); !status.ok()) return status;
    }
    if (message.way == Way::kBeyond) continue;
    if (!message.sending && mayCopy(message) && segment_->copied().data() == nullptr) {
      segment_->copied().allocate(kMostStretch);
    }
    if (message.contiguous || message.run_count == 0) continue;
    message.walk = static_cast<std::uint32_t>(walks_.size());
    walks_.emplace_back(segmentsOf(message));
  }
  fragments_ = {};
  writable_.resize(static_cast<std::size_t>(segment_->members()));
  seen_.resize(writable_.size());
  for (std::vector<ChannelId>* list : {&sends_, &receives_, &waiting_, &done_})
    list->reserve(messages_.size());
  draining_.reserve(messages_.size());
  return beyond_->commit();
}

/// Gives every message its slot, or leaves all of a pair of ranks beyond.
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
    Pair pair{messages_[order[begin]].rank,
              member,
              sending,
              !slots.empty(),
              end == begin + 1,
              {track_.index, 0}};
    // One without room has the smallest, to say so.
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

/// As it was before a round in which less has come.
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

/// Finds out which way the messages of pairs go for which that is open, and starts those that wait
/// for it. False: failed, see status().
bool PutTransport::settle() {
  PairRegions& regions = segment_->regions();
  std::erase_if(open_, [&](const Pair& pair) {
    const PairRegions::State state = regions.look(pair.member, pair.sending, pair.kind);
    if (state == PairRegions::State::kOpen) return false;
    if (!pair.has_room) return true;
    for (Message& message : messages_) {
      if (message.member != pair.member || message.sending != pair.sending) continue;
      if (message.bytes != message.room) continue;  // less has come, which lies elsewhere
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

Status PutTransport::leaveBeyond(ChannelId channel) {
  Message& message = messages_[channel];
  const auto fragments =
      std::span(fragments_).subspan(message.first_fragment, message.fragment_count);
  const Segments segments = segmentsOf(message);
  const StatusOr<ChannelId> beyond =
      message.sending
          ? beyond_->prepareSend(message.rank, message.tag, segments, fragments, message.mode)
          : beyond_->prepareRecv(message.rank, message.tag, segments, fragments);
  if (!beyond.ok()) return beyond.status();
  message.channel_beyond = *beyond;
  channel_of_beyond_.resize(message.channel_beyond + 1);
  channel_of_beyond_[message.channel_beyond] = channel;
  return {};
}

Status PutTransport::bind(const Bases& bases) {
  bases_ = bases;
  return beyond_->bind(bases);
}

bool PutTransport::handOver(ChannelId channel, PieceTaker* taker, std::size_t unit) {
  Message& message = messages_[channel];
  if (message.way == Way::kBeyond) {
    taker_of_beyond_.taker = taker;
    return beyond_->handOver(message.channel_beyond, &taker_of_beyond_, unit);
  }
  if (message.bytes > message.slot.grain && message.slot.grain % unit != 0) return false;
  message.taker = taker;
  return true;
}

std::size_t PutTransport::tableBytes() const {
  auto bytes = [](const auto& table) { return table.capacity() * sizeof(table[0]); };
  return sizeof(*this) + beyond_->tableBytes() + bytes(messages_) + bytes(runs_) + bytes(loops_) +
         bytes(walks_) + bytes(channel_of_beyond_) + bytes(pairs_) + bytes(left_) + bytes(open_) +
         bytes(writable_) + bytes(sends_) + bytes(receives_) + bytes(waiting_) + bytes(done_) +
         bytes(draining_);
}

// ---- Rounds and their lane

void PutTransport::bindTags(const TagRange& tags) {
  call_ = tags.call;
  beyond_->bindTags(tags);
}

void PutTransport::beginRound() {
  std::uint64_t number = call_;
  if (track_ == HostSegment::kOneShotTrack) {
    round_ = call_;
  } else {
    number = ++segment_->roundsOf(track_);
    round_ = hashNumbers(track_.first_lane, number);
  }
  const auto lanes = static_cast<std::uint64_t>(track_.lanes);
  lane_ = track_.first_lane + static_cast<int>(number % lanes);
  next_lane_ = track_.first_lane + static_cast<int>((number + 1) % lanes);
  turn_.round = round_;
  segment_->queue(lane_, turn_);
  in_round_ = true;
  has_lane_ = false;
  fruitless_ = 0;
  beyond_->beginRound();
  enterLane();
}

/// Takes the lane, if it is this round's turn.
void PutTransport::enterLane() {
  if (segment_->lane(lane_).first != &turn_) return;
  has_lane_ = true;
  previous_ = segment_->begin(lane_, round_);
  next_ended_ = segment_->ended(segment_->me(), next_lane_).load(std::memory_order_relaxed);
  for (const Pair& pair : left_) {
    RegionHeader* region = segment_->regions().region(pair.member, true, pair.kind);
    if (region == nullptr) continue;
    leftBeyond(*region).store(round_, std::memory_order_release);
  }
}

void PutTransport::endRound() {
  if (!std::exchange(in_round_, false)) return;
  beyond_->endRound();
  segment_->end(lane_, turn_);
}

void PutTransport::abandon() {
  for (const ChannelId channel : receives_) {
    const Message& message = messages_[channel];
    if (message.copy_from == 0) continue;
    const std::uint64_t all = (message.bytes + message.stretch - 1) / message.stretch;
    draining_.emplace_back(channel, std::min(all, lineOf(message).taken.exchange(all)));
  }
  for (std::vector<ChannelId>* list : {&sends_, &receives_, &waiting_, &done_})
    list->clear();
  endRound();
  beyond_->abandon();
}

bool PutTransport::drained() {
  std::erase_if(draining_, [&](const auto& left) {
    const Message& message = messages_[left.first];
    return lineOf(message).copied.load(std::memory_order_acquire) >= left.second ||
           hasEnded(segment_->processOf(message.member));
  });
  return draining_.empty() && beyond_->drained();
}

/// Whether a member has read what was put for it into the lane before this round.
inline bool PutTransport::mayWrite(int member) {
  std::uint64_t& known = writable_[static_cast<std::size_t>(member)];
  if (known == round_) return true;
  const std::uint64_t& ended = segment_->lane(lane_).ended[static_cast<std::size_t>(member)];
  if (ended != previous_) {
    // Who looks all the time takes the line from who is to write on it.
    if (fruitless_ % kLooksBetweenCredits != 0) return false;
    segment_->lookUp(member, track_);
    // Not after a call that has failed on some ranks alone.
    if (ended != previous_ &&
        (fruitless_ < kLooksBeforeMedium ||
         segment_->begun(member, lane_).load(std::memory_order_acquire) != round_)) {
      return false;
    }
  }
  known = round_;
  return true;
}

// ---- Progress

bool PutTransport::start(ChannelId channel) {
  Message& message = messages_[channel];
  if (message.bytes != message.room) layAsPrepared(message);
  message.pieces_done = message.bytes_done = 0;
  message.is_copied = message.by_cells = false;
  message.copy_from = 0;
  if (message.way != Way::kPut) return startElsewhere(channel);
  if (!message.contiguous && message.run_count > 0) {
    walks_[message.walk] = SegmentWalk(segmentsOf(message));
  }
  if (!message.sending) {
    receives_.push_back(channel);
    // The next round's may be there already.
    __builtin_prefetch(cellOf(message) + toNextLane(message));
  } else if (has_lane_ && send(message)) {
    done_.push_back(channel);
  } else {
    sends_.push_back(channel);
  }
  return true;
}

bool PutTransport::startElsewhere(ChannelId channel) {
  Message& message = messages_[channel];
  if (message.way == Way::kOpen) {
    waiting_.push_back(channel);
    return true;
  }
  message.is_active_beyond = true;
  ++beyond_active_;
  return beyond_->start(message.channel_beyond);
}

/// Of a message that has come from beyond to its memory: it was expected to be put.
void PutTransport::takeFromMemory(ChannelId channel) {
  Message& message = messages_[channel];
  std::size_t offset = 0;
  for (SegmentWalk walk(segmentsOf(message)); !walk.done();) {
    const std::size_t some = walk.available();
    message.taker->takePiece(channel, offset, walk.place().in(bases_), some);
    offset += some;
    walk.skip(some);
  }
}

/// Moves what can be moved of all messages under way.
void PutTransport::move() {
  streaming_ = false;
  for (std::size_t i = 0; i < receives_.size();) {
    if (receive(receives_[i])) {
      done_.push_back(receives_[i]);
      receives_[i] = receives_.back();
      receives_.pop_back();
    } else {
      streaming_ |= messages_[receives_[i]].pieces_done > 0;
      ++i;
    }
  }
  for (std::size_t i = 0; i < sends_.size();) {
    if (send(messages_[sends_[i]])) {
      done_.push_back(sends_[i]);
      sends_[i] = sends_.back();
      sends_.pop_back();
    } else {
      streaming_ |= messages_[sends_[i]].pieces_done > 0;
      ++i;
    }
  }
}

/// Stays with messages in pieces, the next of which is less than a look elsewhere away.
void PutTransport::stream() {
  int left = kPiecesInARow;
  for (int looks = 0; looks < kLooksAtStream && left > 0 && streaming_ && done_.empty(); ++looks) {
    has_moved_ = false;
    move();
    if (!has_moved_) continue;
    looks = 0;
    --left;
  }
  has_moved_ = has_moved_ || left < kPiecesInARow;
}

int PutTransport::poll(std::span<ChannelId> completed) {
  has_moved_ = false;
  if (!has_lane_ && in_round_) enterLane();
  if (!open_.empty() && !settle()) return -1;
  if (has_lane_) {
    move();
    if (streaming_ && done_.empty()) stream();
  }
  if (!status_.ok()) return -1;
  std::ranges::copy(done_, completed.begin());
  int count = static_cast<int>(done_.size());
  done_.clear();
  if (beyond_active_ > 0) {
    const std::span<ChannelId> rest = completed.subspan(static_cast<std::size_t>(count));
    const int more = beyond_->poll(rest);
    if (more < 0) return more;
    for (ChannelId& channel : rest.first(static_cast<std::size_t>(more))) {
      channel = channel_of_beyond_[channel];
      messages_[channel].is_active_beyond = false;
      if (messages_[channel].taker != nullptr) takeFromMemory(channel);
    }
    beyond_active_ -= static_cast<std::size_t>(more);
    count += more;
  }
  if (has_moved_ || count > 0) {
    fruitless_ = 0;
  } else if (++fruitless_ % kLooksBeforeMedium == 0) {
    if (beyond_active_ == 0) beyond_->progressMedium();
    if (shorter_ != nullptr && has_lane_) lookForShorter();
    lookAround();
  } else if (fruitless_ > kLooksBeforeRest && fruitless_ % kLooksAtRest == 0) {
    lookAround();
  }
  return status_.ok() ? count : -1;
}

/// Where less may come than there is room for: it lies in a smaller region then.
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
      const auto& header = *reinterpret_cast<const CellHeader*>(laneOf(region, stride));
      if (header.flag.load(std::memory_order_acquire) != flagOf(0)) continue;
      if (!takesShorter(message, header.message_bytes)) continue;
      message.way = Way::kPut;
      message.region = region;
      message.lane_stride = stride;
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

/// While nothing comes: a rank that is waited for may have ended, or be in another call.
void PutTransport::lookAround() {
  const std::int64_t now = nanoseconds();
  if (fruitless_ == kLooksBeforeMedium) {
    looked_at_ = now;
    ended_ = {};
  }
  // What it had sent has come since it was seen to have ended.
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
    const Status running = segment_->checkRunning(message.rank);
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

/// Where lengths differ so that the ends of a pair have different room for its messages, or one has
/// none, each would wait for what goes another way.
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
          shorter_ != nullptr && pair.is_alone && kind.room < pair.kind.room;  // lookForShorter
      const bool is_here = pair.has_room && (takes_it || kind.room == pair.kind.room);
      if (!is_here && first.flag.load(std::memory_order_acquire) == flagOf(0)) {
        return {StatusCode::kTruncated,
                torc::message("a message from rank ", pair.rank, " has ", first.message_bytes,
                              " bytes where another length is expected: the ranks' calls differ")};
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
    for (const ChannelId channel : *waiting) {
      const Awaited peer{messages_[channel].rank, messages_[channel].sending};
      if (peers.size() < limit && std::ranges::find(peers, peer) == peers.end()) {
        peers.push_back(peer);
      }
    }
  }
  return peers;
}

}  // namespace torc::runtime
