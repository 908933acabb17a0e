// A proved file holds the bytes of the schedule; a schedule without a proof has no file.
#include "compiler/proved_file.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "compiler/compile.h"

namespace torc::compiler {
namespace {

Schedule compiled() {
  const Algorithm& bucket = *cantFail(findAlgorithm("bucket"));
  return cantFail(compile({Collective::kAllreduce, *parseTopology("4x3")}, bucket,
                          pipelineOf(bucket, {}), passes::PassManagerOptions()))
      .schedule;
}

TEST(ProvedFile, HoldsTheScheduleAsItIsRead) {
  const Schedule schedule = compiled();
  const ProvedFile file = cantFail(provedFile(schedule.view()));
  EXPECT_EQ(file.bytes, writeSchedule(schedule.view()));
  EXPECT_TRUE(std::ranges::equal(file.schedule.view().operations, schedule.operations));
}

TEST(ProvedFile, ShowsWhyThereIsNone) {
  Schedule schedule = compiled();
  const auto receive = std::ranges::find_if(schedule.operations, [](const Operation& operation) {
    return operation.kind == OperationKind::kRecv;
  });
  ASSERT_NE(receive, schedule.operations.end());
  receive->kind = OperationKind::kCopy;  // what was to be received is copied from nowhere
  receive->peer = kNone;
  receive->a = receive->dst;
  receive->a.buffer = Buffer::kIn;
  const std::string message = llvm::toString(provedFile(schedule.view()).takeError());
  EXPECT_NE(message.find("the schedule is not proved, nothing is written\nerror: "),
            std::string::npos)
      << message;
}

TEST(ProvedFile, OfMoreSegmentsTheStepsAreProvedOnce) {
  const Algorithm& trees = *cantFail(findAlgorithm("rectangular"));
  const auto inSegments = [&](std::uint32_t segments) {
    PipelineOptions options;
    options.chunks = segments;
    return cantFail(compile({Collective::kBroadcast, *parseTopology("3x2")}, trees,
                            pipelineOf(trees, options), passes::PassManagerOptions()))
        .schedule;
  };
  const auto stepsOf = [](Schedule schedule, std::uint32_t segments) {
    schedule.segments = segments;
    schedule.name = schedule.producer = "";
    const std::vector<std::byte> bytes = writeSchedule(schedule.view());
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const Schedule some = inSegments(20), more = inSegments(30), few = inSegments(3);
  ASSERT_GT(some.window, 3u);
  ProvedSteps proved;
  EXPECT_EQ(cantFail(provedFile(some.view(), &proved)).bytes, writeSchedule(some.view()));
  EXPECT_TRUE(proved.contains(stepsOf(more, more.window + 1)));
  EXPECT_FALSE(proved.contains(stepsOf(few, few.segments)));
  EXPECT_EQ(cantFail(provedFile(more.view(), &proved)).bytes, writeSchedule(more.view()));
  // Steps that are others are proved, whatever has been.
  Schedule wrong = more;
  wrong.operations.back().kind = OperationKind::kCopy;
  wrong.operations.back().peer = kNone;
  wrong.operations.back().a = wrong.operations.back().dst;
  wrong.operations.back().a.buffer = Buffer::kIn;
  EXPECT_FALSE(llvm::toString(provedFile(wrong.view(), &proved).takeError()).empty());
}

TEST(ProvedFile, RefusesWhatCannotBeRead) {
  Schedule schedule = compiled();
  schedule.operations.back().stream = 1000;
  const std::string message = llvm::toString(provedFile(schedule.view()).takeError());
  EXPECT_NE(message.find("compiled schedule: "), std::string::npos) << message;
}

}  // namespace
}  // namespace torc::compiler
