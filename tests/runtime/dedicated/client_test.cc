// The client of dedicated ranks, without any: which tags its communicators have.
#include "runtime/dedicated/client.h"

#include <array>

#include <gtest/gtest.h>
#include <mpi.h>

namespace torc::runtime::dedicated {
namespace {

TEST(Client, GivesNoSlotTwice) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (!initialized) MPI_Init(nullptr, nullptr);
  Wire wire;
  wire.comm = MPI_COMM_SELF;
  wire.roles.applications = wire.roles.servers = wire.roles.server_of = {0};
  const std::array<int, 1> members = {0};
  Client client(wire, 0, 3);
  const auto define = [&] { return client.define(client.newIdentifier(), members, false); };
  const OffloadedCommunicator first = define(), second = define(), third = define();
  EXPECT_EQ(first.slot, 1);
  EXPECT_EQ(second.slot, 2);
  EXPECT_EQ(third.slot, 3);
  client.forget(second, false);
  // All round, past those that are in use.
  const OffloadedCommunicator fourth = define();
  EXPECT_EQ(fourth.slot, 2);
  client.forget(first, false);
  client.forget(fourth, false);
  EXPECT_EQ(define().slot, 1);
  EXPECT_EQ(define().slot, 2);
  MPI_Finalize();
}

}  // namespace
}  // namespace torc::runtime::dedicated
