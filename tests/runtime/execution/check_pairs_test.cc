// Calls with lists for pairs: checks, and packed data.
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/collectives/call.h"
#include "runtime/pmpi/calls/packing.h"

namespace torc::runtime {
namespace {

constexpr int kPairRanks = 4, kPairRank = 2;
using Ints = std::array<int, kPairRanks>;
using List = std::vector<std::uint64_t>;

class CheckPairs : public testing::Test {
 protected:
  CheckPairs() {
    std::iota(in_.begin(), in_.end(), 0);
    arguments_.collective = Collective::kAlltoall;
    arguments_.rules = CallRules::kMpi;
    arguments_.has_counts = arguments_.has_displacements = true;
    arguments_.in = in_.data() + 50;
    arguments_.own_counts = to_.data();
    arguments_.own_displacements = to_places_.data();
    arguments_.own_type = MPI_INT;
    arguments_.out = out_.data() + 50;
    arguments_.counts = from_.data();
    arguments_.displacements = from_places_.data();
    arguments_.type = MPI_INT;
  }

  Call checked() {
    Call call;
    const Status status = check(arguments_, kPairRank, kPairRanks, call);
    EXPECT_TRUE(status.ok()) << status.message();
    takeLists(arguments_, kPairRanks, call);
    return call;
  }
  void expectFault(Reason fault, const std::string& text) {
    Call call;
    const Status status = check(arguments_, kPairRank, kPairRanks, call);
    EXPECT_FALSE(status.ok()) << text;
    EXPECT_EQ(call.fault, fault) << text;
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  }

  std::array<int, 200> in_{}, out_{};
  Ints to_ = {3, 0, 2, 1}, to_places_ = {-10, 99, 0, 20};
  Ints from_ = {0, 4, 2, 0}, from_places_ = {77, 5, 1, -33};
  CallArguments arguments_;
};

TEST_F(CheckPairs, ListsBecomeBytesFromTheLowestPlaceInUse) {
  const Call call = checked();
  EXPECT_EQ(call.type.handle, MPI_BYTE);
  EXPECT_EQ(call.in_per_rank, (List{12, 0, 8, 4}));
  EXPECT_EQ(call.in_displacements, (List{0, 0, 40, 120}));
  EXPECT_EQ(call.inBegin(), reinterpret_cast<std::byte*>(in_.data() + 40));
  EXPECT_EQ(call.per_rank, (List{0, 16, 8, 0}));
  EXPECT_EQ(call.displacements, (List{0, 16, 0, 0}));
  EXPECT_EQ(call.outBegin(), reinterpret_cast<std::byte*>(out_.data() + 51));
  EXPECT_EQ(call.elements.in, 124u);
  EXPECT_EQ(call.elements.out, 32u);
  EXPECT_EQ(call.bytes, 24u);
  EXPECT_FALSE(call.packs_in);
  EXPECT_FALSE(call.unpacks_out);
}

TEST_F(CheckPairs, WhatHasGapsIsPackedBlockByBlock) {
  MPI_Datatype apart;
  MPI_Type_vector(2, 1, 3, MPI_INT, &apart);
  MPI_Type_commit(&apart);
  // Two blocks of ints, one that is empty and has no datatype, and one of a pair with a gap.
  const std::array<MPI_Datatype, kPairRanks> to_types = {MPI_INT, MPI_DATATYPE_NULL, apart,
                                                         MPI_INT},
                                             from_types = {MPI_DATATYPE_NULL, MPI_INT, MPI_DOUBLE,
                                                           MPI_DATATYPE_NULL};
  to_ = {3, 0, 1, 1};
  to_places_ = {0, 0, 40, 80};
  from_ = {0, 4, 1, 0};
  from_places_ = {0, 0, 24, 0};
  arguments_.own_types = to_types.data();
  arguments_.types = from_types.data();
  arguments_.own_type = arguments_.type = MPI_DATATYPE_NULL;
  Call call = checked();
  EXPECT_TRUE(call.packs_in);
  EXPECT_FALSE(call.unpacks_out);
  EXPECT_EQ(call.in_per_rank, (List{12, 0, 8, 4}));
  EXPECT_TRUE(call.in_displacements.empty());
  EXPECT_EQ(call.displacements, (List{0, 0, 24, 0}));
  pmpi::Packing packing;
  packing.prepare(arguments_, kPairRank, kPairRanks, call);
  ASSERT_TRUE(packing.pack().ok());
  const auto* packed = reinterpret_cast<const int*>(call.inBegin());
  EXPECT_EQ(std::vector<int>(packed, packed + 6), (std::vector<int>{50, 51, 52, 60, 63, 70}));
  MPI_Type_free(&apart);
}

TEST_F(CheckPairs, InPlaceACopyIsSent) {
  arguments_.in = MPI_IN_PLACE;
  arguments_.own_counts = NumberList();  // may be anything
  arguments_.own_displacements = NumberList();
  arguments_.own_type = MPI_DATATYPE_NULL;
  std::iota(out_.begin(), out_.end(), 1000);
  Call call = checked();
  EXPECT_FALSE(call.in_place);
  EXPECT_EQ(call.in_per_rank, call.per_rank);
  pmpi::Packing packing;
  packing.prepare(arguments_, kPairRank, kPairRanks, call);
  ASSERT_TRUE(packing.pack().ok());
  const auto* packed = reinterpret_cast<const int*>(call.inBegin());
  EXPECT_EQ(std::vector<int>(packed, packed + 6),
            (std::vector<int>{1055, 1056, 1057, 1058, 1051, 1052}));
}

TEST_F(CheckPairs, WhatOverlapsIsCopiedAndWhatMpiRefusesIsRefused) {
  arguments_.out = in_.data() + 50;
  EXPECT_TRUE(checked().packs_in);
  arguments_.counts = to_.data();
  expectFault(Reason::kArgument, "the same memory");
  arguments_.rules = CallRules::kTorc;
  expectFault(Reason::kArgument, "overlap");
  arguments_.counts = from_.data();
  arguments_.out = in_.data() + 51;
  expectFault(Reason::kArgument, "overlap");
}

// Of the block to itself a rank knows both lengths; of others it is told, perhaps within an
// element.
TEST_F(CheckPairs, BlocksMayBeShorterThanTheirRoom) {
  MPI_Datatype pairs = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  to_[2] = 1;
  EXPECT_EQ(checked().per_rank, (List{0, 16, 4, 0}));
  arguments_.type = pairs;
  Call call = checked();
  EXPECT_TRUE(call.takes_shorter);
  pmpi::Packing packing;
  packing.prepare(arguments_, kPairRank, kPairRanks, call);
  std::fill_n(static_cast<int*>(call.out), 9, 7);
  const ShortMessage shorter{static_cast<const std::byte*>(call.out), 3 * sizeof(int)};
  ASSERT_TRUE(packing.unpack({&shorter, 1}).ok());
  const int* block = out_.data() + 50 + 5 * 3;  // elements of three integers, of which it has two
  EXPECT_EQ(std::vector<int>(block, block + 6), (std::vector<int>{7, 0, 7, 7, 0, 0}));
  MPI_Type_free(&pairs);
}

TEST_F(CheckPairs, FaultsNameTheArgument) {
  to_[2] = 3;
  expectFault(Reason::kOwnBlock, "the own block has 12 bytes in `in`, but 8 in `out`");
  to_[1] = -3;
  expectFault(Reason::kArgument, "in_counts[1] is -3");
  to_[1] = 0;
  arguments_.own_type = MPI_DATATYPE_NULL;
  expectFault(Reason::kArgument, "in_type");
  const std::array<long, kPairRanks> huge = {std::numeric_limits<long>::max() / 8, 0, 2,
                                             std::numeric_limits<long>::max() / 8};
  arguments_.own_type = MPI_INT;
  arguments_.own_counts = huge.data();
  expectFault(Reason::kOverflow, "in_counts");
  arguments_.own_counts = NumberList();
  expectFault(Reason::kArgument, "in_counts is NULL");
  arguments_.rules = CallRules::kTorc;
  arguments_.in = MPI_IN_PLACE;
  expectFault(Reason::kArgument, "MPI_IN_PLACE");
}

}  // namespace
}  // namespace torc::runtime
