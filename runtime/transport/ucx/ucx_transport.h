// UCX transport: messages by UCX's active messages. Each says of which round and which of the
// pair's messages it is, so that it goes to its place as it arrives; nothing is matched.
//
// A message of at most kMostAtOnce bytes is sent at once, in pieces: what has come is reduced or
// copied from where it is delivered while more is under way. A longer one is announced, and its
// receiver fetches it to its place (UCX's rendezvous); so are all while a receiver has not come to
// what was sent before (ucx_group.h).
#ifndef TORC_RUNTIME_TRANSPORT_UCX_UCX_TRANSPORT_H_
#define TORC_RUNTIME_TRANSPORT_UCX_UCX_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/transport/transport.h"
#include "runtime/transport/ucx/ucx_group.h"

namespace torc::runtime {

class UcxTransport final : public UcxClient {
 public:
  /// Rounds are named by `bindTags`.
  static constexpr int kOneShot = -1;

  /// Rounds are those of a series, the same on all ranks, of which one is under way at a time.
  /// `medium` has no messages, but may have to move on. `sent` outlives the transport.
  UcxTransport(std::shared_ptr<UcxGroup> group, int series, std::unique_ptr<Transport> medium,
               SentBytes* sent = nullptr);
  ~UcxTransport() override;
  UcxTransport(const UcxTransport&) = delete;
  UcxTransport& operator=(const UcxTransport&) = delete;

  StatusOr<ChannelId> prepareSend(std::int32_t peer, std::uint32_t tag, const Segments& segments,
                                  std::span<const std::size_t> fragments, SendMode mode) override;
  StatusOr<ChannelId> prepareRecv(std::int32_t peer, std::uint32_t tag, const Segments& segments,
                                  std::span<const std::size_t> fragments) override;
  Status commit() override;
  Status bind(const Bases& bases) override;
  bool handOver(ChannelId channel, PieceTaker* taker, std::size_t unit) override;
  void bindTags(const TagRange& tags) override { call_ = tags.call; }
  void takeShorter(std::vector<ShortMessage>* told) override { shorter_ = told; }
  void beginRound() override;
  void endRound() override;
  bool start(ChannelId channel) override;
  int poll(std::span<ChannelId> completed) override;
  void abandon() override;
  bool drained() override;
  void progressMedium() override;
  std::vector<Awaited> awaited(std::size_t limit) const override;
  std::size_t tableBytes() const override;
  Status status() const override { return status_; }

 private:
  /// A message, from its preparation on.
  struct Message {
    std::int32_t rank = 0;
    std::uint32_t tag = 0;
    bool sending = false;
    bool contiguous = false;
    std::uint32_t index = 0;  // among those of the pair that go this way
    std::size_t bytes = 0;
    Place place;  // of a contiguous one
    std::uint32_t first_run = 0, run_count = 0;
    PieceTaker* taker = nullptr;
    // Of the round.
    bool is_active = false;
    std::size_t length = 0;         // of what comes, once that is known
    bool must_be_taken = false;     // what was sent to the rank, before this is over
    std::uint32_t operations = 0;   // under way
    std::size_t bytes_left = 0;     // to be sent or received
    std::uint32_t pieces_left = 0;  // 1 for one without bytes that has not come
    std::vector<UcxPiece> early;    // that came before it was started
  };
  /// Messages from a rank: their channels, in the order of their indices.
  struct Source {
    std::int32_t rank = 0;
    std::uint32_t first = 0, count = 0;
  };

  StatusOr<ChannelId> prepare(bool sending, std::int32_t peer, std::uint32_t tag,
                              const Segments& segments);
  Segments segmentsOf(const Message& message) const;
  template <typename Visit>
  void forEachRun(const Message& message, std::size_t offset, std::size_t bytes, Visit visit) const;
  UcxOperation& makeOperation(ChannelId channel);
  void begin(ChannelId channel);
  void send(ChannelId channel, std::size_t offset, std::size_t bytes, bool is_announced, bool asks);

  void arrive(UcxPiece& piece) override;
  void receive(ChannelId channel, UcxPiece& piece);
  void deliver(ChannelId channel, std::size_t offset, const std::byte* data, std::size_t bytes);
  void complete(UcxOperation& operation, ucs_status_t status) override;
  void finishIfOver(ChannelId channel);
  void fail(std::int32_t rank, ucs_status_t status);
  void lookForFailures();
  void lookForEnded();
  /// Runs `body`; a lack of memory becomes the status.
  template <typename Body>
  void guarded(Body&& body);

  std::shared_ptr<UcxGroup> group_;
  int series_;
  std::unique_ptr<Transport> medium_;
  Bases bases_{};
  std::vector<Message> messages_;
  std::vector<Segment> runs_;
  std::vector<RunLoop> loops_;
  std::vector<Source> sources_;            // by rank
  std::vector<ChannelId> channel_of_;      // of their messages
  std::vector<UcxOperation*> operations_;  // under way

  // Of the round.
  std::uint64_t call_ = 0;  // of a one-shot round, by bindTags
  std::uint64_t round_ = 0;
  bool in_round_ = false;
  std::vector<ChannelId> done_;                        // to be reported
  std::vector<ChannelId> waiting_, looked_through_;    // over, once what was sent is taken
  unsigned fruitless_ = 0;                             // looks
  std::chrono::steady_clock::time_point looked_at_;    // whether peers have ended
  std::chrono::steady_clock::time_point still_since_;  // when fruitless looks began
  bool is_still_ = false;                              // for longer than answers are waited for
  std::uint64_t failures_ = 0;                         // of the worker, that were looked at
  SentBytes* sent_;                                    // null: not counted
  std::vector<ShortMessage>* shorter_ = nullptr;       // null: none are taken
  Status status_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_UCX_UCX_TRANSPORT_H_
