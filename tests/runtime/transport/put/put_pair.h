// Two members of one segment in this process, each with its own view of it, and messages between
// them.
#ifndef TORC_TESTS_RUNTIME_TRANSPORT_PUT_PUT_PAIR_H_
#define TORC_TESTS_RUNTIME_TRANSPORT_PUT_PUT_PAIR_H_

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/transport/inprocess_transport.h"
#include "runtime/transport/put/host_segment.h"
#include "runtime/transport/put/put_transport.h"

namespace torc::runtime {

/// Never completes: for messages that are not put.
class Nowhere final : public Transport {
 public:
  ChannelId prepare(const Envelope& envelope, const Segments&,
                    std::span<const std::size_t>) override {
    peers_.push_back({envelope.peer, envelope.sending});
    return static_cast<ChannelId>(peers_.size() - 1);
  }
  bool start(ChannelId) override { return true; }
  int poll(std::span<ChannelId>) override { return 0; }
  std::vector<Awaited> awaited(std::size_t) const override { return peers_; }

 private:
  std::vector<Awaited> peers_;
};

/// Two members of one segment.
inline std::vector<std::shared_ptr<HostSegment>> makePair(
    bool pulls = false, std::array<MemoryShare, 2> shares = {},
    const std::shared_ptr<MemoryShare>& of_both = nullptr) {
  StatusOr<SegmentFile> file = SegmentFile::make();
  EXPECT_TRUE(file.ok()) << file.status().message();
  std::vector<std::shared_ptr<HostSegment>> members;
  for (int me = 0; me < 2; ++me) {
    StatusOr<SegmentFile> opened = SegmentFile::open(file->name());
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    StatusOr<std::unique_ptr<HostSegment>> segment = HostSegment::over(
        *opened, 2, me, of_both != nullptr ? of_both : std::make_shared<MemoryShare>(shares[me]));
    EXPECT_TRUE(segment.ok()) << segment.status().message();
    members.push_back(std::move(*segment));
    members.back()->setMembers({0, 1}, {getpid(), getpid()});
    members.back()->setCopies(pulls);
  }
  return members;
}

/// A rank with messages to and from the other one; memory of its own for them.
struct Rank {
  Rank(std::shared_ptr<HostSegment> segment, LaneTrack track = HostSegment::kOneShotTrack,
       std::unique_ptr<Transport> beyond = std::make_unique<Nowhere>())
      : transport(std::move(segment), track, std::move(beyond), &sent) {}

  ChannelId add(bool sending, std::size_t bytes, std::uint32_t tag = 0, std::size_t gap = 0) {
    const std::size_t begin = memory.size();
    std::vector<Segment> segments;
    std::vector<RunLoop> loops;
    if (gap == 0) {
      segments.push_back({Place(Base::kOut, begin), bytes});
      memory.resize(begin + bytes);
    } else {
      // Runs of 3 bytes, `gap` apart.
      const auto runs = static_cast<std::uint32_t>(bytes / 3);
      loops.push_back({gap, 0, runs, runs});
      segments.push_back({Place(Base::kOut, begin), 3, 0, 1});
      memory.resize(begin + gap * runs);
    }
    if (bytes == 0) segments.clear();
    begins.push_back(begin);
    return transport.prepare({peer, tag, sending}, {segments, loops}, {});
  }
  void ready() {
    transport.commit();
    transport.bind({nullptr, memory.data(), nullptr, nullptr});
  }
  void begin(std::uint64_t call) {
    transport.bindTags({0, 1, TagSpace::hashOf(1, call)});
    transport.beginRound();
  }
  /// Number of complete messages after `looks` polls.
  int look(int looks = 1) {
    std::vector<ChannelId> completed(begins.size() + 1);
    int count = 0;
    while (looks-- > 0)
      count += std::max(0, transport.poll(completed));
    return count;
  }

  std::int32_t peer = 1;
  std::vector<std::byte> memory;
  std::vector<std::size_t> begins;
  SentBytes sent;
  PutTransport transport;
};

inline void fill(std::vector<std::byte>& memory, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < memory.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t number = random();
    std::memcpy(&memory[i], &number, std::min(sizeof(number), memory.size() - i));
  }
}

/// Stores received pieces.
struct Taker final : PieceTaker {
  void takePiece(ChannelId, std::size_t offset, const std::byte* data, std::size_t bytes) override {
    EXPECT_EQ(offset, taken.size());
    EXPECT_EQ(bytes % unit, 0u);
    EXPECT_TRUE(unit == 1 || reinterpret_cast<std::uintptr_t>(data) % 16 == 0);
    taken.insert(taken.end(), data, data + bytes);
  }
  std::size_t unit = 1;
  std::vector<std::byte> taken;
};

/// A pair with one message of `bytes` from a to b.
struct OneWay {
  explicit OneWay(std::size_t bytes = 8, LaneTrack track = HostSegment::kOneShotTrack,
                  std::vector<std::shared_ptr<HostSegment>> of = makePair(), std::size_t gap = 0)
      : members(std::move(of)),
        a(members[0], track, network.transport(0)),
        b(members[1], track, network.transport(1)) {
    b.peer = 0;
    a.add(true, bytes, 0, 0);
    b.add(false, bytes, 0, gap);
    a.ready();
    b.ready();
  }
  int send(std::uint64_t call) {
    a.begin(call);
    EXPECT_TRUE(a.transport.start(0));
    const int done = a.look(40);
    if (done > 0) a.transport.endRound();
    return done;
  }
  int receive(std::uint64_t call) {
    b.begin(call);
    EXPECT_TRUE(b.transport.start(0));
    const int done = b.look(40);
    if (done > 0) b.transport.endRound();
    return done;
  }

  /// A round of both ends; returns the number of complete messages.
  int round(std::uint64_t call) {
    for (Rank* rank : {&a, &b}) {
      rank->begin(call);
      EXPECT_TRUE(rank->transport.start(0));
    }
    int done = 0;
    for (int looks = 0; looks < 200 && done < 2; ++looks)
      done += a.look() + b.look();
    for (Rank* rank : {&a, &b})
      rank->transport.endRound();
    return done;
  }

  InProcessNetwork network{2, Delivery::kRendezvous};  // for messages that are not put
  std::vector<std::shared_ptr<HostSegment>> members;
  Rank a, b;
};

}  // namespace torc::runtime

#endif  // TORC_TESTS_RUNTIME_TRANSPORT_PUT_PUT_PAIR_H_
