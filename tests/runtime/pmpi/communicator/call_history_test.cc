// Call histories of two ranks, whose notices the test carries; and the queue of turns. A single
// process: MPI starts without mpiexec.
#include "runtime/pmpi/communicator/call_history.h"

#include <deque>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/pmpi/communicator/turn_queue.h"

namespace torc::runtime::pmpi {
namespace {

using testing::ElementsAre;
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
    CollectiveCall call(id, Form::kBlocking, MPI_COMM_WORLD);
    history.note(call, Maker::kTorc);
    return call;
  }

  std::string text = "2";
  bool is_ending = false;
  mutable std::deque<Notice> sent;
  int failed = 0;
  CallHistory history;
};

class CallHistoryTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { PMPI_Init(nullptr, nullptr); }
  static void TearDownTestSuite() { PMPI_Finalize(); }

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

/// Proceeds at the `looks`-th look.
struct CountedTurn final : Turn {
  CountedTurn(int name_of_turn, int looks_needed, std::vector<int>& list, TurnQueue& of)
      : name(name_of_turn), looks(looks_needed), done(list), queue(of) {}
  bool proceed() override {
    if (--looks > 0) return false;
    done.push_back(name);
    return true;
  }
  void giveUp() override {
    has_failed = false;
    queue.leave(this);
  }
  bool hasFailed() const override { return has_failed; }

  int name, looks;
  bool has_failed = false;
  std::vector<int>& done;
  TurnQueue& queue;
};

TEST(TurnQueueTest, TurnsLeaveInTheirOrder) {
  std::vector<int> done;
  TurnQueue queue;
  CountedTurn quick(0, 1, done, queue), first(1, 2, done, queue), second(2, 1, done, queue),
      third(3, 1, done, queue);
  EXPECT_FALSE(queue.enter(&quick));
  EXPECT_TRUE(queue.isEmpty());
  EXPECT_TRUE(queue.enter(&first));
  EXPECT_FALSE(queue.enter(&second));
  EXPECT_FALSE(queue.enter(&third));
  second.has_failed = true;
  queue.giveUpFailed();
  EXPECT_TRUE(queue.proceed());
  EXPECT_THAT(done, ElementsAre(0, 1, 3));
}

}  // namespace
}  // namespace torc::runtime::pmpi
