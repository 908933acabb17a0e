// UCX group: the ranks of a communicator, as UCX reaches them. Messages are brought to the round
// that they are of, those that come before it begins are kept, and senders are held to their
// credit.
//
// Credit: a receiver has memory for kWindow bytes of each sender's that it has not come to yet. Who
// has used that up announces its messages (rendezvous), until it is told that they were taken.
//
// A message that UCX has taken may still have to be written by it, where a socket is full, for
// which nobody looks once the call is over. So what is under way to a rank is counted, too: while
// that is little, the system has all of it.
#ifndef TORC_RUNTIME_TRANSPORT_UCX_UCX_GROUP_H_
#define TORC_RUNTIME_TRANSPORT_UCX_UCX_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/transport/ucx/ucx_worker.h"
#include "support/status.h"

namespace torc::runtime {

/// A message that has arrived, or a piece of one. Its bytes are UCX's while UCX tells of them, but
/// for what is kept.
class UcxPiece {
 public:
  UcxPiece(UcxWorker& worker, const UcxHeader& header, void* data, std::size_t bytes,
           bool is_announced)
      : worker_(&worker),
        header_(header),
        data_(data),
        bytes_(bytes),
        is_announced_(is_announced) {}
  UcxPiece(UcxPiece&& other) noexcept;
  UcxPiece& operator=(UcxPiece&&) = delete;
  ~UcxPiece();

  const UcxHeader& header() const { return header_; }
  std::size_t bytes() const { return bytes_; }
  /// Its sender waits with the bytes until they are received.
  bool isAnnounced() const { return is_announced_; }
  const std::byte* data() const { return static_cast<const std::byte*>(data_); }

  /// Receives what is announced.
  void receive(UcxOperation& operation, std::byte* to);
  /// The same piece, to be looked at later.
  UcxPiece keep();
  /// Whether UCX must leave what is announced to whom it has told of it.
  bool isKept() const { return is_kept_; }

 private:
  UcxWorker* worker_;
  UcxHeader header_;
  void* data_;  // bytes, or UCX's announcement
  std::size_t bytes_;
  bool is_announced_;
  bool is_kept_ = false;
  bool is_owner_ = false;  // of an announcement that nobody has received
  std::unique_ptr<std::byte[]> copy_;
};

class UcxGroup {
 public:
  struct Member {
    std::string address;
    std::uint32_t number = 0;  // of the communicator there
    std::int32_t process = 0;  // of one of this host; 0: of another
  };

  static constexpr std::size_t kWindow = std::size_t{1} << 20;

  /// Of rank `rank`. Members are set once, before messages.
  UcxGroup(std::shared_ptr<UcxWorker> worker, std::int32_t rank);
  ~UcxGroup();
  UcxGroup(const UcxGroup&) = delete;
  UcxGroup& operator=(const UcxGroup&) = delete;
  void setMembers(std::vector<Member> members);

  UcxWorker& worker() { return *worker_; }
  /// By which messages to this rank name the communicator.
  std::uint32_t number() const { return number_; }

  /// Makes sure that there is a way to a rank. Errors: kTransport.
  Status connect(std::int32_t rank);
  /// Of a rank that is connected; UCS_OK, or why it cannot be reached any more.
  ucs_status_t statusOf(std::int32_t rank) const { return peer(rank).endpoint->status; }
  /// An error of kTransport where a rank is known to have ended, or cannot be reached any more.
  Status checkRunning(std::int32_t rank) const;
  /// Of a rank of this host, the process; else 0.
  std::int32_t processOf(std::int32_t rank) const {
    return members_[static_cast<std::size_t>(rank)].process;
  }

  /// Whether a message of so many bytes in so many pieces may be sent to a rank before that comes
  /// to it.
  bool hasCredit(std::int32_t rank, std::size_t bytes, std::size_t pieces) const {
    const Peer& to = peer(rank);
    return to.sent + bytes + pieces * kPieceCost <= to.consumed_there + kWindow;
  }
  /// Sends what the operation's header names by round, index, offset and message's length.
  /// `asks`: for an answer, if more is under way to the rank than is surely taken.
  void send(std::int32_t rank, UcxOperation& operation, const std::byte* data, std::size_t bytes,
            bool is_announced, bool asks);
  /// Whether all that was sent to a rank has surely left this process. Otherwise the rank will
  /// tell.
  bool isTaken(std::int32_t rank) const {
    return peer(rank).sent - peer(rank).arrived_there <= kSurelyTaken;
  }
  /// A piece is read.
  void consume(const UcxHeader& header);
  /// Tells senders what they have to know and no message has told.
  void answer();

  /// The round that is called so begins; what has come for it goes there.
  void begin(std::uint64_t name, UcxClient* client);
  void end(std::uint64_t name);
  /// Nobody will look for what comes of the round from now on.
  void abandon(std::uint64_t name);
  /// The number of the next round of a series of rounds, from 1 on.
  std::uint64_t nextOf(int series) { return ++series_[series]; }

  /// A piece has arrived. Throws std::bad_alloc.
  void take(UcxPiece& piece);

 private:
  // Of a piece, apart from its bytes.
  static constexpr std::size_t kPieceCost = 128;
  // Sockets of both ends have room for more.
  static constexpr std::size_t kSurelyTaken = 32 << 10;
  static constexpr std::uint32_t kAnswer = ~std::uint32_t{0};  // no message

  struct Peer {
    UcxEndpoint* endpoint = nullptr;
    std::uint64_t sent = 0, arrived_there = 0, consumed_there = 0;  // of what is counted
    std::uint64_t arrived = 0, consumed = 0, told_consumed = 0;     // of what comes from there
    bool is_owed = false;                                           // an answer
  };
  struct Arrivals {
    UcxClient* client = nullptr;  // null: the round has not begun
    std::vector<UcxPiece> early;  // then
  };

  Peer& peer(std::int32_t rank) { return peers_[static_cast<std::size_t>(rank)]; }
  const Peer& peer(std::int32_t rank) const { return peers_[static_cast<std::size_t>(rank)]; }
  void address(std::int32_t rank, UcxHeader& header);
  void owe(std::int32_t rank);

  std::shared_ptr<UcxWorker> worker_;
  std::int32_t rank_;
  std::uint32_t number_;
  std::vector<Member> members_;
  std::vector<Peer> peers_;
  std::vector<std::int32_t> owed_;  // ranks that are to be answered
  std::unordered_map<std::uint64_t, Arrivals> rounds_;
  std::unordered_set<std::uint64_t> abandoned_;  // rounds
  std::unordered_map<int, std::uint64_t> series_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_UCX_UCX_GROUP_H_
