// A call as it comes from the program: description, note, key. A single process: MPI starts without
// mpiexec.
#include "runtime/pmpi/calls/describe_call.h"

#include <gtest/gtest.h>

#include "runtime/pmpi/calls/brief_call.h"
#include "runtime/pmpi/calls/call_note.h"
#include "runtime/pmpi/calls/repeated_call.h"

namespace torc::runtime::pmpi {
namespace {

class CallsTest : public testing::Test {
 protected:
  CollectiveCall reduction(CallId id, const void* in, int count, MPI_Datatype type, MPI_Op op) {
    CollectiveCall call(id, Form::kBlocking, MPI_COMM_WORLD);
    describeReduction(call, in, out_, count, type, op, MPI_COMM_WORLD);
    return call;
  }
  CollectiveCall broadcast(int count, int root) {
    CollectiveCall call(CallId::kBcast, Form::kBlocking, MPI_COMM_WORLD);
    describeBroadcast(call, out_, count, MPI_INT, root, MPI_COMM_WORLD);
    return call;
  }

  int in_[4] = {}, out_[4] = {};
};

// The lists are those of the buffer with all blocks, and the root's alone.
TEST_F(CallsTest, ListsOfTheRootAreDescribed) {
  const int counts[] = {1}, places[] = {2};
  CollectiveCall gather(CallId::kGatherv, Form::kBlocking, MPI_COMM_WORLD);
  describeRootedGatherV(gather, in_, 3, MPI_INT, out_, counts, places, MPI_CHAR, 1, MPI_COMM_WORLD);
  CollectiveCall scatter(CallId::kScatterv, Form::kBlocking, MPI_COMM_WORLD);
  describeRootedScatterV(scatter, in_, counts, places, MPI_CHAR, out_, 3, MPI_INT, 1,
                         MPI_COMM_WORLD);
  for (CollectiveCall* call : {&gather, &scatter}) {
    CallArguments& arguments = call->arguments;
    EXPECT_TRUE(call->is_described);
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
    dropIgnored(rowOf(arguments.collective), 0, arguments);
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
  CollectiveCall call(CallId::kAlltoallv, Form::kBlocking, MPI_COMM_WORLD);
  describeExchangeV(call, in_, counts, counts, MPI_INT, out_, counts, counts, MPI_INT,
                    MPI_COMM_WORLD);
  call.bytes = 4;
  const std::uint64_t signature = signatureOf(call);
  call.bytes = 400;
  EXPECT_EQ(signatureOf(call), signature);
}

TEST_F(CallsTest, NotesSayWhatACallIs) {
  CollectiveCall call = reduction(CallId::kAllreduce, in_, 20, MPI_INT, MPI_SUM);
  call.bytes = 80;
  EXPECT_EQ(describe(noteOn(call, Maker::kTorc)), "MPI_Allreduce of 80 bytes, MPI_SUM");
  CollectiveCall rooted = broadcast(20, 3);
  rooted.bytes = 80;
  EXPECT_EQ(describe(noteOn(rooted, Maker::kTorc)), "MPI_Bcast of 80 bytes, root 3");
  rooted.verdict = Reason::kNoSchedule;
  const std::string handed_back = describe(noteOn(rooted, Maker::kMpi));
  EXPECT_NE(handed_back.find("handed to MPI there ("), std::string::npos) << handed_back;
  EXPECT_NE(handed_back.find(text(Reason::kNoSchedule)), std::string::npos) << handed_back;

  EXPECT_FALSE(noteOn(rooted, Maker::kMpi).isLike(noteOn(rooted, Maker::kTorc)));
  EXPECT_TRUE(noteOn(rooted, Maker::kMpi).isLike(noteOn(rooted, Maker::kMpi)));
}

/// What a call is in brief is what it is described as.
#define EXPECT_IN_BRIEF(parameters, Name, ...)                                       \
  do {                                                                               \
    CollectiveCall call(CallId::k##Name, Form::kBlocking, MPI_COMM_WORLD);           \
    describe##parameters(call, __VA_ARGS__, MPI_COMM_WORLD);                         \
    const BriefCall brief = brief##parameters(call.id, __VA_ARGS__, MPI_COMM_WORLD); \
    EXPECT_EQ(brief.key, CallKey::of(call)) << #Name;                                \
    EXPECT_EQ(brief.in, call.arguments.in) << #Name;                                 \
    EXPECT_EQ(brief.out, call.arguments.out) << #Name;                               \
  } while (false)
TEST_F(CallsTest, BriefCallsAreWhatTheyAreDescribedAs) {
  for (const void* in : {static_cast<const void*>(in_), static_cast<const void*>(MPI_IN_PLACE),
                         static_cast<const void*>(out_)}) {
    EXPECT_IN_BRIEF(Reduction, Allreduce, in, out_, 3, MPI_INT, MPI_MAX);
    EXPECT_IN_BRIEF(Reduction, Exscan, in, out_, 3, MPI_INT, MPI_MAX);
    EXPECT_IN_BRIEF(RootedReduction, Reduce, in, out_, 3, MPI_INT, MPI_MAX, 1);
    EXPECT_IN_BRIEF(RootedReduction, Reduce, in, out_, 3, MPI_INT, MPI_MAX, 0);
    EXPECT_IN_BRIEF(Exchange, Alltoall, in, 3, MPI_INT, out_, 12, MPI_CHAR);
    EXPECT_IN_BRIEF(RootedExchange, Gather, in, 3, MPI_INT, out_, 12, MPI_CHAR, 2);
    EXPECT_IN_BRIEF(RootedExchange, Scatter, in, 3, MPI_INT, out_, 12, MPI_CHAR, 2);
  }
  EXPECT_IN_BRIEF(RootedExchange, Scatter, in_, 3, MPI_INT, MPI_IN_PLACE, 12, MPI_CHAR, 2);
  EXPECT_IN_BRIEF(Broadcast, Bcast, out_, 3, MPI_INT, 2);
  CollectiveCall barrier(CallId::kBarrier, Form::kBlocking, MPI_COMM_WORLD);
  describeNothing(barrier, MPI_COMM_WORLD);
  EXPECT_EQ(briefNothing(CallId::kBarrier, MPI_COMM_WORLD).key, CallKey::of(barrier));
}

// A repeated call is found by all but its buffers; in place is another call.
TEST_F(CallsTest, KeysAreOfAllButBuffers) {
  const CallKey key = CallKey::of(reduction(CallId::kAllreduce, in_, 3, MPI_INT, MPI_SUM));
  const CallKey same = CallKey::of(reduction(CallId::kAllreduce, in_ + 1, 3, MPI_INT, MPI_SUM));
  EXPECT_EQ(key, same);
  EXPECT_EQ(key.hash(), same.hash());
  for (const CollectiveCall& other :
       {reduction(CallId::kAllreduce, MPI_IN_PLACE, 3, MPI_INT, MPI_SUM),
        reduction(CallId::kScan, in_, 3, MPI_INT, MPI_SUM),
        reduction(CallId::kAllreduce, in_, 4, MPI_INT, MPI_SUM),
        reduction(CallId::kAllreduce, in_, 3, MPI_FLOAT, MPI_SUM),
        reduction(CallId::kAllreduce, in_, 3, MPI_INT, MPI_MAX)}) {
    EXPECT_FALSE(key == CallKey::of(other));
    EXPECT_NE(key.hash(), CallKey::of(other).hash());
  }
  EXPECT_FALSE(CallKey::of(broadcast(3, 0)) == CallKey::of(broadcast(3, 1)));
}

}  // namespace
}  // namespace torc::runtime::pmpi
