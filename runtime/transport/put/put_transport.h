// Put transport: messages between ranks of one host. Sender, receiver, position and length are
// known before the call, so that no matching is needed. The sender writes a message into its slot
// in shared memory (host_segment.h, pair_layout.h), sets the flag of the slot, and continues. Long
// messages go in pieces, read while later ones are written; or, if the system allows processes to
// copy each other's memory, in one copy, with both ends at work (copy_choice.h).
//
// A slot is written again once it has been read. Every message contains the last round that its
// sender has ended in the lane. So no further answer is needed if a message from the reader has
// come that was sent after the lane's last round. Otherwise the reader's published state of the
// lane is read (HostSegment::lookUp).
//
// Messages to other hosts, and those without room or memory, use another transport; sender and
// receiver choose alike. Until both ends of a pair know whether it has the memory, its messages
// wait.
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

/// Limits of the bytes of a stretch that is copied from memory to memory: half of the message, so
/// that both ends can work at it, but not so short that its start-up dominates. An end that works
/// alone takes several.
inline constexpr std::size_t kLeastStretch = 16 << 10;
inline constexpr std::size_t kMostStretch = 256 << 10;
inline constexpr std::size_t kMostAlone = 1 << 20;
/// Likewise, for stretches that the receiver unpacks: about the size of a core's second-level
/// cache.
inline constexpr std::size_t kMostApart = 128 << 10;

class PutTransport final : public Transport {
 public:
  /// Rounds use the lanes of `track`: in the one-shot track by the call of `bindTags`. `beyond`
  /// sends other messages, and its medium may need progress. `sent` outlives the transport.
  PutTransport(std::shared_ptr<HostSegment> segment, LaneTrack track,
               std::unique_ptr<Transport> beyond, SentBytes* sent = nullptr);
  ~PutTransport() override;

  ChannelId prepare(const Envelope& envelope, const Segments& segments,
                    std::span<const std::size_t> fragments) override;
  void commit() override;
  void bind(const Bases& bases) override;
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
  /// Written messages stay in the segment: they touch the caller's memory no more. A sender that is
  /// copying to that memory finishes its stretch.
  void abandon() override;
  bool drained() override;
  void progressMedium() override { beyond_->progressMedium(); }
  std::vector<Awaited> awaited(std::size_t limit) const override;
  std::size_t bufferBytes() const override { return beyond_->bufferBytes(); }
  std::size_t tableBytes() const override;
  Status status() const override { return status_.ok() ? beyond_->status() : status_; }

 private:
  // Polls without progress after which the medium of `beyond` gets progress: about a microsecond.
  static constexpr unsigned kLooksBeforeMedium = 64;
  enum class Way : std::uint8_t { kPut, kBeyond, kOpen };
  /// A message, from its preparation on.
  struct Message : Envelope {
    // Members used in every round come first, in three cache lines.
    bool contiguous = false;
    bool is_active_beyond = false;
    Way way = Way::kBeyond;
    bool is_copied = false;  // in this round: from memory to memory
    bool by_cells = false;   // in this round: it should have been copied, and could not be
    bool is_alone = false;   // the only one of its pair in this direction
    std::int32_t member = -1;
    std::uint32_t walk = 0;       // index in walks_, for non-contiguous memory
    std::size_t bytes = 0;        // of the round: received messages may be shorter
    std::size_t room = 0;         // bytes as prepared
    std::size_t pieces_done = 0;  // in this round, including the offer of a copied one
    std::size_t bytes_done = 0;
    std::uint64_t copy_from = 0;  // address of a copied message, at the receiver
    RegionHeader* region = nullptr;
    std::size_t lane_stride = 0;
    std::byte* lane = nullptr;  // of the region, in this round
    MessageSlot slot;
    PieceTaker* taker = nullptr;
    Place place;  // if contiguous
    SegmentTable::Range runs;
    std::uint32_t first_fragment = 0, fragment_count = 0;
    ChannelId channel_beyond = 0;
    PairRegions::Kind kind;     // for the bytes as prepared
    std::int64_t began_at = 0;  // nanoseconds; at the receiver of a long message
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
  void leaveBeyond(ChannelId channel);
  // Rare, and kept out of the functions that all messages use.
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
  /// Index of the next piece among those through cells.
  static std::size_t numberInCells(const Message& message) {
    return message.pieces_done - (message.by_cells ? 1 : 0);
  }
  std::byte* cellOf(const Message& message) const {
    std::size_t number = numberInCells(message);
    if (number >= message.slot.cells) number %= message.slot.cells;  // a division takes longer
    return message.lane + message.slot.cellOffset(number);
  }
  /// Distance from a lane of the region to the next round's, which may be negative.
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
  std::vector<Pair> pairs_;  // on this host
  std::vector<Pair> left_;   // those to which this rank sends, and has no room
  std::vector<Pair> open_;   // those with undecided memory
  std::vector<std::size_t> fragments_;
  std::vector<SegmentWalk> walks_;
  std::vector<ChannelId> channel_of_beyond_;

  // Of the round.
  bool in_round_ = false, has_lane_ = false;
  std::uint64_t call_ = 0;                  // of a one-shot round, from bindTags
  std::uint64_t round_ = 0, previous_ = 0;  // names; previous_ had the lane before
  HostSegment::Turn turn_;
  int lane_ = 0, next_lane_ = 0;
  std::uint64_t next_ended_ = 0;         // this rank's last ended round in next_lane_
  std::vector<std::uint64_t> writable_;  // by member: the round for which its slots may be written
  std::vector<ChannelId> sends_, receives_;  // active
  std::vector<ChannelId> done_;              // to be reported
  std::size_t beyond_active_ = 0;
  bool has_moved_ = false;
  bool streaming_ = false;          // an active message has moved some pieces
  unsigned fruitless_ = 0;          // polls without progress
  std::int64_t looked_at_ = 0;      // nanoseconds; last check for ended peers
  Status ended_;                    // error of the last check, if a peer has ended
  std::vector<ChannelId> waiting_;  // started, for pairs that are open
  std::vector<bool> seen_;          // by member, for a check for ended processes
  // After a failure: receives into whose memory the sender may still copy, and the number of
  // stretches taken by then.
  std::vector<std::pair<ChannelId, std::uint64_t>> draining_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_PUT_TRANSPORT_H_
