// Transport: moves messages for the executor. A transport belongs to one rank of one collective;
// all its messages, called channels, are known before the first start.
//
// Life: prepare for every channel, commit once, bind, then any number of rounds in which each
// channel is started at most once and reported once by poll. Between commit and destruction the
// implementations here allocate only the result of `awaited`, and error texts.
#ifndef TORC_RUNTIME_TRANSPORT_TRANSPORT_H_
#define TORC_RUNTIME_TRANSPORT_TRANSPORT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/non_copyable.h"
#include "runtime/transport/tag_space.h"
#include "schedules/expansion/strided.h"
#include "support/message.h"
#include "support/status.h"

namespace torc::runtime {

/// Base addresses of places. Binding other buffers to a call changes only the bases.
enum class Base : std::uint8_t { kIn, kOut, kScratch, kTransport };
using Bases = std::array<std::byte*, 4>;

/// A place in memory: a base, and an offset in bytes.
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

/// A run of bytes in memory, repeated by loops of a table, with strides in bytes.
struct Segment {
  Place place;
  std::size_t bytes = 0;  // of one run
  std::uint32_t first_loop = 0;
  std::uint32_t loop_count = 0;
};

/// The memory of a message: the bytes of `list` in their order; `loops` is the table of its loops.
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
  /// Whether it is contiguous.
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
  /// The memory of one message.
  struct Range {
    std::uint32_t first = 0, count = 0;
  };
  /// Adds a copy of `segments`.
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
  /// Remaining bytes of the run.
  std::size_t available() const { return runs_.list[index_].bytes - used_; }
  Place place() const { return runs_.list[index_].place + (walk_.distance() + used_); }
  /// Advances by `bytes`, at most those available.
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

/// Time of a send's completion.
enum class SendMode : std::uint8_t {
  kStandard,     // when its memory may be changed
  kSynchronous,  // when the message is being received, too
};

/// Properties of a message that both ends know; `peer` is the other end.
struct Envelope {
  std::int32_t peer = 0;
  std::uint32_t tag = 0;
  bool sending = false;
  SendMode mode = SendMode::kStandard;
};

/// Channels of a transport count from 0 in the order of their preparation.
using ChannelId = std::uint32_t;

/// Receives the bytes of a message as they arrive, in order, instead of the message's memory.
class PieceTaker {
 public:
  /// `bytes` of the message from its byte `offset` on; `data` is valid until this returns.
  virtual void takePiece(ChannelId channel, std::size_t offset, const std::byte* data,
                         std::size_t bytes) = 0;

 protected:
  ~PieceTaker() = default;
};

/// Bytes sent by each medium, counted by the transports.
struct SentBytes {
  std::uint64_t put = 0, mpi = 0;
};

/// A message that was shorter than its receive: its memory and its length.
struct ShortMessage {
  const std::byte* at = nullptr;
  std::size_t bytes = 0;
};

/// Bytes of the memory of tables.
template <typename... Tables>
std::size_t bytesOfTables(const Tables&... tables) {
  return (... + (tables.capacity() * sizeof(tables[0])));
}
inline std::size_t SegmentTable::bytes() const {
  return bytesOfTables(list_, loops_);
}

/// The error for a message that does not match the receive: `words` after "a message from rank 3".
template <typename... Words>
Status callsDiffer(std::int32_t peer, const Words&... words) {
  return {StatusCode::kTruncated,
          message("a message from rank ", peer, words..., ": the ranks' calls differ")};
}

class Transport : NonCopyable {
 public:
  virtual ~Transport() = default;

  /// Adds a message of the bytes of `segments`, which are copied. Its tag is unique among the
  /// messages between the two ranks. The k-th start of the send matches the k-th start of the
  /// receive; their lengths must agree. The memory belongs to the caller: it is read (written) from
  /// start until the channel is reported complete. `fragments` are lengths in bytes, the same at
  /// both ends, that add up to the message: a transport may send them one by one. Empty: the
  /// message is one fragment.
  virtual ChannelId prepare(const Envelope& envelope, const Segments& segments,
                            std::span<const std::size_t> fragments) = 0;

  /// All channels are prepared.
  virtual void commit() {}

  /// Sets the base addresses. Precondition: no channel is active. Base::kTransport of `bases` is
  /// ignored.
  virtual void bind(const Bases& bases) { bases_ = bases; }

  /// After commit: whether the bytes of a receive may go to `taker`, which outlives the transport,
  /// as they arrive, in pieces of multiples of `unit` bytes. If so the message's memory is
  /// undefined; it may be written before the taker gets the bytes from there.
  virtual bool handOver(ChannelId, PieceTaker*, std::size_t /*unit*/) { return false; }

  /// Before `commit`: a receive into contiguous memory accepts a shorter message, too, if no other
  /// message has the same source and destination. It adds the message to `told`, which outlives the
  /// transport and has room for all. Otherwise different lengths are an error.
  virtual void takeShorter(std::vector<ShortMessage>* told) { shorter_ = told; }

  /// Sets the call of the next rounds, the same on all ranks; between two rounds.
  virtual void bindTags(const TagRange&) {}

  /// Begins a round; `endRound` ends it, unless it is abandoned. Both are local.
  virtual void beginRound() {}
  virtual void endRound() {}

  /// Starts an inactive channel. False: failed, see status().
  [[nodiscard]] virtual bool start(ChannelId channel) = 0;

  /// Writes channels that have completed and were not reported to `completed`, which has room for
  /// all active ones, and returns their number; -1: failed, see status(). Never waits.
  [[nodiscard]] virtual int poll(std::span<ChannelId> completed) = 0;

  /// As poll, but may wait until there is something to report. Precondition: some channel is
  /// active.
  [[nodiscard]] virtual int wait(std::span<ChannelId> completed) { return poll(completed); }

  /// Cancels active channels after a failure, as far as the medium allows. Their memory, including
  /// the transport's own, may still be read and written until `drained`.
  virtual void abandon() {}

  /// After `abandon`: whether no cancelled message can touch memory any more. Never waits.
  virtual bool drained() { return true; }

  /// Makes progress on other communication of the medium: other ranks may wait for it before they
  /// start their side of a message. Never waits.
  virtual void progressMedium() {}

  /// The other end of an active message.
  struct Awaited {
    int rank = 0;
    bool sending = false;
    bool operator==(const Awaited&) const = default;
  };
  /// The active messages of the round, each peer and direction once; at most `limit`.
  virtual std::vector<Awaited> awaited(std::size_t /*limit*/) const { return {}; }

  /// Bytes of data memory that the transport has allocated, and of its tables.
  virtual std::size_t bufferBytes() const { return 0; }
  virtual std::size_t tableBytes() const { return 0; }

  /// The error of a failed start or poll; after commit, of messages that cannot be sent.
  virtual Status status() const { return status_; }

 protected:
  /// `sent` outlives the transport, and may be null: then nothing is counted.
  explicit Transport(SentBytes* sent = nullptr) : sent_(sent) {}

  /// Adds an active message; `peers` has at most `limit`.
  static void addAwaited(const Envelope& message, std::size_t limit, std::vector<Awaited>& peers) {
    const Awaited peer{message.peer, message.sending};
    if (peers.size() < limit && std::ranges::find(peers, peer) == peers.end()) {
      peers.push_back(peer);
    }
  }

  SegmentTable runs_;  // of the messages
  Bases bases_{};
  SentBytes* sent_;
  std::vector<ShortMessage>* shorter_ = nullptr;  // null: shorter messages are errors
  Status status_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_TRANSPORT_H_
