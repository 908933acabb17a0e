// Bucket schedules send only to neighbours, and no link has more than its share: so the packet
// simulator and the link simulator agree if processors take no time for packets.
#include <string>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "model/packets/packet_simulator.h"
#include "model/simulator/simulator.h"
#include "tests/model/model_testing.h"

namespace torc::model {
namespace {

TEST(PacketAgreementTest, BucketSchedulesTakeWhatTheLinkSimulatorSays) {
  PacketOptions options;
  options.parameters.send = options.parameters.send_byte = 0;
  options.parameters.receive = options.parameters.receive_byte = 0;
  for (const char* shape : {"8", "4x4", "4x4x4", "4mx4"}) {
    for (const Collective collective : {Collective::kAllreduce, Collective::kAllgather}) {
      Machine machine = llvm::cantFail(partitionOf(llvm::cantFail(findMachine("bgl")), shape));
      machine.gamma = machine.memory_bandwidth = machine.injection = machine.message_gap = 0;
      const Schedule schedule = compiled(collective, shape);
      SimulateOptions links;
      links.bytes = 2 << 20;
      links.per_rank = true;
      ProgramOptions program;
      program.bytes = links.bytes;
      const SimulateResult by_links = llvm::cantFail(simulate(schedule.view(), machine, links));
      llvm::Expected<PacketResult> by_packets =
          simulateProgram(schedule.view(), machine, program, options);
      ASSERT_TRUE(static_cast<bool>(by_packets)) << llvm::toString(by_packets.takeError());
      EXPECT_NEAR(by_packets->makespan_s / by_links.makespan_s, 1, 0.05)
          << shape << ' ' << rowOf(collective).name;
    }
  }
}

}  // namespace
}  // namespace torc::model
