// Put transport: messages between ranks of one host. Sender, receiver, place and length are known
// before the call, so that nothing is matched: the sender writes a message into its slot in memory
// that both have (host_segment.h, pair_layout.h), raises the flag of the slot, and goes on. Long
// messages go in pieces: what has come is taken while more is written; or, where the system lets
// one process copy from and to another's memory, in one copy, at which both ends work
// (copy_choice.h).
//
// A slot is written again once it has been read. That needs no answer from the reader where a
// message from there has come that was sent after the reader had ended the last round of the lane:
// every message tells which round its sender has ended. Otherwise what the reader states of the
// lane is looked up (HostSegment::lookUp).
//
// What goes to other hosts, and what has no room or no memory, is left to another transport, which
// sender and receiver find alike. Until both ends of a pair know whether it has the memory, its
// messages wait.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_PUT_TRANSPORT_H_
#define TORC_RUNTIME_TRANSPORT_PUT_PUT_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/transport/put/host_segment.h"
#include "runtime/transport/put/pair_layout.h"
#include "runtime/transport/put/process_memory.h"
#include "runtime/transport/transport.h"

namespace torc::runtime {

/// Bytes of a stretch that is copied from memory to memory: half of the message, for both of its
/// ends to work at, but not so few that starting takes the time. Who works alone takes several.
inline constexpr std::size_t kLeastStretch = 16 << 10;
inline constexpr std::size_t kMostStretch = 256 << 10;
inline constexpr std::size_t kMostAlone = 1 << 20;
/// Likewise, of what then goes on from there: about what stays in a core's second cache.
inline constexpr std::size_t kMostApart = 128 << 10;

class PutTransport final : public Transport {
 public:
  /// Rounds go by the lanes of `track`: all of the one-shot track by `bindTags`, each named by its
  /// call. `beyond` has what is not put, and the medium that waits may have to move on. `sent`
  /// outlives the transport.
  PutTransport(std::shared_ptr<HostSegment> segment, LaneTrack track,
               std::unique_ptr<Transport> beyond, SentBytes* sent = nullptr);
  ~PutTransport() override;
  PutTransport(const PutTransport&) = delete;
  PutTransport& operator=(const PutTransport&) = delete;

  StatusOr<ChannelId> prepare(const Envelope& envelope, const Segments& segments,
                              std::span<const std::size_t> fragments) override;
  Status commit() override;
  Status bind(const Bases& bases) override;
  bool handOver(ChannelId channel, PieceTaker* taker, std::size_t unit) override;
  void bindTags(const TagRange& tags) override;
  void takeShorter(std::vector<ShortMessage>* told) override {
    Transport::takeShorter(told);
    beyond_->takeShorter(told);
  }
  void beginRound() override;
  void endRound() override;
  bool start(ChannelId channel) override;
  int poll(std::span<ChannelId> completed) override;
  /// What was put stays in the segment: nothing of it touches the caller's memory any more. A
  /// sender that is copying there ends what it has begun.
  void abandon() override;
  bool drained() override;
  void progressMedium() override { beyond_->progressMedium(); }
  std::vector<Awaited> awaited(std::size_t limit) const override;
  std::size_t bufferBytes() const override { return beyond_->bufferBytes(); }
  std::size_t tableBytes() const override;
  Status status() const override { return status_.ok() ? beyond_->status() : status_; }

 private:
  // Fruitless looks after which the medium beyond gets on: about a microsecond.
  static constexpr unsigned kLooksBeforeMedium = 64;
  enum class Way : std::uint8_t { kPut, kBeyond, kOpen };
  /// A message, from its preparation on.
  struct Message : Envelope {
    // What every round looks at comes first, in three lines of the cache.
    bool contiguous = false;
    bool is_active_beyond = false;
    Way way = Way::kBeyond;
    bool is_copied = false;  // in this round: from memory to memory
    bool by_cells = false;   // in this round: it was to be copied, and could not
    bool is_alone = false;   // of its pair, this way
    std::int32_t member = -1;
    std::uint32_t walk = 0;       // into walks_, where the memory lies apart
    std::size_t bytes = 0;        // of the round: what comes may be shorter
    std::size_t room = 0;         // bytes as prepared
    std::size_t pieces_done = 0;  // in this round, with the offer of one that is copied
    std::size_t bytes_done = 0;
    std::uint64_t copy_from = 0;  // of one that is or was copied, at the receiver
    RegionHeader* region = nullptr;
    std::size_t lane_stride = 0;
    std::byte* lane = nullptr;  // of the region, that this round has
    MessageSlot slot;
    PieceTaker* taker = nullptr;
    Place place;  // of a contiguous one
    SegmentTable::Range runs;
    std::uint32_t first_fragment = 0, fragment_count = 0;
    ChannelId channel_beyond = 0;
    PairRegions::Kind kind;     // that the bytes as prepared have
    std::int64_t began_at = 0;  // nanoseconds; at the receiver of a long one
    std::size_t stretch = 0;    // bytes that are copied at once
  };

  /// Messages to or from a rank of this host.
  struct Pair {
    std::int32_t rank = 0, member = 0;
    bool sending = false;
    bool has_room = true;
    bool is_alone = false;  // it has one message
    PairRegions::Kind kind;
  };

  void layOut();
  static void lay(Message& message, std::size_t bytes, const MessageSlot& slot);
  void layAsPrepared(Message& message);
  bool takesShorter(Message& message, std::size_t bytes);
  [[gnu::cold]] void lookForShorter();
  Status leaveBeyond(ChannelId channel);
  // Seldom, and kept out of the functions that all messages go through.
  [[gnu::cold]] bool settle();
  [[gnu::cold]] bool startElsewhere(ChannelId channel);
  [[gnu::cold]] void takeFromMemory(ChannelId channel);

  void enterLane();
  bool mayWrite(int member);
  bool hasRoom(const Message& message);
  template <typename Visit>
  void forEachRun(Message& message, std::size_t bytes, Visit visit);
  bool send(Message& message);
  static bool hasLongHeader(const Message& message) { return message.bytes >= kLeastCopied; }
  bool mayCopy(const Message& message) const {
    return hasLongHeader(message) && segment_->copiesWith(message.member);
  }
  bool chooseCopy(const Message& message);
  void offer(Message& message);
  bool pushSome(Message& message);
  bool receive(ChannelId channel);
  bool pullSome(ChannelId channel);
  struct Stretch {
    std::size_t begin = 0, bytes = 0;
  };
  Stretch takeStretch(const Message& message, std::size_t most);
  bool endStretch(const Message& message, std::size_t bytes, Copied copied);
  bool isCopied(const Message& message) const;
  bool goesByCells(Message& message);
  [[gnu::cold]] void goByCells(Message& message, std::uint64_t from);
  void accept(Message& message);
  void takePiece(ChannelId channel, const std::byte* data, std::size_t bytes);
  void tellRead(const Message& message);
  void tellTime(const Message& message);
  void move();
  void stream();
  void lookAround();
  void count(const Message& message) {
    if (sent_ != nullptr) sent_->put += message.bytes;
  }
  Status lookForEnded();
  Status lookForDifference();

  std::byte* laneOf(RegionHeader* region, std::size_t lane_stride) const {
    return reinterpret_cast<std::byte*>(region + 1) +
           static_cast<std::size_t>(lane_ - track_.first_lane) * lane_stride;
  }
  std::atomic<std::uint64_t>& leftBeyond(RegionHeader& region) const {
    return region.left_beyond[static_cast<std::size_t>(lane_ - track_.first_lane)];
  }
  /// Of the next piece, among those that go through cells.
  static std::size_t numberInCells(const Message& message) {
    return message.pieces_done - (message.by_cells ? 1 : 0);
  }
  std::byte* cellOf(const Message& message) const {
    std::size_t number = numberInCells(message);
    if (number >= message.slot.cells) number %= message.slot.cells;  // a division takes longer
    return message.lane + message.slot.cellOffset(number);
  }
  /// From a lane of the region to the next round's, which may be backwards.
  std::ptrdiff_t toNextLane(const Message& message) const {
    return (next_lane_ - lane_) * static_cast<std::ptrdiff_t>(message.lane_stride);
  }
  CopyLine& lineOf(const Message& message) const {
    return *reinterpret_cast<CopyLine*>(message.lane + message.slot.line);
  }
  static std::int64_t nanoseconds() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  }
  std::uint64_t flagOf(std::size_t piece) const { return round_ + 8 * (piece + 1); }

  std::shared_ptr<HostSegment> segment_;
  LaneTrack track_;
  std::unique_ptr<Transport> beyond_;
  std::vector<Message> messages_;
  std::vector<Pair> pairs_;  // of this host
  std::vector<Pair> left_;   // of them, to which this rank sends and has no room
  std::vector<Pair> open_;   // of them, for which it is not known whether they have memory
  std::vector<std::size_t> fragments_;
  std::vector<SegmentWalk> walks_;
  std::vector<ChannelId> channel_of_beyond_;
  /// Takes what comes from beyond for the taker, who knows the channel by another number.
  struct TakerOfBeyond final : PieceTaker {
    explicit TakerOfBeyond(const std::vector<ChannelId>& channels) : channel_of(channels) {}
    void takePiece(ChannelId channel, std::size_t offset, const std::byte* data,
                   std::size_t bytes) override {
      taker->takePiece(channel_of[channel], offset, data, bytes);
    }
    const std::vector<ChannelId>& channel_of;
    PieceTaker* taker = nullptr;
  } taker_of_beyond_{channel_of_beyond_};

  // Of the round.
  bool in_round_ = false, has_lane_ = false;
  std::uint64_t call_ = 0;                  // of a one-shot round, by bindTags
  std::uint64_t round_ = 0, previous_ = 0;  // names; previous_ was in the lane before
  HostSegment::Turn turn_;
  int lane_ = 0, next_lane_ = 0;
  std::uint64_t next_ended_ = 0;         // what this rank has ended in next_lane_
  std::vector<std::uint64_t> writable_;  // by member: the round for which its slots are known to be
  std::vector<ChannelId> sends_, receives_;  // under way
  std::vector<ChannelId> done_;              // to be reported
  std::size_t beyond_active_ = 0;
  bool has_moved_ = false;
  bool streaming_ = false;          // a message is under way of which pieces have been moved
  unsigned fruitless_ = 0;          // looks
  std::int64_t looked_at_ = 0;      // nanoseconds; whether peers have ended
  Status ended_;                    // one has, by the last look
  std::vector<ChannelId> waiting_;  // started, but for pairs that are open
  std::vector<bool> seen_;          // by member, for a look whether processes have ended
  // After a failure: receives to whose memory their sender may be copying, and the stretches that
  // were taken by then.
  std::vector<std::pair<ChannelId, std::uint64_t>> draining_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_PUT_TRANSPORT_H_
