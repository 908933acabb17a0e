// Transport: what the executor moves messages with. A transport belongs to one rank of one
// collective; its messages, called channels, are all known before the first start.
//
// Life: prepare for every channel, commit once, bind, then any number of rounds in
// which each channel is started at most once and reported once by poll. Between commit and
// destruction nothing is allocated by the implementations here, but for the persistent requests
// that bind may make, what `awaited` returns, and the text of an error.
#ifndef TORC_RUNTIME_TRANSPORT_TRANSPORT_H_
#define TORC_RUNTIME_TRANSPORT_TRANSPORT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/transport/tag_space.h"
#include "schedules/expansion/strided.h"
#include "support/message.h"
#include "support/status.h"

namespace torc::runtime {

/// The memory that places lie in. A call is bound to other buffers by other bases.
enum class Base : std::uint8_t { kIn, kOut, kScratch, kTransport };
using Bases = std::array<std::byte*, 4>;

/// A place in memory: a base, and bytes from there on.
class Place {
 public:
  Place() = default;
  Place(Base base, std::uint64_t offset) : bits_(offset << 2 | static_cast<std::uint64_t>(base)) {}

  std::byte* in(const Bases& bases) const { return bases[bits_ & 3] + (bits_ >> 2); }
  Place operator+(std::uint64_t bytes) const {
    Place place;
    place.bits_ = bits_ + (bytes << 2);
    return place;
  }
  bool operator==(const Place&) const = default;

 private:
  std::uint64_t bits_ = 0;
};
static_assert(sizeof(Place) == 8);

/// A run of bytes in memory, repeated by loops of a table, whose strides are bytes.
struct Segment {
  Place place;
  std::size_t bytes = 0;  // of one run
  std::uint32_t first_loop = 0;
  std::uint32_t loop_count = 0;
};

/// The memory of a message: the bytes of `list` in their order; `loops` is the table that it refers
/// to.
struct Segments {
  std::span<const Segment> list;
  std::span<const RunLoop> loops;

  std::span<const RunLoop> loopsOf(const Segment& segment) const {
    return loops.subspan(segment.first_loop, segment.loop_count);
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Segment& segment : list)
      sum += segment.bytes * iterations(loopsOf(segment));
    return sum;
  }
  /// Whether it is one run.
  bool isInRow() const { return list.size() == 1 && list[0].loop_count == 0; }

  /// Calls visit(memory, bytes) for every run, in their order.
  template <typename Visit>
  void forEachRun(const Bases& bases, Visit visit) const {
    for (const Segment& segment : list) {
      std::byte* const data = segment.place.in(bases);
      if (segment.loop_count == 0) {
        visit(data, segment.bytes);
        continue;
      }
      LoopWalk walk(loopsOf(segment));
      do {
        visit(data + static_cast<std::ptrdiff_t>(walk.distance()), segment.bytes);
      } while (walk.next());
    }
  }
};

/// The memory of all messages of a transport.
class SegmentTable {
 public:
  /// That of one message.
  struct Range {
    std::uint32_t first = 0, count = 0;
  };
  /// A copy of `segments`.
  Range add(const Segments& segments) {
    const Range range{static_cast<std::uint32_t>(list_.size()),
                      static_cast<std::uint32_t>(segments.list.size())};
    for (const Segment& segment : segments.list) {
      list_.push_back(segment);
      list_.back().first_loop = addLoops(segments.loopsOf(segment), loops_);
    }
    return range;
  }
  Segments operator[](Range range) const {
    return {std::span(list_).subspan(range.first, range.count), loops_};
  }
  std::size_t bytes() const;

 private:
  std::vector<Segment> list_;
  std::vector<RunLoop> loops_;
};

/// Walks the runs of a message's memory from front to back.
class SegmentWalk {
 public:
  explicit SegmentWalk(const Segments& segments) : runs_(segments) { enter(); }

  bool done() const { return index_ == runs_.list.size(); }
  /// What is left of the run.
  std::size_t available() const { return runs_.list[index_].bytes - used_; }
  Place place() const { return runs_.list[index_].place + (walk_.distance() + used_); }
  /// Goes on by `bytes`, at most those available.
  void skip(std::size_t bytes) {
    used_ += bytes;
    if (used_ < runs_.list[index_].bytes) return;
    used_ = 0;
    if (walk_.next()) return;
    ++index_;
    enter();
  }

 private:
  void enter() {
    if (!done()) walk_ = LoopWalk(runs_.loopsOf(runs_.list[index_]));
  }

  Segments runs_;
  std::size_t index_ = 0;
  std::size_t used_ = 0;  // bytes of the run
  LoopWalk walk_;
};

/// When a send is complete.
enum class SendMode : std::uint8_t {
  kStandard,     // once its memory may be changed
  kSynchronous,  // once the message is being received, too
};

/// What both ends of a message know, the other end being `peer`.
struct Envelope {
  std::int32_t peer = 0;
  std::uint32_t tag = 0;
  bool sending = false;
  SendMode mode = SendMode::kStandard;
};

/// Channels of a transport count from 0 in the order in which they were prepared.
using ChannelId = std::uint32_t;

/// Takes the bytes of a message as they come, in order, in place of the message's memory.
class PieceTaker {
 public:
  /// `bytes` of the message from its byte `offset` on; they stay at `data` until this returns.
  virtual void takePiece(ChannelId channel, std::size_t offset, const std::byte* data,
                         std::size_t bytes) = 0;

 protected:
  ~PieceTaker() = default;
};

/// What has been sent by each medium. Transports count into what they are given.
struct SentBytes {
  std::uint64_t put = 0, mpi = 0;
};

/// A message that was shorter than its receive: where that is, and what has come.
struct ShortMessage {
  const std::byte* at = nullptr;
  std::size_t bytes = 0;
};

/// Bytes of memory that tables have.
template <typename... Tables>
std::size_t bytesOfTables(const Tables&... tables) {
  return (... + (tables.capacity() * sizeof(tables[0])));
}
inline std::size_t SegmentTable::bytes() const {
  return bytesOfTables(list_, loops_);
}

/// A message is not what the other end's call says: `words` behind "a message from rank 3".
template <typename... Words>
Status callsDiffer(std::int32_t peer, const Words&... words) {
  return {StatusCode::kTruncated,
          message("a message from rank ", peer, words..., ": the ranks' calls differ")};
}

class Transport {
 public:
  virtual ~Transport() = default;

  /// A message of the bytes of `segments`, which are copied. Its tag is unique among the messages
  /// between the two ranks. The k-th start of the send matches the k-th start of the receive;
  /// their lengths must agree. The memory stays the caller's: it is read (written) from start
  /// until the channel is reported complete. `fragments` are lengths in bytes, the same at both
  /// ends, that add up to the message: a transport may send them one by one. None: the message is
  /// one fragment.
  virtual StatusOr<ChannelId> prepare(const Envelope& envelope, const Segments& segments,
                                      std::span<const std::size_t> fragments) = 0;

  /// All channels are prepared.
  virtual Status commit() { return {}; }

  /// Where the memory is from now on. No channel is active. A transport may refuse to be bound a
  /// second time (kUnsupported). Base::kTransport of `bases` is not used.
  virtual Status bind(const Bases& bases) {
    bases_ = bases;
    return {};
  }

  /// Once committed: whether the bytes of a receive may go to `taker`, which outlives the
  /// transport, as they come, in pieces of whole units of `unit` bytes. If so nobody may rely on
  /// what the message's memory holds; it may be written before the taker gets the bytes from there.
  virtual bool handOver(ChannelId, PieceTaker*, std::size_t /*unit*/) { return false; }

  /// Before `commit`: a receive into memory in a row takes a shorter message, too, where no other
  /// message goes the same way between the two ranks, and adds it to `told`, which outlives the
  /// transport and has room for all. Without it lengths that differ are an error.
  virtual void takeShorter(std::vector<ShortMessage>* told) { shorter_ = told; }

  /// The call that the next rounds belong to, the same on all ranks; between two rounds. Only for
  /// transports that are bound again and again.
  virtual void bindTags(const TagRange&) {}

  /// A round begins: every round is between these two, unless it is abandoned. One that is over is
  /// over for this rank alone.
  virtual void beginRound() {}
  virtual void endRound() {}

  /// Starts a channel that is not active. False: failed, see status().
  [[nodiscard]] virtual bool start(ChannelId channel) = 0;

  /// Writes channels that have completed and were not reported to `completed`, which has room for
  /// all active ones, and returns how many; -1: failed, see status(). Never waits.
  [[nodiscard]] virtual int poll(std::span<ChannelId> completed) = 0;

  /// As poll, but may wait until there is something to report. Some channel is active.
  [[nodiscard]] virtual int wait(std::span<ChannelId> completed) { return poll(completed); }

  /// Gives up active channels after a failure, as far as the medium allows. Their memory, the
  /// transport's own included, may still be read and written until `drained`.
  virtual void abandon() {}

  /// After `abandon`: whether nothing that was given up can touch memory any more. Never waits.
  virtual bool drained() { return true; }

  /// Lets the medium get on with what is not the transport's own: other ranks may wait for it
  /// before they come to their side of a message. Never waits.
  virtual void progressMedium() {}

  /// A message that is under way, by its other end.
  struct Awaited {
    int rank = 0;
    bool sending = false;
    bool operator==(const Awaited&) const = default;
  };
  /// Those of the round, each peer and direction once; at most `limit`.
  virtual std::vector<Awaited> awaited(std::size_t /*limit*/) const { return {}; }

  /// Bytes of memory for data that the transport has allocated, and of its tables.
  virtual std::size_t bufferBytes() const { return 0; }
  virtual std::size_t tableBytes() const { return 0; }

  /// Why start or poll failed.
  virtual Status status() const { return status_; }

 protected:
  /// `sent` outlives the transport, and may be null: then nothing is counted.
  explicit Transport(SentBytes* sent = nullptr) : sent_(sent) {}

  /// Another message that is under way; `peers` has at most `limit`.
  static void addAwaited(const Envelope& message, std::size_t limit, std::vector<Awaited>& peers) {
    const Awaited peer{message.peer, message.sending};
    if (peers.size() < limit && std::ranges::find(peers, peer) == peers.end()) {
      peers.push_back(peer);
    }
  }

  SegmentTable runs_;  // of the messages
  Bases bases_{};
  SentBytes* sent_;
  std::vector<ShortMessage>* shorter_ = nullptr;  // null: none are taken
  Status status_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_TRANSPORT_H_
