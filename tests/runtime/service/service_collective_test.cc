// Service collectives and agreement among ranks: a failure on one of them, and a cancelled one.
#include <cstdint>
#include <span>
#include <string>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/service/agreement.h"
#include "tests/mpi/world.h"

namespace torc::runtime {
namespace {

class ServiceTest : public testing::Test {
 protected:
  ServiceTest() { agreement_.open(MPI_COMM_WORLD); }

  /// By messages: all ranks have each rank's bit.
  void expectUnion(ServiceCollective& collective, std::uint64_t common = 0) {
    const std::uint64_t mine[] = {std::uint64_t{1} << rank_, common};
    collective.disseminate(MPI_COMM_WORLD, 1, rank_, size_, mine);
    ASSERT_TRUE(collective.wait().ok());
    EXPECT_EQ(collective.words()[0], all_);
    EXPECT_EQ(collective.words()[1], common);
  }

  const int rank_ = worldRank(), size_ = worldSize();
  const bool is_last_ = rank_ == size_ - 1;
  const std::string last_ = "rank " + std::to_string(size_ - 1);
  const std::uint64_t all_ = (std::uint64_t{1} << size_) - 1;
  Agreement agreement_;
};

TEST_F(ServiceTest, MessagesUniteTheBitsOfAllRanks) {
  ServiceCollective collective;
  for (std::uint64_t call = 0; call < 100; ++call)
    expectUnion(collective, call);
}

TEST_F(ServiceTest, AFailureOfOneRankIsThatOfAll) {
  const Status none(StatusCode::kNoMemory, "out of memory");
  const Status failed = agreement_.agree(is_last_ ? none : Status());
  EXPECT_EQ(failed.code(), none.code());
  EXPECT_EQ(failed.message(), (size_ > 1 ? last_ + ": " : "") + none.message());
  EXPECT_EQ(agreement_.error().message(), none.message());
  const std::string text(5000, 'x');
  EXPECT_EQ(agreement_.agree({StatusCode::kIo, text}).message(),
            text.substr(0, ServiceCollective::kTextBytes - 1));
  EXPECT_TRUE(agreement_.agree({}).ok());
}

TEST_F(ServiceTest, FieldsAreComparedAndWordsUnited) {
  const std::uint64_t mine = std::uint64_t{1} << rank_;
  const AgreedField fields[] = {{.name = "the root", .value = 3},
                                {.value = static_cast<std::uint64_t>(rank_), .compared = false},
                                {.name = "the count", .value = is_last_ ? 12u : 10u}};
  EXPECT_TRUE(agreement_.agree({}, std::span(fields).first(2)).ok());
  EXPECT_EQ(agreement_.least(1), 0u);
  EXPECT_EQ(agreement_.most(1), static_cast<std::uint64_t>(size_ - 1));
  agreement_.collective().allreduce(MPI_COMM_WORLD, {&mine, 1}, MPI_BOR);
  EXPECT_TRUE(agreement_.wait().ok());
  EXPECT_EQ(agreement_.collective().words()[0], all_);
  if (size_ == 1) return;
  EXPECT_EQ(agreement_.agree({}, fields).message(),
            "the count differs between ranks: 10 on rank 0, 12 on " + last_);
}

TEST_F(ServiceTest, ACancelledOneIsInNobodysWay) {
  if (size_ == 1) return;
  ServiceCollective::Pointer collective = ServiceCollective::make();
  std::uint64_t word = 7;
  if (rank_ == 0) {
    collective->disseminate(MPI_COMM_WORLD, 1, rank_, size_, {&word, 1});
    EXPECT_FALSE(collective->advance());  // the other ranks do not take part
    collective->cancel();
  } else if (rank_ == 1) {
    MPI_Recv(&word, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(collective->isCancelled(), rank_ == 0);
  collective = ServiceCollective::make();
  expectUnion(*collective);
}

}  // namespace
}  // namespace torc::runtime
