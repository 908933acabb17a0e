// Calls: checks of arguments, by the rules of torc.h and by MPI's.
#include "runtime/collectives/call.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/collectives/plan.h"
#include "runtime/pmpi/calls/packing.h"
#include "schedules/expansion/expand.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::runtime {
namespace {

constexpr int kRanks = 6;

class CallTest : public testing::Test {
 protected:
  CallArguments reduction(Collective collective, std::int64_t count) {
    CallArguments arguments;
    arguments.collective = collective;
    arguments.in = in_.data();
    arguments.out = out_.data();
    arguments.count = count;
    arguments.type = MPI_INT;
    arguments.op = MPI_SUM;
    return arguments;
  }
  CallArguments allgather(std::int64_t count) {
    CallArguments arguments = reduction(Collective::kAllgather, count);
    arguments.op = MPI_OP_NULL;
    arguments.own_count = count;
    arguments.own_type = MPI_INT;
    return arguments;
  }
  static CallArguments byMpi(CallArguments arguments) {
    arguments.rules = CallRules::kMpi;
    return arguments;
  }

  void expectFault(const CallArguments& arguments, Reason fault, const std::string& text) {
    Call call;
    const Status status = check(arguments, 2, kRanks, call);
    EXPECT_FALSE(status.ok()) << text;
    EXPECT_EQ(call.fault, fault) << text;
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  }
  Call checked(const CallArguments& arguments, int rank = 2) {
    Call call;
    const Status status = check(arguments, rank, kRanks, call);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(call.fault, Reason::kServed);
    takeLists(arguments, kRanks, call);
    return call;
  }

  std::vector<int> in_ = std::vector<int>(600), out_ = std::vector<int>(600);
};

// Schedules that combine in the order of ranks give all of them the whole vector.
TEST_F(CallTest, OperationsThatDoNotCommuteScatterUpTo64KiB) {
  CallArguments arguments = byMpi(reduction(Collective::kReduceScatter, 2730));
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 0, &arguments.op);
  EXPECT_FALSE(checked(arguments).reduction.commutes);
  ++arguments.count;
  expectFault(arguments, Reason::kOperation, "up to 65536 are served so");
  MPI_Op_free(&arguments.op);
}

TEST_F(CallTest, ARootLiesInTheCommunicator) {
  for (const CallRules rules : {CallRules::kTorc, CallRules::kMpi}) {
    CallArguments arguments = allgather(100);
    arguments.collective = Collective::kBroadcast;
    arguments.rules = rules;
    arguments.in = MPI_IN_PLACE;
    for (const int root : {-1, kRanks, kRanks + 1}) {
      arguments.root = root;
      Call call;
      const Status status = check(arguments, 2, kRanks, call);
      EXPECT_EQ(status.message(), "root is " + std::to_string(root) + ", of 6 ranks");
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_EQ(call.fault, Reason::kArgument);
    }
    arguments.root = kRanks - 1;
    for (const int rank : {0, kRanks - 1}) {
      Call call;
      EXPECT_TRUE(check(arguments, rank, kRanks, call).ok());
      EXPECT_EQ(call.root, kRanks - 1);
      EXPECT_EQ(call.bytes, 400u);
      const std::uint64_t whole = rules == CallRules::kMpi ? 400 : 100;
      EXPECT_EQ(call.elements.in, rank == kRanks - 1 ? whole : 0);
      EXPECT_EQ(call.elements.out, whole);
    }
    // What has no root does not look at it.
    arguments.collective = Collective::kAllgather;
    arguments.root = 77;
    Call call;
    EXPECT_TRUE(check(arguments, 2, kRanks, call).ok());
    EXPECT_EQ(call.root, 0);
  }
}

// Buffers are checked before anything is expanded: what is checked is what the program touches.
TEST_F(CallTest, ElementsAreThoseOfTheProgram) {
  std::mt19937 random(5);
  for (const Schedule& schedule : samples::all()) {
    const int ranks = static_cast<int>(schedule.topology.ranks());
    for (int trial = 0; trial < 40; ++trial) {
      CallArguments arguments = reduction(schedule.collective, random() % 9);
      arguments.has_buffers = false;
      const CollectiveRow& row = rowOf(schedule.collective);
      const bool has_lists =
          row.counts == CountOf::kBlock && row.blocks == BlockSpace::kNode && trial % 2 == 1;
      std::vector<std::int64_t> counts, displacements;
      std::int64_t end = 0;
      for (int r = 0; r < ranks; ++r) {
        counts.push_back(random() % 5);
        displacements.push_back(end + random() % 3 - 1);
        end = displacements.back() + counts.back();
      }
      if (has_lists) {
        arguments.has_counts = true;
        arguments.counts = counts.data();
        if (schedule.collective == Collective::kAllgather) {
          arguments.has_displacements = trial % 4 == 1;
          arguments.displacements = displacements.data();
        }
      }
      if (trial % 3 == 0 && row.servesInPlace()) arguments.in = MPI_IN_PLACE;
      for (int rank = 0; rank < ranks; ++rank) {
        Call call;
        ASSERT_TRUE(check(arguments, rank, ranks, call).ok());
        takeLists(arguments, ranks, call);
        const ScheduleCall seen(call, {}, rank, ranks);
        const auto program = expand(schedule.view(), rank, seen.counts(), call.in_place);
        ASSERT_TRUE(program.ok()) << program.status().message();
        EXPECT_EQ(call.elements.in, program->in_elements) << schedule.name << ", trial " << trial;
        EXPECT_EQ(call.elements.out, program->out_elements) << schedule.name << ", trial " << trial;
      }
    }
  }
}

TEST_F(CallTest, DisplacementsCountFromTheLowestInUse) {
  const std::array<int, kRanks> counts = {3, 0, 2, 1, 0, 4},
                                displacements = {7, -90, -5, 1, 99, 20};
  CallArguments arguments = allgather(0);
  arguments.own_count = 2;
  arguments.has_counts = arguments.has_displacements = true;
  arguments.counts = counts.data();
  arguments.displacements = displacements.data();
  const Call call = checked(arguments);
  EXPECT_EQ(call.displacements, (std::vector<std::uint64_t>{12, 0, 0, 6, 0, 25}));
  EXPECT_EQ(call.per_rank, (std::vector<std::uint64_t>{3, 0, 2, 1, 0, 4}));
  EXPECT_EQ(call.outBegin(), reinterpret_cast<std::byte*>(out_.data() - 5));
  EXPECT_EQ(call.elements.out, 29u);
  // To MPI they are bytes.
  const Call bytes = checked(byMpi(arguments));
  EXPECT_EQ(bytes.displacements, (std::vector<std::uint64_t>{48, 0, 0, 24, 0, 100}));
  EXPECT_EQ(bytes.per_rank, (std::vector<std::uint64_t>{12, 0, 8, 4, 0, 16}));
  EXPECT_EQ(bytes.outBegin(), reinterpret_cast<std::byte*>(out_.data() - 5));
  EXPECT_EQ(bytes.type.handle, MPI_BYTE);
  EXPECT_EQ(bytes.bytes, 40u);
  EXPECT_EQ(call.bytes, 40u);
}

TEST_F(CallTest, FaultsHaveKindsAndNameTheArgument) {
  expectFault(reduction(Collective::kAllreduce, -3), Reason::kArgument, "count is -3");
  expectFault(reduction(Collective::kReduceScatter, std::int64_t{1} << 60), Reason::kOverflow,
              "exceeds the address space");
  CallArguments arguments = reduction(Collective::kAllreduce, 10);
  arguments.type = MPI_DATATYPE_NULL;
  expectFault(arguments, Reason::kArgument, "MPI_DATATYPE_NULL");
  arguments = reduction(Collective::kAllreduce, 10);
  arguments.op = MPI_MAXLOC;
  expectFault(arguments, Reason::kOperation, "MPI_MAXLOC is not defined on datatype MPI_INT");
  expectFault(byMpi(arguments), Reason::kOperation, "MPI_MAXLOC");
  arguments.op = MPI_OP_NULL;
  expectFault(byMpi(arguments), Reason::kArgument, "MPI_OP_NULL");
  arguments = allgather(10);
  arguments.own_count = 9;
  expectFault(arguments, Reason::kOwnBlock, "9 of MPI_INT in `in`, but 10 of MPI_INT in `out`");
  arguments.own_count = 11;
  expectFault(byMpi(arguments), Reason::kOwnBlock, "11 of MPI_INT in `in`, but 10 of MPI_INT");
}

// MPI takes less than there is room for: all ranks find the same length of a block.
TEST_F(CallTest, BlocksMayBeShorterThanTheirRoom) {
  CallArguments arguments = byMpi(allgather(10));
  std::fill(in_.begin(), in_.end(), 3);
  std::fill(out_.begin(), out_.end(), 5);
  arguments.own_count = 9;
  Call call = checked(arguments);
  EXPECT_EQ(call.count, 10 * sizeof(int));
  pmpi::Packing gathered;
  gathered.prepare(arguments, 2, kRanks, call);
  ASSERT_TRUE(gathered.pack().ok());
  EXPECT_EQ(static_cast<const int*>(call.in)[8], 3);
  EXPECT_EQ(static_cast<const int*>(call.in)[9], 5);
  for (const Collective collective : {Collective::kGather, Collective::kAlltoall}) {
    arguments.collective = collective;
    arguments.root = 2;
    arguments.own_count = 9;
    call = checked(arguments);
    EXPECT_EQ(call.count, 9 * sizeof(int));
    EXPECT_EQ(call.elements.out, 9 * sizeof(int) * kRanks);
    pmpi::Packing packing;
    packing.prepare(arguments, 2, kRanks, call);
    std::fill_n(static_cast<int*>(call.out), 9 * kRanks, 7);
    ASSERT_TRUE(packing.unpack().ok());
    EXPECT_EQ(out_[18], 7);
    EXPECT_EQ(out_[19], 5);
    std::fill(out_.begin(), out_.end(), 5);
    arguments.own_count = 0;
    expectFault(arguments, Reason::kOwnBlock, "TORC_COLLECTIVES without");
  }
}

// What MPI does not refuse is no fault under its rules, and what it refuses is.
TEST_F(CallTest, BuffersAreCheckedByTheRulesOfTheCaller) {
  CallArguments arguments = reduction(Collective::kAllreduce, 10);
  arguments.in = out_.data() + 5;
  expectFault(arguments, Reason::kArgument, "in and out overlap");
  checked(byMpi(arguments));
  arguments.in = out_.data();
  expectFault(byMpi(arguments), Reason::kArgument, "the same memory");
  arguments.in = nullptr;
  expectFault(arguments, Reason::kArgument, "in is NULL");
  expectFault(byMpi(arguments), Reason::kArgument, "in is NULL");

  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  CallArguments gather = allgather(10);
  gather.type = gather.own_type = pair;
  gather.out = MPI_BOTTOM;
  expectFault(gather, Reason::kArgument, "out is NULL");
  checked(byMpi(gather));
  MPI_Type_free(&pair);

  // The own block of an allgather, by itself in `out`.
  gather = allgather(10);
  gather.in = out_.data() + 2 * 10;
  expectFault(byMpi(gather), Reason::kArgument, "the same memory");
  gather.in = out_.data() + 2 * 10 + 1;
  EXPECT_TRUE(checked(byMpi(gather)).packs_in);
  gather.in = in_.data();
  EXPECT_FALSE(checked(byMpi(gather)).packs_in);
}

/// Pairs of which only the first number is data.
class GapsTest : public CallTest {
 protected:
  void SetUp() override {
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type_);
    MPI_Type_commit(&type_);
  }
  void TearDown() override { MPI_Type_free(&type_); }
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

TEST_F(GapsTest, AreMovedByMpisRules) {
  CallArguments gather = allgather(10);
  gather.type = type_;
  expectFault(gather, Reason::kDatatypeGaps, "has gaps or an offset");
  Call call = checked(byMpi(gather));
  EXPECT_TRUE(call.unpacks_out);
  EXPECT_FALSE(call.packs_in);
  EXPECT_EQ(call.count, 40u);
  EXPECT_EQ(call.elements.out, 240u);
  gather.in = MPI_IN_PLACE;
  call = checked(byMpi(gather));
  EXPECT_TRUE(call.packs_in) << "the own block of `out`";
  EXPECT_FALSE(call.in_place);
  gather = allgather(10);
  gather.own_type = type_;
  expectFault(gather, Reason::kDatatypeGaps, "in_type: datatype");
  call = checked(byMpi(gather));
  EXPECT_TRUE(call.packs_in);
  EXPECT_FALSE(call.unpacks_out);
}

// An operation of the program's gets them as they are, in copies that have the gaps, too.
TEST_F(GapsTest, AreReducedInCopiesByMpisRules) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op);
  CallArguments arguments = reduction(Collective::kAllreduce, 10);
  arguments.type = type_;
  expectFault(arguments, Reason::kDatatypeGaps, "has gaps or an offset");
  expectFault(byMpi(arguments), Reason::kOperation, "is not defined on datatype");
  arguments.op = op;
  const Call call = checked(byMpi(arguments));
  EXPECT_TRUE(call.packs_in);
  EXPECT_TRUE(call.unpacks_out);
  EXPECT_EQ(call.elements.in, 10u);
  EXPECT_EQ(call.type.bytes, 2 * sizeof(int));
  EXPECT_EQ(call.bytes, 10 * sizeof(int));
  arguments.collective = Collective::kReduce;
  arguments.root = 0;  // another rank than `checked` asks
  EXPECT_TRUE(checked(byMpi(arguments)).packs_in);
  EXPECT_FALSE(checked(byMpi(arguments)).unpacks_out);
  // What MPI refuses comes first: it says so on this rank.
  arguments.collective = Collective::kAllreduce;
  arguments.in = arguments.out;
  expectFault(byMpi(arguments), Reason::kArgument, "the same memory");
  MPI_Op_free(&op);
}

// More gaps than data, or data before the element's address or within the next one: MPI's.
TEST_F(GapsTest, AreLeftToMpiWhereCopiesOfThemDoNotServe) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op);
  CallArguments arguments = reduction(Collective::kAllreduce, 10);
  arguments.op = op;
  const MPI_Aint before = -static_cast<MPI_Aint>(sizeof(int)), at = 0;
  const int one = 1;
  MPI_Datatype wide, early, twisted, two;
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &wide);
  MPI_Type_create_hindexed(1, &one, &before, MPI_INT, &early);
  MPI_Type_create_hindexed(1, &one, &at, MPI_DOUBLE, &two);
  MPI_Type_create_resized(two, 0, sizeof(int), &twisted);
  for (MPI_Datatype* type : {&wide, &early, &twisted}) {
    MPI_Type_commit(type);
    arguments.type = *type;
    expectFault(byMpi(arguments), Reason::kDatatypeGaps, "has gaps or an offset");
    MPI_Type_free(type);
  }
  MPI_Type_free(&two);
  MPI_Op_free(&op);
}

// Of a gather and a scatter, what MPI ignores but at the root is not looked at.
TEST_F(CallTest, IgnoredArgumentsMayBeAnything) {
  CallArguments gather = allgather(10);
  gather.collective = Collective::kGather;
  gather.root = 2;  // the rank that `checked` asks
  EXPECT_EQ(checked(gather).elements.out, 60u);
  EXPECT_EQ(checked(gather).elements.in, 10u);
  gather.root = 1;
  gather.out = reinterpret_cast<void*>(1);
  gather.count = -7;
  gather.type = MPI_DATATYPE_NULL;
  for (const CallArguments& arguments : {gather, byMpi(gather)}) {
    const Call call = checked(arguments);
    EXPECT_EQ(call.elements.out, 0u);
    EXPECT_EQ(call.elements.in * call.type.bytes, 40u);
    EXPECT_EQ(call.bytes, 240u);
    EXPECT_EQ(call.out, nullptr);
  }
  gather.own_count = -1;
  expectFault(gather, Reason::kArgument, "count is -1");

  CallArguments scatter = allgather(10);
  scatter.collective = Collective::kScatter;
  scatter.root = 2;
  EXPECT_EQ(checked(scatter).elements.in, 60u);
  scatter.root = 0;
  scatter.in = nullptr;
  scatter.count = -7;
  scatter.type = MPI_DATATYPE_NULL;
  EXPECT_EQ(checked(byMpi(scatter)).elements.in, 0u);
  EXPECT_EQ(checked(byMpi(scatter)).elements.out, 40u);

  CallArguments reduce = reduction(Collective::kReduce, 10);
  reduce.root = 0;
  reduce.out = reduce.in == nullptr ? nullptr : const_cast<void*>(reduce.in);
  EXPECT_EQ(checked(byMpi(reduce)).elements.out, 0u);
  reduce.root = 2;
  expectFault(byMpi(reduce), Reason::kArgument, "the same memory");
}

TEST_F(CallTest, TheRootAloneMayBeInPlace) {
  CallArguments gather = allgather(10);
  gather.collective = Collective::kGather;
  gather.in = MPI_IN_PLACE;
  gather.own_type = MPI_DATATYPE_NULL;
  gather.root = 2;
  EXPECT_TRUE(checked(gather).in_place);
  EXPECT_EQ(checked(gather).elements.in, 60u);
  gather.root = 1;
  gather.own_type = MPI_INT;
  expectFault(gather, Reason::kArgument, "in is MPI_IN_PLACE, of a gather at the root alone");

  CallArguments scatter = allgather(10);
  scatter.collective = Collective::kScatter;
  scatter.out = MPI_IN_PLACE;
  scatter.root = 2;
  const Call call = checked(scatter);
  EXPECT_TRUE(call.in_place);
  EXPECT_EQ(call.outBegin(), call.inBegin());
  EXPECT_EQ(call.elements.out, 60u);
  scatter.root = 1;
  expectFault(scatter, Reason::kArgument, "out is MPI_IN_PLACE, of a scatter at the root alone");
  scatter.root = 2;
  scatter.out = out_.data();
  scatter.in = MPI_IN_PLACE;
  expectFault(scatter, Reason::kArgument, "in is MPI_IN_PLACE");

  CallArguments reduce = reduction(Collective::kReduce, 10);
  reduce.in = MPI_IN_PLACE;
  reduce.root = 2;
  EXPECT_TRUE(checked(reduce).in_place);
  reduce.root = 1;
  expectFault(reduce, Reason::kArgument, "in is MPI_IN_PLACE, of a reduce at the root alone");
}

TEST_F(GapsTest, ArePackedAtTheRootAndUnpackedElsewhere) {
  std::vector<int> data(20);
  for (int i = 0; i < 20; ++i)
    data[static_cast<std::size_t>(i)] = i;
  CallArguments arguments = byMpi(allgather(10));
  arguments.collective = Collective::kBroadcast;
  arguments.in = MPI_IN_PLACE;
  arguments.out = data.data();
  arguments.type = type_;
  arguments.root = 3;
  std::vector<int> moved(10);
  for (const int rank : {3, 4}) {
    Call call;
    ASSERT_TRUE(check(arguments, rank, kRanks, call).ok());
    EXPECT_TRUE(call.in_place);
    pmpi::Packing packing;
    packing.prepare(arguments, rank, kRanks, call);
    ASSERT_NE(call.out, data.data());
    ASSERT_TRUE(packing.pack().ok());
    auto* const copy = static_cast<int*>(call.out);
    if (rank == 3) {
      std::copy_n(copy, 10, moved.begin());
      EXPECT_EQ(moved, (std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}));
      std::fill_n(copy, 10, -1);  // the root's data stay
    } else {
      std::fill(data.begin(), data.end(), -7);
      std::copy_n(moved.begin(), 10, copy);
    }
    ASSERT_TRUE(packing.unpack().ok());
  }
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(data[static_cast<std::size_t>(i)], i % 2 == 0 ? i : -7);
}

}  // namespace
}  // namespace torc::runtime
