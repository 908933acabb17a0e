// When messages of the MPI transport are over, between two ranks.
#include "runtime/transport/mpi_transport.h"

#include <array>
#include <cstddef>

#include <gtest/gtest.h>
#include <mpi.h>

#include "tests/mpi/job.h"

namespace torc::runtime {
namespace {

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

/// Rank 0 sends 8 bytes, which rank 1 receives later: whether the send is over before.
bool isOverBeforeItsReceive(MPI_Comm comm, SendMode mode, Requests requests) {
  MpiTransport transport(comm, 0, requests);
  std::array<std::byte, 8> in{std::byte{7}}, out{};
  const Segment memory{Place(worldRank() == 0 ? Base::kIn : Base::kOut, 0), 8};
  const Segments segments{{&memory, 1}, {}};
  const ChannelId channel = worldRank() == 0 ? *transport.prepareSend(1, 0, segments, {}, mode)
                                             : *transport.prepareRecv(0, 0, segments, {});
  EXPECT_TRUE(transport.commit().ok());
  EXPECT_TRUE(transport.bind({in.data(), out.data(), nullptr, nullptr}).ok());
  bool is_over = false;
  if (worldRank() == 0) {
    EXPECT_TRUE(transport.start(channel));
    is_over = completedBy(transport, 1000) == 1;
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
  for (const Requests requests : {Requests::kOneShot, Requests::kPersistent}) {
    EXPECT_TRUE(isOverBeforeItsReceive(comm, SendMode::kStandard, requests));
    EXPECT_FALSE(isOverBeforeItsReceive(comm, SendMode::kSynchronous, requests));
  }
  MPI_Comm_free(&comm);
}

/// Rank 0 sends the two fragments of a message by hand, the second when rank 1 has waited in vain.
void expectAllFragments(MPI_Comm comm, Requests requests) {
  constexpr std::array<std::size_t, 2> kFragments{4, 12};
  std::array<std::byte, 16> in{}, out{};
  in.back() = std::byte{7};
  if (worldRank() == 0) {
    MPI_Send(in.data(), 4, MPI_BYTE, 1, 0, comm);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(in.data() + 4, 12, MPI_BYTE, 1, 0, comm);
    return;
  }
  MpiTransport transport(comm, 0, requests);
  const Segment memory{Place(Base::kOut, 0), out.size()};
  const ChannelId channel = *transport.prepareRecv(0, 0, {{&memory, 1}, {}}, kFragments);
  EXPECT_TRUE(transport.commit().ok());
  EXPECT_TRUE(transport.bind({nullptr, out.data(), nullptr, nullptr}).ok());
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
  for (const Requests requests : {Requests::kOneShot, Requests::kPersistent})
    expectAllFragments(comm, requests);
  MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace torc::runtime
