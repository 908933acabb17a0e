// UCX transport: messages sent in pieces, pieces that arrive, and what waits for that.
#include "runtime/transport/ucx/ucx_transport.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "runtime/transport/put/process_memory.h"
#include "support/hash.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

// Of a piece: UCX's TCP delivers so much from where it has read it.
constexpr std::size_t kUcxPieceBytes = 48 << 10;
// Of a message that is sent before its receiver asks for it.
constexpr std::size_t kMostAtOnce = 512 << 10;
// Fruitless looks, of some tenths of a microsecond, after which the medium gets on.
constexpr unsigned kUcxLooksBeforeMedium = 32;
// Without a movement, for which done messages wait for answers to be taken.
constexpr std::chrono::milliseconds kMostStillness{500};
// Addresses from which operations may read any type.
constexpr std::uintptr_t kAligned = alignof(std::max_align_t);
// Between two looks whether the processes that are waited for have ended.
constexpr std::chrono::milliseconds kBetweenLooks{500};
// Looks that UCX gets while it has something to do.
constexpr int kLooksInARow = 16;

}  // namespace

UcxTransport::UcxTransport(std::shared_ptr<UcxGroup> group, int series,
                           std::unique_ptr<Transport> medium, SentBytes* sent)
    : group_(std::move(group)), series_(series), medium_(std::move(medium)), sent_(sent) {}

UcxTransport::~UcxTransport() {
  endRound();
  for (UcxOperation* operation : operations_)
    operation->owner = nullptr;
}

// ---- Messages

StatusOr<ChannelId> UcxTransport::prepareSend(std::int32_t peer, std::uint32_t tag,
                                              const Segments& segments,
                                              std::span<const std::size_t>, SendMode mode) {
  if (mode == SendMode::kSynchronous) {
    return Status(StatusCode::kUnsupported, "UCX does not tell when a receive begins");
  }
  return prepare(true, peer, tag, segments);
}

StatusOr<ChannelId> UcxTransport::prepareRecv(std::int32_t peer, std::uint32_t tag,
                                              const Segments& segments,
                                              std::span<const std::size_t>) {
  return prepare(false, peer, tag, segments);
}

StatusOr<ChannelId> UcxTransport::prepare(bool sending, std::int32_t peer, std::uint32_t tag,
                                          const Segments& segments) {
  Message& message = messages_.emplace_back();
  message.rank = peer;
  message.tag = tag;
  message.sending = sending;
  message.bytes = segments.bytes();
  message.contiguous = segments.list.size() == 1 && segments.list[0].loop_count == 0;
  if (message.contiguous) message.place = segments.list[0].place;
  message.first_run = static_cast<std::uint32_t>(runs_.size());
  message.run_count = static_cast<std::uint32_t>(segments.list.size());
  for (const Segment& segment : segments.list) {
    runs_.push_back(segment);
    runs_.back().first_loop = addLoops(segments.loopsOf(segment), loops_);
  }
  return static_cast<ChannelId>(messages_.size() - 1);
}

Segments UcxTransport::segmentsOf(const Message& message) const {
  return {std::span(runs_).subspan(message.first_run, message.run_count), loops_};
}

/// Both ends count the messages of a pair in the order of their tags.
Status UcxTransport::commit() {
  std::vector<ChannelId> order(messages_.size());
  for (ChannelId channel = 0; channel < order.size(); ++channel)
    order[channel] = channel;
  const auto pairOf = [&](ChannelId channel) {
    return std::tuple(messages_[channel].sending, messages_[channel].rank);
  };
  std::ranges::sort(order, {}, [&](ChannelId channel) {
    return std::tuple_cat(pairOf(channel), std::tuple(messages_[channel].tag));
  });
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const auto [sending, rank] = pairOf(order[begin]);
    const auto first = static_cast<std::uint32_t>(channel_of_.size());
    for (; end < order.size() && pairOf(order[end]) == pairOf(order[begin]); ++end) {
      messages_[order[end]].index = static_cast<std::uint32_t>(end - begin);
      if (!sending) channel_of_.push_back(order[end]);
    }
    if (!sending) sources_.push_back({rank, first, static_cast<std::uint32_t>(end - begin)});
  }
  done_.reserve(messages_.size());
  waiting_.reserve(messages_.size());
  looked_through_.reserve(messages_.size());
  return {};
}

Status UcxTransport::bind(const Bases& bases) {
  bases_ = bases;
  return {};
}

/// What is announced goes to its place at once, from where it is reduced.
bool UcxTransport::handOver(ChannelId channel, PieceTaker* taker, std::size_t unit) {
  Message& message = messages_[channel];
  if (message.bytes > kMostAtOnce) return false;
  if (message.bytes > kUcxPieceBytes && kUcxPieceBytes % unit != 0) return false;
  message.taker = taker;
  group_->worker().room(kUcxPieceBytes);
  return true;
}

std::size_t UcxTransport::tableBytes() const {
  auto bytes = [](const auto& table) { return table.capacity() * sizeof(table[0]); };
  return sizeof(*this) + bytes(messages_) + bytes(runs_) + bytes(loops_) + bytes(sources_) +
         bytes(channel_of_) + bytes(operations_) + bytes(done_);
}

/// Calls `visit(memory, bytes)` for the runs of `bytes` of a message from `offset` on.
template <typename Visit>
inline void UcxTransport::forEachRun(const Message& message, std::size_t offset, std::size_t bytes,
                                     Visit visit) const {
  if (message.contiguous) return visit((message.place + offset).in(bases_), bytes);
  SegmentWalk walk(segmentsOf(message));
  while (bytes > 0) {
    const std::size_t available = walk.available();
    if (offset >= available) {
      offset -= available;
      walk.skip(available);
      continue;
    }
    const std::size_t some = std::min(bytes, available - offset);
    visit((walk.place() + offset).in(bases_), some);
    walk.skip(offset + some);
    offset = 0;
    bytes -= some;
  }
}

// ---- Rounds

void UcxTransport::beginRound() {
  round_ = series_ == kOneShot ? call_ : hashNumbers(series_, group_->nextOf(series_));
  in_round_ = true;
  fruitless_ = 0;
  is_still_ = false;
  guarded([&] { group_->begin(round_, this); });
}

template <typename Body>
void UcxTransport::guarded(Body&& body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    status_ = {StatusCode::kNoMemory, "no memory for a message by UCX"};
  }
}

void UcxTransport::endRound() {
  if (std::exchange(in_round_, false)) group_->end(round_);
}

void UcxTransport::abandon() {
  if (std::exchange(in_round_, false)) group_->abandon(round_);
  for (Message& message : messages_) {
    message.is_active = false;
    for (const UcxPiece& piece : message.early)
      group_->consume(piece.header());
    message.early.clear();
  }
  done_.clear();
  waiting_.clear();
}

bool UcxTransport::drained() {
  if (!operations_.empty()) group_->worker().progress();
  return operations_.empty();
}

// ---- What is sent

/// An operation of a message, which is begun next.
UcxOperation& UcxTransport::makeOperation(ChannelId channel) {
  UcxOperation& operation = group_->worker().makeOperation();
  operation.owner = this;
  operation.channel = channel;
  operation.length = 0;
  operation.place = operations_.size();
  operations_.push_back(&operation);
  ++messages_[channel].operations;
  return operation;
}

bool UcxTransport::start(ChannelId channel) {
  guarded([&] { begin(channel); });
  return status_.ok();
}

void UcxTransport::begin(ChannelId channel) {
  Message& message = messages_[channel];
  if (Status status = group_->connect(message.rank); !status.ok()) {
    status_ = status.annotated(torc::message("rank ", message.rank));
    return;
  }
  message.is_active = true;
  message.must_be_taken = false;
  message.bytes_left = message.length = message.bytes;
  message.pieces_left = message.bytes == 0 ? 1 : 0;
  if (!message.sending) {
    for (UcxPiece& piece : std::exchange(message.early, {}))
      receive(channel, piece);
    if (const ucs_status_t status = group_->statusOf(message.rank);
        message.is_active && status != UCS_OK) {
      fail(message.rank, status);
    }
    return;
  }
  if (sent_ != nullptr) sent_->ucx += message.bytes;
  const std::size_t pieces =
      std::max<std::size_t>(1, (message.bytes + kUcxPieceBytes - 1) / kUcxPieceBytes);
  // Nothing is over before all of it has begun.
  ++message.operations;
  if (message.bytes == 0 ||
      (message.bytes <= kMostAtOnce && group_->hasCredit(message.rank, message.bytes, pieces))) {
    const std::size_t last = (pieces - 1) * kUcxPieceBytes;
    for (std::size_t offset = 0; offset < last; offset += kUcxPieceBytes)
      send(channel, offset, kUcxPieceBytes, false, false);
    // That UCX has taken them does not say that they are written.
    message.must_be_taken = true;
    send(channel, last, message.bytes - last, false, true);
  } else {
    send(channel, 0, message.bytes, true, false);
  }
  message.bytes_left = message.pieces_left = 0;
  --message.operations;
  finishIfOver(channel);
}

void UcxTransport::send(ChannelId channel, std::size_t offset, std::size_t bytes, bool is_announced,
                        bool asks) {
  const Message& message = messages_[channel];
  std::unique_ptr<std::byte[]> packed_bytes;
  if (!message.contiguous && bytes > 0) {
    packed_bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
  }
  UcxOperation& operation = makeOperation(channel);
  operation.header.round = round_;
  operation.header.message_bytes = message.bytes;
  operation.header.offset = offset;
  operation.header.index = message.index;
  const std::byte* data = nullptr;
  if (message.contiguous) {
    data = (message.place + offset).in(bases_);
  } else if (bytes > 0) {
    operation.bytes = std::move(packed_bytes);
    std::byte* packed = operation.bytes.get();
    data = packed;
    forEachRun(message, offset, bytes, [&](const std::byte* memory, std::size_t some) {
      std::memcpy(packed, memory, some);
      packed += some;
    });
  }
  group_->send(message.rank, operation, data, bytes, is_announced, asks);
}

void UcxTransport::complete(UcxOperation& operation, ucs_status_t status) {
  operations_[operation.place] = operations_.back();
  operations_[operation.place]->place = operation.place;
  operations_.pop_back();
  const ChannelId channel = operation.channel;
  Message& message = messages_[channel];
  --message.operations;
  if (!message.is_active) return;
  if (status != UCS_OK) return fail(message.rank, status);
  if (!message.sending && operation.length > 0) {
    if (operation.bytes != nullptr) {
      deliver(channel, operation.header.offset, operation.bytes.get(), operation.length);
    }
    message.bytes_left -= operation.length;
    // Its sender waits for UCX's answer.
    message.must_be_taken = true;
  }
  finishIfOver(channel);
}

inline void UcxTransport::finishIfOver(ChannelId channel) {
  Message& message = messages_[channel];
  if (!message.is_active || message.operations > 0 || message.bytes_left > 0 ||
      message.pieces_left > 0) {
    return;
  }
  if (message.must_be_taken && !group_->isTaken(message.rank)) {
    waiting_.push_back(channel);
    return;
  }
  message.is_active = false;
  done_.push_back(channel);
}

// ---- What arrives

void UcxTransport::arrive(UcxPiece& piece) {
  const UcxHeader& header = piece.header();
  const auto source = std::ranges::lower_bound(sources_, header.rank, {}, &Source::rank);
  if (source == sources_.end() || source->rank != header.rank || header.index >= source->count) {
    status_ = {StatusCode::kTruncated, torc::message("a message from rank ", header.rank,
                                                     " is not expected: the ranks' calls differ")};
    return;
  }
  const ChannelId channel = channel_of_[source->first + header.index];
  Message& message = messages_[channel];
  if (message.is_active) {
    receive(channel, piece);
  } else {
    message.early.push_back(piece.keep());
  }
}

void UcxTransport::receive(ChannelId channel, UcxPiece& piece) {
  Message& message = messages_[channel];
  const UcxHeader& header = piece.header();
  group_->consume(header);
  if (shorter_ != nullptr && message.contiguous && header.message_bytes < message.length &&
      message.length == message.bytes && message.bytes_left == message.bytes) {
    message.length = message.bytes_left = header.message_bytes;
    shorter_->push_back({message.place.in(bases_), message.length});
  }
  if (header.message_bytes != message.length || header.offset > message.length ||
      piece.bytes() > message.length - header.offset) {
    status_ = {
        StatusCode::kTruncated,
        torc::message("a message from rank ", message.rank, " has ", header.message_bytes,
                      " bytes where ", message.bytes, " are expected: the ranks' calls differ")};
    return;
  }
  message.pieces_left = 0;
  if (piece.isAnnounced()) {
    const bool to_place = message.contiguous && message.taker == nullptr;
    std::unique_ptr<std::byte[]> room;
    if (!to_place) room = std::make_unique_for_overwrite<std::byte[]>(piece.bytes());
    UcxOperation& operation = makeOperation(channel);
    operation.header = header;
    operation.length = piece.bytes();
    operation.bytes = std::move(room);
    return piece.receive(
        operation, to_place ? (message.place + header.offset).in(bases_) : operation.bytes.get());
  }
  deliver(channel, header.offset, piece.data(), piece.bytes());
  message.bytes_left -= piece.bytes();
  finishIfOver(channel);
}

inline void UcxTransport::deliver(ChannelId channel, std::size_t offset, const std::byte* data,
                                  std::size_t bytes) {
  const Message& message = messages_[channel];
  if (message.taker != nullptr) {
    if (reinterpret_cast<std::uintptr_t>(data) % kAligned != 0) {
      data = static_cast<const std::byte*>(std::memcpy(group_->worker().room(bytes), data, bytes));
    }
    return message.taker->takePiece(channel, offset, data, bytes);
  }
  if (bytes == 0) return;
  forEachRun(message, offset, bytes, [&](std::byte* memory, std::size_t some) {
    std::memcpy(memory, data, some);
    data += some;
  });
}

// ---- Progress

int UcxTransport::poll(std::span<ChannelId> completed) {
  UcxWorker& worker = group_->worker();
  bool has_moved = false;
  for (int looks = 0;
       looks < kLooksInARow && (done_.empty() || worker.answers() > 0) && worker.progress();
       ++looks)
    has_moved = true;
  group_->answer();
  std::swap(waiting_, looked_through_);
  for (const ChannelId channel : looked_through_)
    finishIfOver(channel);
  looked_through_.clear();
  if (worker.failures() != failures_) lookForFailures();
  if (!status_.ok()) return -1;
  if (has_moved || (!done_.empty() && worker.answers() == 0)) {
    fruitless_ = 0;
    is_still_ = false;
  } else if (++fruitless_ % kUcxLooksBeforeMedium == 0) {
    medium_->progressMedium();
    lookForEnded();
    if (!status_.ok()) return -1;
  }
  // Nobody may look after UCX once the call is over. A rank that has ended is not waited for.
  if (worker.answers() > 0 && !is_still_) return 0;
  std::ranges::copy(done_, completed.begin());
  const int count = static_cast<int>(done_.size());
  done_.clear();
  return count;
}

void UcxTransport::progressMedium() {
  group_->worker().progress();
  group_->answer();
  medium_->progressMedium();
}

void UcxTransport::fail(std::int32_t rank, ucs_status_t status) {
  if (!status_.ok()) return;
  status_ = {StatusCode::kTransport,
             torc::message("rank ", rank, " cannot be reached any more: UCX says '",
                           group_->worker().ucp().status_string(status), "'")};
}

void UcxTransport::lookForFailures() {
  failures_ = group_->worker().failures();
  if (!group_->worker().fault().ok()) status_ = group_->worker().fault();
  for (const Message& message : messages_) {
    if (!message.is_active) continue;
    const ucs_status_t status = group_->statusOf(message.rank);
    if (status != UCS_OK) fail(message.rank, status);
  }
}

/// Of the processes of this host that are waited for, now and then.
void UcxTransport::lookForEnded() {
  const auto now = std::chrono::steady_clock::now();
  if (fruitless_ == kUcxLooksBeforeMedium) looked_at_ = still_since_ = now;
  is_still_ = now - still_since_ > kMostStillness;
  if (now - looked_at_ < kBetweenLooks) return;
  looked_at_ = now;
  for (const Message& message : messages_) {
    const std::int32_t process = message.is_active ? group_->processOf(message.rank) : 0;
    if (process == 0 || !hasEnded(process)) continue;
    if (group_->worker().progress()) return;  // what it has sent before
    status_ = {StatusCode::kTransport,
               torc::message("rank ", message.rank, " (process ", process,
                             " of this host) has ended before it has ",
                             message.sending ? "received" : "sent", " a message")};
    return;
  }
}

std::vector<Transport::Awaited> UcxTransport::awaited(std::size_t limit) const {
  std::vector<Awaited> peers;
  for (const Message& message : messages_) {
    const Awaited peer{message.rank, message.sending};
    if (peers.size() < limit && message.is_active &&
        std::ranges::find(peers, peer) == peers.end()) {
      peers.push_back(peer);
    }
  }
  return peers;
}

}  // namespace torc::runtime
