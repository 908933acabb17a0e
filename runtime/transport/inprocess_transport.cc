// In-process transport: matching by (from, to, tag), copying, and the adversary.
#include "runtime/transport/inprocess_transport.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "support/hash.h"

namespace torc::runtime {

/// One rank's end of the network.
class InProcessTransport final : public Transport {
 public:
  InProcessTransport(InProcessNetwork* network, std::int32_t rank)
      : network_(network), rank_(rank) {}

  ChannelId prepare(const Envelope& envelope, const Segments& segments,
                    std::span<const std::size_t>) override {
    const ChannelId channel = static_cast<ChannelId>(channels_.size());
    channels_.push_back({network_->connect(rank_, envelope, channel, segments), envelope.sending});
    return channel;
  }
  void commit() override { network_->commit(rank_, channels_.size()); }
  void bind(const Bases& bases) override {
    network_->bases_[static_cast<std::size_t>(rank_)] = bases;
  }

  bool start(ChannelId channel) override {
    return network_->start(channels_[channel].link, channels_[channel].sending);
  }
  int poll(std::span<ChannelId> completed) override {
    if (!network_->status_.ok()) return -1;
    return static_cast<int>(network_->poll(rank_, completed));
  }
  Status status() const override { return network_->status_; }

 private:
  struct Channel {
    std::uint32_t link;
    bool sending;
  };

  InProcessNetwork* network_;
  std::int32_t rank_;
  std::vector<Channel> channels_;
};

namespace {

std::string describe(std::int32_t from, std::int32_t to, std::uint32_t tag) {
  return "message from rank " + std::to_string(from) + " to rank " + std::to_string(to) + ", tag " +
         std::to_string(tag);
}

/// Copies the bytes of `from` to `to`; both have equally many.
void copySegments(const Segments& from, const Bases& from_bases, const Segments& to,
                  const Bases& to_bases) {
  SegmentWalk source(from), target(to);
  while (!source.done() && !target.done()) {
    const std::size_t bytes = std::min(source.available(), target.available());
    std::memcpy(target.place().in(to_bases), source.place().in(from_bases), bytes);
    source.skip(bytes);
    target.skip(bytes);
  }
}

}  // namespace

InProcessNetwork::InProcessNetwork(std::int32_t ranks, Delivery delivery, std::uint64_t seed)
    : delivery_(delivery),
      random_(seed),
      done_(static_cast<std::size_t>(ranks)),
      bases_(static_cast<std::size_t>(ranks)) {}

InProcessNetwork::~InProcessNetwork() = default;

std::unique_ptr<Transport> InProcessNetwork::transport(std::int32_t rank) {
  return std::make_unique<InProcessTransport>(this, rank);
}

std::size_t InProcessNetwork::LinkKeyHash::operator()(const LinkKey& key) const {
  return hashNumbers(key.from, key.to, key.tag);
}

bool InProcessNetwork::busy() const {
  return !moving_.empty() ||
         std::ranges::any_of(done_, [](const auto& channels) { return !channels.empty(); });
}

std::uint32_t InProcessNetwork::connect(std::int32_t rank, const Envelope& envelope,
                                        ChannelId channel, const Segments& segments) {
  const std::int32_t from = envelope.sending ? rank : envelope.peer;
  const std::int32_t to = envelope.sending ? envelope.peer : rank;
  const std::uint32_t tag = envelope.tag;
  const auto ranks = static_cast<std::int32_t>(done_.size());
  if (from < 0 || to < 0 || from >= ranks || to >= ranks) {
    status_ = {StatusCode::kInvalidArgument,
               describe(from, to, tag) + ": the job has " + std::to_string(ranks) + " ranks"};
    return 0;
  }
  auto [entry, added] =
      link_of_.try_emplace({from, to, tag}, static_cast<std::uint32_t>(links_.size()));
  if (added) links_.emplace_back().tag = tag;
  Link& link = links_[entry->second];
  Side& side = envelope.sending ? link.send : link.recv;
  if (side.prepared) {
    status_ = {StatusCode::kMismatch, describe(from, to, tag) + ": the tag is used twice"};
  }
  side.runs = runs_.add(segments);
  side.bytes = segments.bytes();
  side.rank = rank;
  side.channel = channel;
  side.prepared = true;
  return entry->second;
}

void InProcessNetwork::commit(std::int32_t rank, std::size_t channels) {
  done_[rank].reserve(channels);
  moving_.reserve(links_.size());
  if (delivery_ == Delivery::kEager) {
    for (Link& link : links_)
      link.kept.resize(link.send.bytes);
  }
}

bool InProcessNetwork::lengthsAgree(const Link& link) {
  if (link.send.bytes == link.recv.bytes) return true;
  status_ =
      Status(StatusCode::kMismatch, describe(link.send.rank, link.recv.rank, link.tag) + ": " +
                                        std::to_string(link.send.bytes) + " bytes sent, " +
                                        std::to_string(link.recv.bytes) + " bytes expected");
  return false;
}

void InProcessNetwork::report(Side& side) {
  side.started = false;
  done_[side.rank].push_back(side.channel);
}

void InProcessNetwork::move(Link& link) {
  copySegments(runs_[link.send.runs], basesOf(link.send), runs_[link.recv.runs],
               basesOf(link.recv));
  ++messages_;
  bytes_ += link.send.bytes;
}

/// Moves a message and reports it to both sides.
void InProcessNetwork::deliver(Link& link) {
  move(link);
  report(link.send);
  report(link.recv);
}

bool InProcessNetwork::start(std::uint32_t index, bool sending) {
  if (!status_.ok()) return false;
  Link& link = links_[index];
  Side& side = sending ? link.send : link.recv;
  side.started = true;
  if (delivery_ == Delivery::kEager) return startEager(link);
  if (delivery_ == Delivery::kAdversarial && !sending) {
    runs_[side.runs].forEachRun(basesOf(side), [](std::byte* memory, std::size_t bytes) {
      std::memset(memory, 0xa5, bytes);
    });
  }
  if (!link.send.started || !link.recv.started) return true;
  if (!lengthsAgree(link)) return false;
  if (delivery_ == Delivery::kAdversarial) {
    moving_.push_back(index);
    return true;
  }
  deliver(link);
  return true;
}

bool InProcessNetwork::startEager(Link& link) {
  if (link.recv.started && (link.full || link.send.started)) {
    if (!lengthsAgree(link)) return false;
    if (link.full) {
      const std::byte* kept = link.kept.data();
      runs_[link.recv.runs].forEachRun(basesOf(link.recv),
                                       [&](std::byte* memory, std::size_t bytes) {
                                         std::memcpy(memory, kept, bytes);
                                         kept += bytes;
                                       });
      ++messages_;
      bytes_ += link.kept.size();
      link.full = false;
    } else {
      move(link);
      report(link.send);
    }
    report(link.recv);
  }
  if (link.send.started && !link.full) {
    std::byte* kept = link.kept.data();
    runs_[link.send.runs].forEachRun(basesOf(link.send), [&](std::byte* memory, std::size_t bytes) {
      std::memcpy(kept, memory, bytes);
      kept += bytes;
    });
    link.full = true;
    report(link.send);
  }
  return true;
}

std::size_t InProcessNetwork::poll(std::int32_t rank, std::span<ChannelId> completed) {
  std::vector<ChannelId>& done = done_[rank];
  if (delivery_ != Delivery::kAdversarial) {
    const std::size_t count = std::min(completed.size(), done.size());
    const auto end = done.begin() + static_cast<std::ptrdiff_t>(count);
    std::copy(done.begin(), end, completed.begin());
    done.erase(done.begin(), end);
    return count;
  }
  if (!moving_.empty() && random_() % 2 == 0) {
    std::swap(moving_[random_() % moving_.size()], moving_.back());
    deliver(links_[moving_.back()]);
    moving_.pop_back();
  }
  if (completed.empty() || done.empty() || random_() % 2 == 0) return 0;
  std::swap(done[random_() % done.size()], done.back());
  completed[0] = done.back();
  done.pop_back();
  return 1;
}

}  // namespace torc::runtime
