// Loops over peers in expansion: the peers of a rank in order, and its flat program.
#include "schedules/expansion/peers.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "schedules/expansion/expand.h"
#include "schedules/validation/validate.h"
#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

Counts countOf(std::uint64_t count) {
  return {.count = count, .per_rank = {}, .displacements = {}};
}

/// A direct all-to-all on `shape`, and a copy of the own block that waits for all of the result.
Schedule direct(const char* shape, PeerOrder order) {
  Schedule schedule = samples::directAlltoall(shape);
  schedule.peer_loops[0].order = order;
  constexpr std::uint32_t kOwn = 0;  // the pair of boxes of the own block
  schedule.frames = {{0, kOwn, 0, 0}};
  schedule.slot_count = 1;
  Operation last;
  last.kind = OperationKind::kCopy;
  last.dst = boxRegion(Buffer::kScratch, 0, kOwn, 0);
  last.a = boxRegion(Buffer::kOut, 0, kOwn);
  last.dependence_count = 2;
  schedule.operations.push_back(last);
  schedule.dependences = {0, 2};  // the copy and the receives
  return schedule;
}

TEST(PeerLoop, ShiftsAreAllButTheOrigin) {
  PeerLoop peers;
  peers.first = {-1, 0};
  peers.count = {3, 2};
  EXPECT_EQ(shiftsOf(peers, 0, 0), (std::vector<Shift>{{-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}));
  peers.order = PeerOrder::kShuffled;
  std::set<std::vector<Shift>> orders;
  for (std::int32_t rank = 0; rank < 20; ++rank) {
    std::vector<Shift> shifts = shiftsOf(peers, rank, 7);
    EXPECT_EQ(shifts, shiftsOf(peers, rank, 7));
    orders.insert(shifts);
    std::ranges::sort(shifts);
    EXPECT_EQ(shifts.size(), peers.size());
    EXPECT_EQ(std::ranges::adjacent_find(shifts), shifts.end());
    EXPECT_EQ(std::ranges::count(shifts, Shift{}), 0);
  }
  EXPECT_GT(orders.size(), 10u);
}

TEST(PeerLoop, ExpandsToAMessagePerPeer) {
  const Schedule schedule = direct("3x2", PeerOrder::kShuffled);
  ASSERT_TRUE(validate(schedule.view()).ok()) << validate(schedule.view()).message();
  const auto program = expand(schedule.view(), 4, countOf(10));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->in_elements, 60u);
  EXPECT_EQ(program->out_elements, 60u);
  std::set<std::int32_t> sent, received;
  for (const FlatOperation& operation : program->operations) {
    if (!sends(operation.kind) && !receives(operation.kind)) continue;
    const FlatRegion& region = sends(operation.kind) ? operation.a : operation.dst;
    (sends(operation.kind) ? sent : received).insert(operation.peer);
    ASSERT_EQ(region.extent_count, 1u);
    // The block to a rank, and the one from it, lie where that rank counts.
    EXPECT_EQ(program->extents[region.first_extent].offset,
              static_cast<std::uint64_t>(operation.peer) * 10);
    EXPECT_EQ(region.elements, 10u);
  }
  EXPECT_EQ(sent, (std::set<std::int32_t>{0, 1, 2, 3, 5}));
  EXPECT_EQ(received, sent);
  // What waits for a loop over few peers waits for its messages.
  EXPECT_EQ(program->operations.back().dependence_count, 6u);
}

TEST(PeerLoop, OfManyMessagesIsWaitedForByAJoin) {
  const Schedule schedule = direct("8x8", PeerOrder::kFixed);
  const auto program = expand(schedule.view(), 0, countOf(1));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->operations.size(), 63u + 1 + 63 + 1 + 1);
  const FlatOperation& last = program->operations.back();
  ASSERT_EQ(last.dependence_count, 2u);
  const FlatOperation& join = program->operations[program->dependencesOf(last)[1]];
  EXPECT_TRUE(join.isJoin());
  EXPECT_EQ(join.dependence_count, 63u);
}

// A send waits for the one that is as many before it as the window says; receives wait for nothing.
TEST(PeerLoop, SendsAsManyAtATimeAsItsWindowSays) {
  Schedule schedule = direct("4x3", PeerOrder::kShuffled);
  schedule.peer_loops[0].window = 3;
  for (const std::uint64_t count : {1u, 0u}) {
    const auto program = expand(schedule.view(), 5, countOf(count));
    ASSERT_TRUE(program.ok());
    std::vector<std::uint32_t> sent;
    for (std::uint32_t i = 0; i < program->operations.size(); ++i) {
      const FlatOperation& operation = program->operations[i];
      if (receives(operation.kind)) {
        EXPECT_EQ(operation.dependence_count, 0u);
      }
      if (!sends(operation.kind)) continue;
      const auto after = program->dependencesOf(operation);
      if (sent.size() < 3) {
        EXPECT_TRUE(after.empty());
      } else {
        ASSERT_EQ(after.size(), 1u);
        EXPECT_EQ(after[0], sent[sent.size() - 3]);
      }
      sent.push_back(i);
    }
    EXPECT_EQ(sent.size(), count > 0 ? 11u : 0u);
  }
}

// One rank's program is as large as its own data, whatever the shape.
TEST(PeerLoop, OnLargeMachines) {
  for (const char* shape : {"64x32x32", "65536m", "8x8x8x8x16"}) {
    const Schedule schedule = direct(shape, PeerOrder::kShuffled);
    ASSERT_TRUE(validate(schedule.view()).ok());
    const auto program = expand(schedule.view(), 12345, countOf(2));
    ASSERT_TRUE(program.ok());
    EXPECT_EQ(program->operations.size(), 2u * 65535 + 3) << shape;
    EXPECT_LE(program->extents.size(), program->operations.size() + 2) << shape;
    EXPECT_LE(program->loops.size(), 0u) << shape;
  }
}

/// What rank 4 of 3x2 sends and receives, the own block alike.
const std::vector<std::uint64_t> kSent = {3, 0, 5, 1, 7, 2}, kReceived = {0, 4, 0, 6, 7, 1};

Counts lists() {
  Counts counts{.count = 0, .per_rank = kReceived, .displacements = {}};
  counts.in_per_rank = kSent;
  return counts;
}

TEST(PeerLoop, TakesTheOwnRowAndTheOwnColumnOfCountsThatDiffer) {
  const Schedule schedule = samples::directAlltoall("3x2");
  Counts counts = lists();
  const std::vector<std::uint64_t> places = {90, 0, 0, 10, 40, 80},
                                   in_places = {1, 0, 5, 11, 13, 30};
  for (const bool displaced : {false, true}) {
    if (displaced) {
      counts.displacements = places;
      counts.in_displacements = in_places;
    }
    const auto program = expand(schedule.view(), 4, counts);
    ASSERT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ(program->in_elements, displaced ? 32u : 18u);
    EXPECT_EQ(program->out_elements, displaced ? 81u : 18u);
    std::size_t messages = 0;
    for (const FlatOperation& operation : program->operations) {
      const bool sending = sends(operation.kind);
      if (!sending && !receives(operation.kind)) continue;
      ++messages;
      const FlatRegion& region = sending ? operation.a : operation.dst;
      const auto& list = sending ? kSent : kReceived;
      const auto peer = static_cast<std::size_t>(operation.peer);
      ASSERT_EQ(region.extent_count, 1u);
      const auto before = std::accumulate(list.begin(), list.begin() + operation.peer, 0ull);
      EXPECT_EQ(program->extents[region.first_extent].offset, !displaced ? before
                                                              : sending  ? in_places[peer]
                                                                         : places[peer]);
      EXPECT_EQ(region.elements, list[peer]);
    }
    // Empty blocks are not sent, and the own one is copied.
    EXPECT_EQ(messages, 4u + 3u);
    EXPECT_EQ(program->operations.size(), messages + 1);
  }
}

TEST(PeerLoop, BlocksOfOneSizeMayLieAnywhere) {
  const Schedule schedule = samples::directAlltoall("2x2");
  const std::vector<std::uint64_t> places = {30, 0, 20, 10};
  Counts counts = countOf(10);
  counts.displacements = counts.in_displacements = places;
  const auto program = expand(schedule.view(), 1, counts);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->in_elements, 40u);
  for (const FlatOperation& operation : program->operations) {
    if (operation.peer < 0) continue;
    const FlatRegion& region = sends(operation.kind) ? operation.a : operation.dst;
    EXPECT_EQ(program->extents[region.first_extent].offset,
              places[static_cast<std::size_t>(operation.peer)]);
  }
}

// A rank's program has nothing but its own row and column, whatever the shape.
TEST(PeerLoop, OfCountsThatDifferOnLargeMachines) {
  const Schedule schedule = samples::directAlltoall("64x32x32");
  const std::vector<std::uint64_t> counts(65536, 3);
  Counts both{.count = 0, .per_rank = counts, .displacements = {}};
  both.in_per_rank = counts;
  const auto program = expand(schedule.view(), 12345, both);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->operations.size(), 2u * 65535 + 1);
  EXPECT_EQ(program->scratch_elements, 0u);
}

std::string faultOf(const Schedule& schedule, const Counts& counts) {
  return expand(schedule.view(), 4, counts).status().message();
}

TEST(PeerLoop, CountsThatDifferAreChecked) {
  const Schedule schedule = samples::directAlltoall("3x2");
  Counts counts = lists();
  EXPECT_EQ(faultOf(direct("3x2", PeerOrder::kFixed), counts),
            "schedule " + direct("3x2", PeerOrder::kFixed).name +
                " forwards blocks of others, whose length only their two ranks know: counts that "
                "differ take a direct one");
  counts.in_per_rank = {};
  EXPECT_EQ(faultOf(schedule, counts),
            "one count for the blocks of `in` or `out`, one per rank for the other");
  const std::vector<std::uint64_t> other = {3, 0, 5, 1, 6, 2}, three = {1, 2, 3},
                                   huge(6, std::uint64_t{1} << 61);
  counts.in_per_rank = other;
  EXPECT_EQ(faultOf(schedule, counts), "the own block has 6 elements in `in`, 7 in `out`");
  counts.in_per_rank = three;
  EXPECT_EQ(faultOf(schedule, counts), "counts for 3 ranks, schedule has 6");
  counts.in_per_rank = huge;
  EXPECT_EQ(faultOf(schedule, counts), "the elements of all blocks do not fit 63 bits");
}

}  // namespace
}  // namespace torc
