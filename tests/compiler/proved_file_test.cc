// A proved file holds the bytes of the schedule; of a schedule that cannot be proved there is none.
#include "compiler/proved_file.h"

#include <algorithm>

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

TEST(ProvedFile, RefusesWhatCannotBeRead) {
  Schedule schedule = compiled();
  schedule.operations.back().stream = 1000;
  const std::string message = llvm::toString(provedFile(schedule.view()).takeError());
  EXPECT_NE(message.find("compiled schedule: "), std::string::npos) << message;
}

}  // namespace
}  // namespace torc::compiler
