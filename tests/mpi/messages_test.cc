// Ranks in any order on a torus: messages go between neighbours. Completion of messages of the MPI
// transport, between two ranks.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/collectives/plan.h"
#include "runtime/job/describe_call.h"
#include "runtime/job/rank_map.h"
#include "runtime/transport/mpi_transport.h"
#include "tests/mpi/job.h"

namespace torc::runtime {
namespace {

using RankMaps = MappedTest;

/// Links between two ranks of the communicator.
int distance(const torc_geometry& geometry, int a, int b) {
  const Topology& topology = *geometry.topology;
  const Coordinates from = topology.coordinatesOf(geometry.map.toSchedule(a));
  const Coordinates to = topology.coordinatesOf(geometry.map.toSchedule(b));
  int links = 0;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const auto size = static_cast<int>(topology.axes[axis].size);
    const int apart = std::abs(from[axis] - to[axis]);
    links += std::min(apart, size - apart);
  }
  return links;
}

// A permutation that is ignored, or taken the wrong way round, gives right sums all the same.
TEST_F(RankMaps, MessagesGoToNeighboursOnTheTorus) {
  for (const Mapping& mapping : allMappings()) {
    mapRanks(mapping);
    const std::vector<std::int32_t> in = numbers(5000);
    std::vector<std::int32_t> out(in.size());
    Call call;
    ASSERT_TRUE(check(describeReduction(CallId::kAllreduce, in.data(), out.data(), 5000,
                                        MPI_INT32_T, MPI_SUM, MPI_COMM_NULL),
                      worldRank(), worldSize(), call)
                    .ok());
    Plan plan(schedule("allreduce"));
    const Status prepared = plan.prepare(call);
    ASSERT_TRUE(prepared.ok()) << prepared.message();
    std::size_t messages = 0;
    for (const FlatOperation& operation : plan.program().operations) {
      if (operation.peer < 0) continue;
      ++messages;
      ASSERT_EQ(distance(*geometry_, worldRank(), operation.peer), 1)
          << mapping.name << ": rank " << operation.peer;
    }
    EXPECT_EQ(messages > 0, worldSize() > 1);

    torc_geometry_info info;
    ASSERT_TORC_OK(torc_geometry_query(geometry_.get(), &info));
    EXPECT_EQ(info.rank, worldRank());
    const std::int32_t mine =
        mapping.to_schedule.empty() ? worldRank() : mapping.to_schedule[worldRank()];
    const StatusOr<Topology> compiled = parseTopology(shapeOfWorld());
    const int x = static_cast<int>(compiled->axes[0].size);
    const int y = static_cast<int>(worldSize()) / x;
    EXPECT_EQ(info.coordinates[0], mapping.turned ? mine / y : mine % x) << mapping.name;
  }
}

TEST(RankMap, KeepsATableOnlyWhereItMatters) {
  const StatusOr<RankMap> same = RankMap::fromTable({0, 1, 2, 3});
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(same->isIdentity());
  EXPECT_EQ(same->bytes(), 0u);
  const StatusOr<RankMap> turned = RankMap::fromTable({1, 2, 0});
  ASSERT_TRUE(turned.ok());
  EXPECT_EQ(turned->bytes(), 24u);
  for (std::int32_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(turned->toCommunicator(turned->toSchedule(rank)), rank);
  EXPECT_EQ(turned->toSchedule(1), 2);
}

TEST(RankMap, RefusesWhatIsNoPermutation) {
  EXPECT_EQ(RankMap::fromTable({0, 3, 1}).status().message(),
            "rank map: rank 1 is mapped to 3, of 3 ranks");
  EXPECT_EQ(RankMap::fromTable({0, -1}).status().message(),
            "rank map: rank 1 is mapped to -1, of 2 ranks");
  EXPECT_EQ(RankMap::fromTable({1, 0, 1}).status().message(),
            "rank map: ranks 0 and 2 are both mapped to 1");
}

/// Channels that complete while the transport is looked at so many times, or until there is one.
int completedBy(MpiTransport& transport, int looks) {
  std::array<ChannelId, 1> some{};
  for (int i = 0; looks < 0 || i < looks; ++i) {
    const int count = transport.poll(some);
    EXPECT_GE(count, 0);
    if (count != 0) return count;
  }
  return 0;
}

/// Rank 0 sends 8 bytes, which rank 1 receives later: whether the send is over before. A standard
/// send is waited for, as the first one has to connect the ranks.
bool isOverBeforeItsReceive(MPI_Comm comm, SendMode mode) {
  MpiTransport transport(comm, 0);
  std::array<std::byte, 8> in{std::byte{7}}, out{};
  const Segment memory{Place(worldRank() == 0 ? Base::kIn : Base::kOut, 0), 8};
  const Segments segments{{&memory, 1}, {}};
  const ChannelId channel =
      transport.prepare({1 - worldRank(), 0, worldRank() == 0, mode}, segments, {});
  transport.commit();
  transport.bind({in.data(), out.data(), nullptr, nullptr});
  bool is_over = false;
  if (worldRank() == 0) {
    EXPECT_TRUE(transport.start(channel));
    is_over = completedBy(transport, mode == SendMode::kStandard ? -1 : 1000) == 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (worldRank() == 1) {
    EXPECT_TRUE(transport.start(channel));
    EXPECT_EQ(completedBy(transport, -1), 1);
    EXPECT_EQ(out, in);
  } else if (!is_over) {
    EXPECT_EQ(completedBy(transport, -1), 1);
  }
  MPI_Bcast(&is_over, 1, MPI_CXX_BOOL, 0, MPI_COMM_WORLD);
  return is_over;
}

TEST(MpiTransport, SynchronousSendsAreOverWithTheirReceive) {
  if (worldSize() != 2) GTEST_SKIP() << "for two ranks";
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  EXPECT_TRUE(isOverBeforeItsReceive(comm, SendMode::kStandard));
  EXPECT_FALSE(isOverBeforeItsReceive(comm, SendMode::kSynchronous));
  MPI_Comm_free(&comm);
}

/// Rank 0 sends the two fragments of a message by hand, the second when rank 1 has waited in vain.
void expectAllFragments(MPI_Comm comm) {
  constexpr std::array<std::size_t, 2> kFragments{4, 12};
  std::array<std::byte, 16> in{}, out{};
  in.back() = std::byte{7};
  if (worldRank() == 0) {
    MPI_Send(in.data(), 4, MPI_BYTE, 1, 0, comm);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(in.data() + 4, 12, MPI_BYTE, 1, 0, comm);
    return;
  }
  MpiTransport transport(comm, 0);
  const Segment memory{Place(Base::kOut, 0), out.size()};
  const ChannelId channel = transport.prepare({}, {{&memory, 1}, {}}, kFragments);
  transport.commit();
  transport.bind({nullptr, out.data(), nullptr, nullptr});
  EXPECT_TRUE(transport.start(channel));
  EXPECT_EQ(completedBy(transport, 10000), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(completedBy(transport, -1), 1);
  EXPECT_EQ(out, in);
}

TEST(MpiTransport, AMessageIsOverWithTheLastOfItsFragments) {
  if (worldSize() != 2) GTEST_SKIP() << "for two ranks";
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  expectAllFragments(comm);
  MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace torc::runtime
