// Put transport: moves the bytes of a message from its sender's memory to its receiver's.
#include <algorithm>
#include <cstring>

#include "runtime/transport/put/process_memory.h"
#include "runtime/transport/put/put_transport.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

// Pieces of a message that are moved before the next message is polled.
constexpr int kPiecesAtOnce = 2;
// Bytes of a piece whose cache lines are prefetched at once.
constexpr std::size_t kMostFetched = 4096;

/// memcpy, inlined for short lengths.
inline void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto ends = [&]<typename Word>(Word) {
    Word first, last;
    std::memcpy(&first, from, sizeof(Word));
    std::memcpy(&last, from + bytes - sizeof(Word), sizeof(Word));
    std::memcpy(to, &first, sizeof(Word));
    std::memcpy(to + bytes - sizeof(Word), &last, sizeof(Word));
  };
  if (bytes > 16 || bytes < 4) {
    std::memcpy(to, from, bytes);
  } else if (bytes >= 8) {
    ends(std::uint64_t{});
  } else {
    ends(std::uint32_t{});
  }
}

/// Prefetches the lines of a run, to be written or read, all at once.
template <bool kToWrite>
inline void fetchLines(const std::byte* memory, std::size_t bytes) {
  const std::byte* end = memory + std::min(bytes, kMostFetched);
  for (; memory < end; memory += kLine) {
#ifdef __x86_64__
    if constexpr (kToWrite) {
      asm volatile("prefetchw %0" : : "m"(*memory));
      continue;
    }
#endif
    __builtin_prefetch(memory, kToWrite ? 1 : 0);
  }
}

}  // namespace

/// Whether the next piece of a sent message may be written.
inline bool PutTransport::hasRoom(const Message& message) {
  if (numberInCells(message) < message.slot.cells) return mayWrite(message.member);
  const CopyLine& line = lineOf(message);
  return line.round.load(std::memory_order_acquire) == round_ &&
         line.read.load(std::memory_order_acquire) + message.slot.cells > message.pieces_done;
}

/// Calls `visit(memory, bytes)` for the runs of the next `bytes` of a message.
template <typename Visit>
inline void PutTransport::forEachRun(Message& message, std::size_t bytes, Visit visit) {
  if (message.contiguous) {
    visit((message.place + message.bytes_done).in(bases_), bytes);
    return;
  }
  SegmentWalk& walk = walks_[message.walk];
  while (bytes > 0) {
    const std::size_t some = std::min(bytes, walk.available());
    visit(walk.place().in(bases_), some);
    walk.skip(some);
    bytes -= some;
  }
}

// ---- The sender's side

bool PutTransport::chooseCopy(const Message& message) {
  const std::size_t copy_class = copyClassOf(message.bytes, message.tag);
  const std::atomic<std::uint8_t>& advice = message.region->advice[copy_class];
  return segment_->copyTries(message.member)
      .copies(copy_class, static_cast<CopyAdvice>(advice.load(std::memory_order_relaxed)));
}

/// Publishes the address of a message for its receiver.
void PutTransport::offer(Message& message) {
  CopyLine& line = lineOf(message);
  line.taken.store(0, std::memory_order_relaxed);
  line.copied.store(0, std::memory_order_relaxed);
  line.address.store(0, std::memory_order_relaxed);
  line.by_cells.store(0, std::memory_order_relaxed);
  auto& header = *reinterpret_cast<LongHeader*>(cellOf(message));
  header.message_bytes = message.bytes;
  header.ended = next_ended_;
  header.address = reinterpret_cast<std::uint64_t>(message.place.in(bases_));
  header.nanoseconds = 0;
  header.flag.store(flagOf(0), std::memory_order_release);
  message.is_copied = true;
  has_moved_ = true;
}

/// Moves some pieces; true: that was the last one.
bool PutTransport::send(Message& message) {
  if (message.is_copied) return pushSome(message);
  for (int i = 0; i < kPiecesAtOnce && hasRoom(message); ++i) {
    const bool has_long_header = message.pieces_done == 0 && hasLongHeader(message);
    const bool is_timed = has_long_header && mayCopy(message);
    if (is_timed && message.contiguous && chooseCopy(message)) {
      offer(message);
      return false;
    }
    const std::int64_t began = is_timed ? nanoseconds() : 0;
    std::byte* cell = cellOf(message);
    std::byte* data = cell + message.slot.payload;
    const std::size_t bytes =
        std::min<std::size_t>(message.slot.grain, message.bytes - message.bytes_done);
    if (bytes > 0) {
      fetchLines<true>(data, bytes);
      forEachRun(message, bytes, [&](const std::byte* memory, std::size_t some) {
        copy(data, memory, some);
        data += some;
      });
    }
    if (has_long_header) {
      auto& header = *reinterpret_cast<LongHeader*>(cell);
      header.address = 0;
      header.nanoseconds = is_timed ? static_cast<std::uint64_t>(nanoseconds() - began) : 0;
    }
    auto& header = *reinterpret_cast<CellHeader*>(cell);
    header.message_bytes = message.bytes;
    header.ended = next_ended_;
    header.flag.store(flagOf(message.pieces_done), std::memory_order_release);
    message.bytes_done += bytes;
    ++message.pieces_done;
    has_moved_ = true;
    if (message.bytes_done == message.bytes) {
      // Prefetches the next round's lines, last written by the receiver; not those of all pieces,
      // which are too many.
      fetchLines<true>(cell + message.slot.payload + toNextLane(message), bytes);
      count(message);
      return true;
    }
  }
  return false;
}

/// Takes the next stretch of a copied message, or several, of at most about `most` bytes; returns
/// their position in the message. Without bytes: all are taken.
inline PutTransport::Stretch PutTransport::takeStretch(const Message& message, std::size_t most) {
  std::atomic<std::uint64_t>& taken = lineOf(message).taken;
  if (taken.load(std::memory_order_relaxed) * message.stretch >= message.bytes) return {};
  const std::size_t stretches = std::max<std::size_t>(1, most / message.stretch);
  const std::size_t begin = taken.fetch_add(stretches, std::memory_order_relaxed) * message.stretch;
  if (begin >= message.bytes) return {};
  return {begin, std::min(stretches * message.stretch, message.bytes - begin)};
}

/// Notes that this end has copied a stretch. If it could not, the rest of the message goes through
/// cells from here on. False, with the status set: the other process has ended.
bool PutTransport::endStretch(const Message& message, std::size_t bytes, Copied copied) {
  CopyLine& line = lineOf(message);
  if (copied == Copied::kForbidden) segment_->forbidCopies();
  if (copied != Copied::kAll) {
    line.by_cells.store(message.bytes_done + 1, std::memory_order_relaxed);
  }
  line.copied.fetch_add((bytes + message.stretch - 1) / message.stretch, std::memory_order_release);
  has_moved_ = true;
  if (copied != Copied::kEnded) return true;
  status_ = {
      StatusCode::kTransport,
      torc::message("a message ", message.sending ? "to" : "from", " rank ", message.peer,
                    ": process ", segment_->processOf(message.member), " of this host has ended")};
  return false;
}

inline bool PutTransport::isCopied(const Message& message) const {
  return lineOf(message).copied.load(std::memory_order_acquire) * message.stretch >= message.bytes;
}

/// One of the ends could not copy a message: it continues through cells.
void PutTransport::goByCells(Message& message, std::uint64_t from) {
  message.bytes_done = from - 1;
  message.pieces_done = 1;  // the offer, whose cell is free
  message.by_cells = true;
  message.is_copied = false;
  has_moved_ = true;
  if (!message.sending) tellRead(message);
}

/// Whether a message now goes through cells. Must be called after `isCopied`, as a failed stretch
/// counts as copied.
inline bool PutTransport::goesByCells(Message& message) {
  const std::uint64_t from = lineOf(message).by_cells.load(std::memory_order_acquire);
  if (from != 0) goByCells(message, from);
  return from != 0;
}

/// Writes a stretch of a message to its receiver's memory; true: the message is complete.
bool PutTransport::pushSome(Message& message) {
  const std::uint64_t address = lineOf(message).address.load(std::memory_order_acquire);
  // This rank's own receives come first.
  if (address != 0 && receives_.empty()) {
    const Stretch stretch = takeStretch(message, 0);
    if (stretch.bytes > 0 &&
        !endStretch(message, stretch.bytes,
                    push(segment_->processOf(message.member), address + stretch.begin,
                         (message.place + stretch.begin).in(bases_), stretch.bytes))) {
      return false;
    }
  }
  const bool is_copied = isCopied(message);
  if (goesByCells(message)) return false;
  if (!is_copied) return false;
  has_moved_ = true;
  count(message);
  return true;
}

// ---- The receiver's side

/// Moves the next bytes of a message to their place.
[[gnu::always_inline]] inline void PutTransport::takePiece(ChannelId channel, const std::byte* data,
                                                           std::size_t bytes) {
  Message& message = messages_[channel];
  if (message.taker != nullptr) {
    message.taker->takePiece(channel, message.bytes_done, data, bytes);
  } else if (bytes > 0) {
    forEachRun(message, bytes, [&](std::byte* memory, std::size_t some) {
      copy(memory, data, some);
      data += some;
    });
  }
  message.bytes_done += bytes;
  has_moved_ = true;
}

/// Adds the time of a complete message, and publishes the advice.
void PutTransport::tellTime(const Message& message) {
  const std::size_t copy_class = copyClassOf(message.bytes, message.tag);
  const CopyAdvice advice =
      segment_->copyTimes(message.member)
          .add(copy_class, message.copy_from != 0, nanoseconds() - message.began_at);
  std::atomic<std::uint8_t>& told = message.region->advice[copy_class];
  if (told.load(std::memory_order_relaxed) != static_cast<std::uint8_t>(advice)) {
    told.store(static_cast<std::uint8_t>(advice), std::memory_order_relaxed);
  }
}

/// Whether a message may have so few bytes: then uses the slot that the sender has computed for
/// that length.
bool PutTransport::takesShorter(Message& message, std::size_t bytes) {
  if (shorter_ == nullptr || !message.is_alone || !message.contiguous || message.pieces_done > 0 ||
      bytes > message.bytes) {
    return false;
  }
  lay(message, bytes, layOutPair({&bytes, 1}, segment_->regions().mostRoom()).front());
  shorter_->push_back({message.place.in(bases_), bytes});
  return true;
}

/// Takes some pieces; true: that was the last one. Sets the status if a message has another length.
bool PutTransport::receive(ChannelId channel) {
  Message& message = messages_[channel];
  if (message.copy_from != 0 && !message.by_cells) return pullSome(channel);
  for (int i = 0; i < kPiecesAtOnce; ++i) {
    const std::byte* cell = cellOf(message);
    const auto& header = *reinterpret_cast<const LongHeader*>(cell);
    if (header.flag.load(std::memory_order_acquire) != flagOf(message.pieces_done)) return false;
    if (header.message_bytes != message.bytes && !takesShorter(message, header.message_bytes)) {
      status_ = callsDiffer(message.peer, " has ", header.message_bytes, " bytes where ",
                            message.bytes, " are expected");
      return false;
    }
    segment_->lane(next_lane_).ended[static_cast<std::size_t>(message.member)] = header.ended;
    if (hasLongHeader(message) && message.pieces_done == 0) {
      if (mayCopy(message)) {
        message.began_at = nanoseconds() - static_cast<std::int64_t>(header.nanoseconds);
      }
      if (header.address != 0) {
        message.copy_from = header.address;
        accept(message);
        return false;
      }
    }
    const std::size_t bytes =
        std::min<std::size_t>(message.slot.grain, message.bytes - message.bytes_done);
    fetchLines<false>(cell + message.slot.payload, bytes);
    takePiece(channel, cell + message.slot.payload, bytes);
    ++message.pieces_done;
    if (message.bytes > message.slot.cells * std::size_t{message.slot.grain} || message.by_cells) {
      tellRead(message);
    }
    if (message.bytes_done == message.bytes) {
      if (message.contiguous && !message.by_cells && mayCopy(message)) tellTime(message);
      return true;
    }
  }
  return false;
}

/// Allows the sender to overwrite the pieces that have been read.
inline void PutTransport::tellRead(const Message& message) {
  CopyLine& line = lineOf(message);
  line.read.store(message.pieces_done, std::memory_order_release);
  if (message.pieces_done == 1) line.round.store(round_, std::memory_order_release);
}

/// For an offered message: publishes the address of its destination, if that is contiguous.
inline void PutTransport::accept(Message& message) {
  message.pieces_done = 1;  // the message has begun
  has_moved_ = true;
  if (!message.contiguous || message.taker != nullptr) return;
  lineOf(message).address.store(reinterpret_cast<std::uint64_t>(message.place.in(bases_)),
                                std::memory_order_release);
}

/// Reads a stretch of a message from its sender's memory; true: the message is complete.
bool PutTransport::pullSome(ChannelId channel) {
  Message& message = messages_[channel];
  const bool to_place = message.contiguous && message.taker == nullptr;
  // If both ranks send to each other, neither helps the other.
  const bool is_alone = !to_place || !sends_.empty();
  const std::size_t most = !to_place ? kMostApart : is_alone ? kMostAlone : 0;
  // For non-contiguous memory the stretches come in order, as only this end copies.
  const Stretch stretch = takeStretch(message, most);
  if (stretch.bytes > 0) {
    std::byte* to =
        to_place ? (message.place + stretch.begin).in(bases_) : segment_->copied().data();
    const Copied copied = segment_->copiesWith(message.member)
                              ? pull(segment_->processOf(message.member),
                                     message.copy_from + stretch.begin, to, stretch.bytes)
                              : Copied::kNotThese;
    if (!to_place && copied == Copied::kAll) takePiece(channel, to, stretch.bytes);
    if (!endStretch(message, stretch.bytes, copied)) return false;
  }
  const bool is_copied = isCopied(message);
  if (goesByCells(message)) return false;
  if (!is_copied) return false;
  tellTime(message);
  return true;
}

}  // namespace torc::runtime
