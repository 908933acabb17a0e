// A program's call: description, note, key. A single process: MPI starts without mpiexec.
#include "runtime/job/describe_call.h"

#include <gtest/gtest.h>

#include "runtime/collectives/call.h"
#include "runtime/pmpi/calls/collective_call.h"

namespace torc::runtime::pmpi {
namespace {

class CallsTest : public testing::Test {
 protected:
  static CollectiveCall blocking(const CallArguments& described) {
    return {Form::kBlocking, described, MPI_COMM_WORLD};
  }
  CollectiveCall reduction(CallId id, const void* in, int count, MPI_Datatype type, MPI_Op op) {
    return blocking(describeReduction(id, in, out_, count, type, op, MPI_COMM_WORLD));
  }
  CollectiveCall broadcast(int count, int root) {
    return blocking(describeBroadcast(CallId::kBcast, out_, count, MPI_INT, root, MPI_COMM_WORLD));
  }

  int in_[4] = {}, out_[4] = {};
};

// The lists are those of the buffer with all blocks, and the root's alone.
TEST_F(CallsTest, ListsOfTheRootAreDescribed) {
  const int counts[] = {1}, places[] = {2};
  CallArguments gather = describeRootedGatherV(CallId::kGatherv, in_, 3, MPI_INT, out_, counts,
                                               places, MPI_CHAR, 1, MPI_COMM_WORLD);
  CallArguments scatter = describeRootedScatterV(CallId::kScatterv, in_, counts, places, MPI_CHAR,
                                                 out_, 3, MPI_INT, 1, MPI_COMM_WORLD);
  for (CallArguments* described : {&gather, &scatter}) {
    CallArguments& arguments = *described;
    EXPECT_TRUE(arguments.lists_at_root && arguments.has_counts && arguments.has_displacements);
    EXPECT_EQ(arguments.counts[0], 1);
    EXPECT_EQ(arguments.displacements[0], 2);
    EXPECT_EQ(arguments.type, MPI_CHAR);
    EXPECT_EQ(arguments.own_count, 3);
    EXPECT_EQ(arguments.own_type, MPI_INT);
    EXPECT_EQ(arguments.root, 1);
    EXPECT_EQ(arguments.in, in_);
    EXPECT_EQ(arguments.out, out_);
    // Elsewhere a rank knows its own block.
    dropIgnored(0, arguments);
    EXPECT_FALSE(arguments.has_counts || arguments.has_displacements);
    EXPECT_EQ(arguments.count, 3);
    EXPECT_EQ(arguments.type, MPI_INT);
  }
}

// What MPI demands to be the same on all ranks, and nothing else, is in a signature.
TEST_F(CallsTest, SignaturesAreThoseOfMpi) {
  CollectiveCall call = reduction(CallId::kAllreduce, in_, 3, MPI_INT, MPI_SUM);
  call.bytes = 12;
  const std::uint64_t signature = signatureOf(call);

  CollectiveCall other_buffers = reduction(CallId::kAllreduce, MPI_IN_PLACE, 3, MPI_INT, MPI_SUM);
  other_buffers.bytes = 12;
  EXPECT_EQ(signatureOf(other_buffers), signature);

  CollectiveCall longer = call;
  longer.bytes = 16;
  EXPECT_NE(signatureOf(longer), signature);
  CollectiveCall other_operation = reduction(CallId::kAllreduce, in_, 3, MPI_INT, MPI_MAX);
  other_operation.bytes = 12;
  EXPECT_NE(signatureOf(other_operation), signature);
  EXPECT_NE(signatureOf(broadcast(3, 0)), signatureOf(broadcast(3, 1)));
}

// Ranks of an all-to-all with lists each have other bytes.
TEST_F(CallsTest, ListsOfPairsAreInNoSignature) {
  const int counts[] = {1};
  CollectiveCall call = blocking(describeExchangeV(CallId::kAlltoallv, in_, counts, counts, MPI_INT,
                                                   out_, counts, counts, MPI_INT, MPI_COMM_WORLD));
  call.bytes = 4;
  const std::uint64_t signature = signatureOf(call);
  call.bytes = 400;
  EXPECT_EQ(signatureOf(call), signature);
}

TEST_F(CallsTest, NotesSayWhatACallIs) {
  CollectiveCall call = reduction(CallId::kAllreduce, in_, 20, MPI_INT, MPI_SUM);
  call.bytes = 80;
  EXPECT_EQ(describe(noteOn(call)), "MPI_Allreduce of 80 bytes, MPI_SUM");
  CollectiveCall rooted = broadcast(20, 3);
  rooted.bytes = 80;
  rooted.verdict = Reason::kServed;
  const CallNote served = noteOn(rooted);
  EXPECT_EQ(describe(served), "MPI_Bcast of 80 bytes, root 3");
  rooted.verdict = Reason::kNoSchedule;
  const CallNote left = noteOn(rooted);
  const std::string handed_back = describe(left);
  EXPECT_NE(handed_back.find("handed to MPI there ("), std::string::npos) << handed_back;
  EXPECT_NE(handed_back.find(text(Reason::kNoSchedule)), std::string::npos) << handed_back;

  EXPECT_FALSE(left.isLike(served));
  EXPECT_TRUE(left.isLike(left));
}

// Of a scatter `in` has all blocks.
TEST_F(CallsTest, TheOwnBlockIsOfTheBufferThatHasItAlone) {
  for (const CallId id : {CallId::kGather, CallId::kScatter}) {
    const BriefCall call =
        describeRootedExchange(id, in_, 3, MPI_INT, out_, 12, MPI_CHAR, 2, MPI_COMM_WORLD);
    const bool scatters = id == CallId::kScatter;
    EXPECT_EQ(call.own_count, scatters ? 12 : 3);
    EXPECT_EQ(call.count, scatters ? 3 : 12);
    EXPECT_EQ(call.own_type, scatters ? MPI_CHAR : MPI_INT);
    EXPECT_EQ(call.type, scatters ? MPI_INT : MPI_CHAR);
    EXPECT_EQ(call.root, 2);
  }
}

// MPI may let one buffer be both; torc.h does not.
TEST_F(CallsTest, OneBufferIsInPlaceWhereMpiTakesIt) {
  const auto in_of = [&](MPI_Comm comm) {
    return describeReduction(CallId::kAllreduce, out_, out_, 3, MPI_INT, MPI_MAX, comm).in;
  };
  EXPECT_EQ(in_of(MPI_COMM_WORLD), kRefusesAliases ? out_ : MPI_IN_PLACE);
  EXPECT_EQ(in_of(MPI_COMM_NULL), out_);
}

// A repeated call is found by all but its buffers; in place is another call.
TEST_F(CallsTest, KeysAreOfAllButBuffers) {
  const CallKey key = reduction(CallId::kAllreduce, in_, 3, MPI_INT, MPI_SUM).arguments;
  const CallKey same = reduction(CallId::kAllreduce, in_ + 1, 3, MPI_INT, MPI_SUM).arguments;
  EXPECT_EQ(key, same);
  EXPECT_EQ(key.hash(), same.hash());
  for (const CollectiveCall& other :
       {reduction(CallId::kAllreduce, MPI_IN_PLACE, 3, MPI_INT, MPI_SUM),
        reduction(CallId::kScan, in_, 3, MPI_INT, MPI_SUM),
        reduction(CallId::kAllreduce, in_, 4, MPI_INT, MPI_SUM),
        reduction(CallId::kAllreduce, in_, 3, MPI_FLOAT, MPI_SUM),
        reduction(CallId::kAllreduce, in_, 3, MPI_INT, MPI_MAX)}) {
    EXPECT_FALSE(key == other.arguments);
    EXPECT_NE(key.hash(), other.arguments.hash());
  }
  EXPECT_FALSE(CallKey(broadcast(3, 0).arguments) == CallKey(broadcast(3, 1).arguments));
}

}  // namespace
}  // namespace torc::runtime::pmpi
