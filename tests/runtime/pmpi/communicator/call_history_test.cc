// Call histories of two ranks, with the test as the carrier of their messages. A single process:
// MPI starts without mpiexec.
#include "runtime/pmpi/communicator/call_history.h"

#include <deque>
#include <dlfcn.h>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/pmpi/process/progress.h"

static int tests = 0;  // of requests
extern "C" int PMPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  static const auto next = reinterpret_cast<decltype(&PMPI_Test)>(dlsym(RTLD_NEXT, "PMPI_Test"));
  ++tests;
  return next(request, done, status);
}

namespace torc::runtime::pmpi {
namespace {

using testing::HasSubstr;

/// A rank of two, which sends to the other.
struct Rank final : HistoryOwner {
  explicit Rank(int rank) : history(*this, rank, 2) {}

  const std::string& description() const override { return text; }
  bool isEnding() const override { return is_ending; }
  void send(int, int, Notice& notice) const override { sent.push_back(notice); }
  void callHasFailed() override { ++failed; }
  void hasGoneOn() override { history.tellRefused(); }

  CollectiveCall make(CallId id) {
    CollectiveCall call(Form::kBlocking, BriefCall(id, nullptr, nullptr), MPI_COMM_WORLD);
    history.note(call);
    return call;
  }
  /// MPI refuses one; `goes_on`: to something else, elsewhere.
  void isRefused(CallId id, bool goes_on) {
    history.noteRefused(id);
    if (goes_on) history.tellRefused();
  }
  /// It waits in the call for the other rank.
  void wait(const CollectiveCall& call, int other) {
    history.standsStill(call);
    history.ask(other, call);
  }

  std::string text = "2";
  bool is_ending = false;
  mutable std::deque<Notice> sent;
  int failed = 0;
  CallHistory history;
};

class CallHistoryTest : public testing::Test {
 protected:
  /// Until none is under way.
  void carryNotices() {
    while (!zero_.sent.empty() || !one_.sent.empty()) {
      Rank& from = zero_.sent.empty() ? one_ : zero_;
      const Notice notice = from.sent.front();
      from.sent.pop_front();
      (&from == &zero_ ? one_ : zero_).history.take(notice);
    }
  }

  Rank zero_{0}, one_{1};
};

TEST_F(CallHistoryTest, CallsThatAreAlikeGoOn) {
  const CollectiveCall call = zero_.make(CallId::kAllreduce);
  zero_.history.ask(1, call);
  carryNotices();  // nothing is known of the call there yet
  one_.make(CallId::kAllreduce);
  carryNotices();
  EXPECT_FALSE(zero_.history.hasFailures());
  EXPECT_FALSE(one_.history.hasFailures());
  EXPECT_EQ(zero_.history.answerOf(1), "which has made 0 calls there");
}

TEST_F(CallHistoryTest, CallsThatDifferFailOnBothRanks) {
  const CollectiveCall call = zero_.make(CallId::kAllreduce);
  const CollectiveCall other = one_.make(CallId::kBcast);
  zero_.history.ask(1, call);
  carryNotices();
  ASSERT_TRUE(zero_.history.hasFailed(call));
  EXPECT_EQ(zero_.history.failureOf(call)->code, MPI_ERR_OTHER);
  EXPECT_THAT(zero_.history.failureOf(call)->text, HasSubstr("rank 1 makes MPI_Bcast"));
  EXPECT_TRUE(one_.history.hasFailed(other));
  EXPECT_EQ(zero_.failed, 2);  // both calls are known there
  EXPECT_TRUE(zero_.history.hasFailuresToCome());
}

TEST_F(CallHistoryTest, TheNextCallIsNotTakenForOneThatHasFailed) {
  // One makes an allgather in an allreduce's place, and an allreduce as soon as that has failed.
  zero_.make(CallId::kAllreduce);
  const CollectiveCall other = one_.make(CallId::kAllgather);
  one_.history.ask(0, other);
  zero_.history.take(one_.sent.front());
  one_.sent.clear();
  ASSERT_TRUE(zero_.history.hasFailures());
  while (!one_.history.hasFailed(other)) {
    ASSERT_FALSE(zero_.sent.empty());
    one_.history.take(zero_.sent.front());
    zero_.sent.pop_front();
  }
  const CollectiveCall next = one_.make(CallId::kAllreduce);
  carryNotices();
  EXPECT_FALSE(one_.history.hasFailed(next));
  EXPECT_EQ(next.ordinal, zero_.make(CallId::kAllreduce).ordinal);
}

TEST_F(CallHistoryTest, WhoIsInFinalizeMakesNoMoreCalls) {
  const CollectiveCall call = zero_.make(CallId::kAllreduce);
  zero_.history.ask(1, call);
  carryNotices();
  EXPECT_FALSE(zero_.history.hasFailed(call));
  one_.is_ending = true;
  one_.history.answerAsks();
  carryNotices();
  ASSERT_TRUE(zero_.history.hasFailed(call));
  EXPECT_THAT(zero_.history.failureOf(call)->text, HasSubstr("rank 1 is in MPI_Finalize"));
}

TEST_F(CallHistoryTest, WhatMpiHasRefusedIsOverWhenTheRankHasGoneOn) {
  const CollectiveCall gather = one_.make(CallId::kGather), scatter = one_.make(CallId::kScatter);
  one_.wait(gather, 0);
  zero_.isRefused(CallId::kGather, false);
  carryNotices();
  EXPECT_FALSE(one_.history.hasFailed(gather));  // it may come yet
  zero_.history.tellRefused();
  carryNotices();
  ASSERT_TRUE(one_.history.hasFailed(gather));
  EXPECT_EQ(one_.history.codeOf(*one_.history.failureOf(gather)), MPI_SUCCESS);  // it only sends
  zero_.isRefused(CallId::kScatter, true);
  carryNotices();
  EXPECT_FALSE(one_.history.hasFailed(scatter));  // it does not stand still
  one_.wait(scatter, 0);
  ASSERT_TRUE(one_.history.hasFailed(scatter));
  EXPECT_EQ(one_.history.codeOf(*one_.history.failureOf(scatter)), MPI_ERR_OTHER);
  carryNotices();
  // Rank 0 goes on from both.
  EXPECT_EQ(zero_.make(CallId::kGather).ordinal, one_.make(CallId::kGather).ordinal);
  EXPECT_EQ(zero_.make(CallId::kScatter).ordinal, one_.make(CallId::kScatter).ordinal);
}

TEST_F(CallHistoryTest, WhatIsMadeAfterAllIsWaitedFor) {
  zero_.isRefused(CallId::kGather, true);
  zero_.isRefused(CallId::kGather, true);
  ASSERT_TRUE(zero_.history.recall(CallId::kGather));
  carryNotices();
  EXPECT_TRUE(zero_.history.isRecalled());
  const CollectiveCall gather = zero_.make(CallId::kGather);
  carryNotices();
  const CollectiveCall same = one_.make(CallId::kGather);
  one_.wait(same, 0);
  carryNotices();
  EXPECT_EQ(same.ordinal, gather.ordinal);
  EXPECT_FALSE(one_.history.hasFailed(same));
}

TEST_F(CallHistoryTest, WhatIsMadeAfterAllFailsWhereTheOthersHaveGivenItUp) {
  zero_.isRefused(CallId::kGather, true);
  const CollectiveCall gather = one_.make(CallId::kGather);
  one_.wait(gather, 0);
  ASSERT_TRUE(zero_.history.recall(CallId::kGather));
  const CollectiveCall late = zero_.make(CallId::kGather);  // it has not waited for the answer
  one_.history.take(zero_.sent.front());                    // and not yet what comes behind
  zero_.sent.pop_front();
  ASSERT_TRUE(one_.history.hasFailed(gather));
  carryNotices();
  ASSERT_TRUE(zero_.history.hasFailed(late));
  EXPECT_EQ(zero_.history.codeOf(*zero_.history.failureOf(late)), MPI_ERR_OTHER);
}

TEST_F(CallHistoryTest, WhatAllAreRefusedIsNotWaitedFor) {
  zero_.isRefused(CallId::kReduce, true);
  one_.isRefused(CallId::kReduce, true);
  carryNotices();
  const CollectiveCall next = one_.make(CallId::kReduce);
  one_.wait(next, 0);  // which is late, and comes
  carryNotices();
  EXPECT_FALSE(one_.history.hasFailed(next));
  EXPECT_EQ(zero_.make(CallId::kReduce).ordinal, next.ordinal);
}

TEST_F(CallHistoryTest, EachOfManyThatMpiRefusesIsOver) {
  for (int i = 0; i < 3; ++i) {
    zero_.isRefused(CallId::kGather, true);
    const CollectiveCall gather = one_.make(CallId::kGather);
    one_.wait(gather, 0);
    if (i == 0) continue;  // rank 0 hears of the first with the second
    carryNotices();
    EXPECT_TRUE(one_.history.hasFailed(gather)) << i;
  }
  EXPECT_EQ(zero_.make(CallId::kGather).ordinal, one_.make(CallId::kGather).ordinal);
}

TEST_F(CallHistoryTest, ToTellManyRanksTakesFewCallsOfMpi) {
  MPI_Comm self = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_SELF, &self);
  Notices notices;
  notices.open(self);
  Notice notice;
  constexpr int kRanks = 256;
  tests = 0;
  for (int i = 0; i < kRanks; ++i)
    notices.send(0, notice);  // nobody receives it yet
  EXPECT_LE(tests, 2 * kRanks);
  notices.stop();
  notices.close();
  PMPI_Comm_free(&self);
}

}  // namespace
}  // namespace torc::runtime::pmpi
