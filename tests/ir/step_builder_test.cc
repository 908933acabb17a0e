// The step builder's send, receive, reduction and copy: a program of two steps on a ring that the
// verifier proves, and the fields of single operations.
#include "ir/step_builder.h"

#include <optional>

#include <gtest/gtest.h>

#include "ir/verifier/verifier.h"

namespace torc::ir {
namespace {

class StepBuilderTest : public testing::Test {
 protected:
  StepBuilderTest() {
    builder_.emplace(scheduleHeader(Collective::kAllreduce, *parseTopology("2"), 1));
    builder_->addStream({.part = 0, .core = 0});
  }

  Region region(Buffer buffer, std::uint32_t frame = kNone) {
    return builder_->region(buffer, Piece{0, 1, builder_->box(Box())}, frame);
  }
  Shift peerOf(std::uint32_t operation) {
    return builder_->schedule().shifts[builder_->schedule().operations[operation].peer];
  }

  std::optional<StepBuilder> builder_;
};

TEST_F(StepBuilderTest, AllreduceOfTwoNodesIsProved) {
  const std::uint32_t frame = builder_->addFrame(Piece{0, 1, builder_->box(Box())}, 0);
  const Shift up = hop(0, 1);
  const std::uint32_t sent = builder_->send({}, region(Buffer::kIn), up, {});
  const Region staging = region(Buffer::kScratch, frame);
  const std::uint32_t received = builder_->receive({}, staging, up, {});
  // In place `in` is `out`, which the send is to have read.
  builder_->reduce({}, region(Buffer::kOut), region(Buffer::kIn), staging, {sent, received});
  const Schedule schedule = builder_->take();
  EXPECT_EQ(schedule.name, "allreduce");
  const VerifyResult result = verify(schedule.view());
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.faults.front().message);
}

TEST_F(StepBuilderTest, ReceiverLooksTheOtherWay) {
  const Shift moves = {2, -1};
  const std::uint32_t send = builder_->send({}, region(Buffer::kIn), moves, {});
  const std::uint32_t receive = builder_->receive({}, region(Buffer::kOut), moves, {});
  const std::uint32_t added = builder_->receiveAndReduce(
      {}, region(Buffer::kOut), region(Buffer::kIn), region(Buffer::kScratch, 0), moves, {});
  EXPECT_EQ(peerOf(send), (Shift{2, -1}));
  EXPECT_EQ(peerOf(receive), (Shift{-2, 1}));
  EXPECT_EQ(peerOf(added), (Shift{-2, 1}));
}

TEST_F(StepBuilderTest, StepsStandWhereTheyAreSaidTo) {
  Box node;
  node[0] = Interval::absolute(1);
  const std::uint32_t guard = builder_->box(node);
  const std::uint32_t first = builder_->copy({}, region(Buffer::kOut), region(Buffer::kIn), {});
  builder_->setPhase(3);
  const std::uint32_t second =
      builder_->reduce({.stream = 7, .guard = guard}, region(Buffer::kOut), region(Buffer::kOut),
                       region(Buffer::kScratch, 0), {first, first});
  const Schedule schedule = builder_->take();
  EXPECT_EQ(schedule.operations[first].phase, 0);
  EXPECT_EQ(schedule.operations[first].guard, kNone);
  EXPECT_EQ(schedule.operations[first].peer, kNone);
  const Operation& reduce = schedule.operations[second];
  EXPECT_EQ(reduce.kind, OperationKind::kReduce);
  EXPECT_EQ(reduce.phase, 3);
  EXPECT_EQ(reduce.stream, 7u);
  EXPECT_EQ(reduce.guard, guard);
  EXPECT_EQ(reduce.peer, kNone);
  EXPECT_EQ(reduce.dst.buffer, Buffer::kOut);
  EXPECT_EQ(reduce.b.buffer, Buffer::kScratch);
  ASSERT_EQ(reduce.dependence_count, 1u);  // each once
  EXPECT_EQ(schedule.dependences[reduce.first_dependence], first);
}

}  // namespace
}  // namespace torc::ir
