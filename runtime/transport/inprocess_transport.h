// In-process transport: all ranks in one thread, messages are copies. For tests, and to measure the
// cost of replay without a network.
#ifndef TORC_RUNTIME_TRANSPORT_INPROCESS_TRANSPORT_H_
#define TORC_RUNTIME_TRANSPORT_INPROCESS_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "runtime/non_copyable.h"
#include "runtime/transport/transport.h"

namespace torc::runtime {

enum class Delivery : std::uint8_t {
  /// A message moves, and completes on both sides, when both sides have started it. Nothing is
  /// buffered: a schedule that needs buffering deadlocks.
  kRendezvous,
  /// A send completes at once, its bytes kept until the receive starts; one message per channel.
  kEager,
  /// Rendezvous with an adversary: a message moves at a random time after both sides started. Each
  /// side learns of it at another time, in any order; until then the receiver's memory holds
  /// garbage. Finds missing dependences.
  kAdversarial,
};

/// The medium between the ranks of one job. Not thread-safe; outlives its transports.
class InProcessNetwork : NonCopyable {
 public:
  InProcessNetwork(std::int32_t ranks, Delivery delivery, std::uint64_t seed = 0);
  ~InProcessNetwork();

  /// The transport of `rank`; one per rank.
  std::unique_ptr<Transport> transport(std::int32_t rank);

  /// Whether a message is active: a later poll will report a completion.
  bool busy() const;

  std::uint64_t messages() const { return messages_; }  // moved so far
  std::uint64_t bytes() const { return bytes_; }

 private:
  friend class InProcessTransport;

  /// One side of a channel.
  struct Side {
    SegmentTable::Range runs;
    std::size_t bytes = 0;
    std::int32_t rank = -1;
    ChannelId channel = 0;
    bool prepared = false;
    bool started = false;
  };
  /// A channel: the messages from one rank to another under one tag.
  struct Link {
    Side send, recv;
    std::uint32_t tag = 0;
    std::vector<std::byte> kept;  // eager: bytes of a send that completed before its receive
    bool full = false;
  };
  struct LinkKey {
    std::int32_t from, to;
    std::uint32_t tag;
    bool operator==(const LinkKey&) const = default;
  };
  struct LinkKeyHash {
    std::size_t operator()(const LinkKey& key) const;
  };
  std::uint32_t connect(std::int32_t rank, const Envelope& envelope, ChannelId channel,
                        const Segments& segments);
  void commit(std::int32_t rank, std::size_t channels);
  const Bases& basesOf(const Side& side) const {
    return bases_[static_cast<std::size_t>(side.rank)];
  }
  bool start(std::uint32_t link, bool sending);
  bool startEager(Link& link);
  void move(Link& link);
  void deliver(Link& link);
  void report(Side& side);
  std::size_t poll(std::int32_t rank, std::span<ChannelId> completed);
  bool lengthsAgree(const Link& link);

  Delivery delivery_;
  std::mt19937_64 random_;
  SegmentTable runs_;
  std::vector<Link> links_;
  std::unordered_map<LinkKey, std::uint32_t, LinkKeyHash> link_of_;
  // By rank: channels that are complete and not reported.
  std::vector<std::vector<ChannelId>> done_;
  std::vector<Bases> bases_;           // by rank
  std::vector<std::uint32_t> moving_;  // adversarial: started on both sides, not moved
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  Status status_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_INPROCESS_TRANSPORT_H_
