// Put transport: rounds, and progress of messages written into the segment and read from it.
#include "runtime/transport/put/put_transport.h"

#include <algorithm>
#include <utility>

#include "runtime/transport/put/process_memory.h"
#include "support/hash.h"

namespace torc::runtime {
namespace {

// Consecutive moves before the caller may do other work.
constexpr int kPiecesInARow = 64;
constexpr int kLooksAtStream = 100;
// Polls without progress between two reads of a receiver's counters: some calls of the receiver.
constexpr unsigned kLooksBetweenCredits = 16;
// After this many polls without progress a poll may take long, as the core may run others: then the
// clock is read once in kLooksAtRest polls.
constexpr unsigned kLooksBeforeRest = 2048, kLooksAtRest = 4;

}  // namespace

PutTransport::PutTransport(std::shared_ptr<HostSegment> segment, LaneTrack track,
                           std::unique_ptr<Transport> beyond, SentBytes* sent)
    : Transport(sent), segment_(std::move(segment)), track_(track), beyond_(std::move(beyond)) {}

PutTransport::~PutTransport() {
  endRound();
}

bool PutTransport::handOver(ChannelId channel, PieceTaker* taker, std::size_t unit) {
  Message& message = messages_[channel];
  if (message.way == Way::kBeyond) return false;
  if (message.bytes > message.slot.grain && message.slot.grain % unit != 0) return false;
  message.taker = taker;
  return true;
}

std::size_t PutTransport::tableBytes() const {
  return sizeof(*this) + beyond_->tableBytes() + runs_.bytes() +
         bytesOfTables(messages_, walks_, channel_of_beyond_, pairs_, left_, open_, writable_,
                       sends_, receives_, waiting_, done_, draining_);
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

/// Takes the lane if this round is first in its queue.
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

/// Whether a member has read all messages to it in the lane from before this round.
bool PutTransport::mayWrite(int member) {
  std::uint64_t& known = writable_[static_cast<std::size_t>(member)];
  if (known == round_) return true;
  const std::uint64_t& ended = segment_->lane(lane_).ended[static_cast<std::size_t>(member)];
  if (ended != previous_) {
    // A rank that reads all the time takes the cache line from its writer.
    if (fruitless_ % kLooksBetweenCredits != 0) return false;
    segment_->lookUp(member, track_);
    // Not after a call that has failed on some ranks only.
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
  message.lane = laneOf(message.region, message.lane_stride);
  if (!message.contiguous && message.runs.count > 0) {
    walks_[message.walk] = SegmentWalk(runs_[message.runs]);
  }
  if (!message.sending) {
    receives_.push_back(channel);
    // The next round's message may be there already.
    __builtin_prefetch(message.lane + message.slot.offset + toNextLane(message));
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

/// For a message that came through `beyond` into its memory, although this transport was expected
/// to move it.
void PutTransport::takeFromMemory(ChannelId channel) {
  Message& message = messages_[channel];
  std::size_t offset = 0;
  runs_[message.runs].forEachRun(bases_, [&](const std::byte* data, std::size_t bytes) {
    message.taker->takePiece(channel, offset, data, bytes);
    offset += bytes;
  });
}

/// Makes progress on all active messages.
void PutTransport::move() {
  streaming_ = false;
  const auto go = [&](std::vector<ChannelId>& channels, auto is_over) {
    for (std::size_t i = 0; i < channels.size();) {
      if (is_over(channels[i])) {
        done_.push_back(channels[i]);
        channels[i] = channels.back();
        channels.pop_back();
      } else {
        streaming_ |= messages_[channels[i]].pieces_done > 0;
        ++i;
      }
    }
  };
  go(receives_, [&](ChannelId channel) { return receive(channel); });
  go(sends_, [&](ChannelId channel) { return send(messages_[channel]); });
}

/// Polls active messages in pieces, as their next piece arrives sooner than other work could be
/// done.
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

}  // namespace torc::runtime
