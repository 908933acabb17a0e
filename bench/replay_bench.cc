// Measures the cost of replay per operation, without the transport and arithmetic.
//
//   bazel run -c opt //bench:replay_bench [-- COLLECTIVE SHAPE CHUNKS]
//
// "executor": one rank's program over a transport that moves nothing and completes every message at
// the next poll, with a reducer that does nothing. The rest is the executor's own work: dependence
// counting, ready lists, calls to the transport. "null transport": starting and polling the same
// messages by a bare loop, which is part of the first number. "in-process": all ranks in one
// thread, with one element per message or so, copies and sums included. Processor time, the minimum
// of several samples; goal: under 100 ns per operation for the first.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench_schedule.h"
#include "bench/null_transport.h"
#include "runtime/execution/executor.h"
#include "runtime/execution/inprocess_job.h"
#include "runtime/reductions/reduction.h"
#include "schedules/expansion/expand.h"

namespace torc::runtime {
namespace {

void reduceNothing(void*, const void*, const void*, std::size_t, const void*) {}

[[noreturn]] void quit(const std::string& message) {
  std::fprintf(stderr, "replay_bench: %s\n", message.c_str());
  std::exit(1);
}

struct Replay {
  std::size_t operations = 0, messages = 0;
  double executor_ns = 0;  // per round
  double transport_ns = 0;
};

/// The executor of rank 0 over the null transport. No data is touched.
Replay measureExecutor(const Schedule& schedule, const Counts& counts) {
  const StatusOr<FlatProgram> program = expand(schedule.view(), 0, counts);
  if (!program.ok()) quit(program.status().message());
  // Copies are real, so the memory is needed.
  std::vector<float> in(program->in_elements), out(program->out_elements),
      scratch(program->scratch_elements);
  Buffers buffers;
  buffers.in = reinterpret_cast<const std::byte*>(in.data());
  buffers.out = reinterpret_cast<std::byte*>(out.data());
  buffers.scratch = reinterpret_cast<std::byte*>(scratch.data());
  buffers.element_bytes = sizeof(float);
  auto executor = Executor::create(*program, buffers, {reduceNothing, nullptr},
                                   std::make_unique<NullTransport>());
  if (!executor.ok()) quit(executor.status().message());

  Replay result;
  result.operations = (*executor)->operations();
  result.messages = (*executor)->messages();
  result.executor_ns = nanoseconds([&] {
    (*executor)->start();
    while ((*executor)->advance() == Progress::kActive) {
    }
  });

  const std::unique_ptr<Transport> transport = std::make_unique<NullTransport>();
  for (std::size_t i = 0; i < result.messages; ++i)
    transport->prepare({.sending = true}, {}, {});
  transport->commit();
  std::vector<ChannelId> completed(result.messages);
  result.transport_ns = nanoseconds([&] {
    for (std::size_t i = 0; i < result.messages; ++i) {
      (void)transport->start(static_cast<ChannelId>(i));
      (void)transport->poll(completed);
    }
  });
  return result;
}

/// All ranks in one thread, sums and copies included; nanoseconds per operation.
double measureJob(const Schedule& schedule, const Counts& counts) {
  JobOptions options;
  options.element_bytes = sizeof(float);
  options.reducer = {reductionKernel(ElementKind::kFloat, ReduceOp::kSum), nullptr};
  auto job = InProcessJob::create(schedule.view(), counts, options);
  if (!job.ok()) quit(job.status().message());
  std::size_t operations = 0;
  for (std::int32_t rank = 0; rank < (*job)->ranks(); ++rank)
    operations += (*job)->executor(rank).operations();
  const double ns = nanoseconds([&] {
    if (Status status = (*job)->run(); !status.ok()) quit(status.message());
  });
  return ns / static_cast<double>(operations);
}

void printRow(const std::string& collective, const std::string& shape, std::uint32_t chunks) {
  const Schedule schedule = compileSchedule(collective, shape, chunks);
  // As many elements as parts and blocks: about one in every message's block.
  const std::uint64_t ranks = schedule.topology.ranks(), parts = schedule.view().partCount();
  Counts counts;
  counts.count = schedule.collective == Collective::kAllreduce ? ranks * parts : parts;
  const Replay replay = measureExecutor(schedule, counts);
  const double job_ns = ranks <= 512 ? measureJob(schedule, counts) : 0;
  const auto operations = static_cast<double>(replay.operations);
  std::printf("| %s | %s | %u | %zu | %zu | %.1f | %.1f | %.1f |\n", collective.c_str(),
              shape.c_str(), chunks, replay.operations, replay.messages,
              replay.executor_ns / operations, replay.transport_ns / operations, job_ns);
  std::fflush(stdout);
}

}  // namespace
}  // namespace torc::runtime

int main(int argc, char** argv) {
  std::printf(
      "ns per operation of one rank, processor time\n"
      "| collective | torus | chunks | operations | messages | executor | null transport | "
      "in-process |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  if (argc == 4) {
    torc::runtime::printRow(argv[1], argv[2], static_cast<std::uint32_t>(std::atoi(argv[3])));
    return 0;
  }
  if (argc != 1) {
    std::fprintf(stderr, "usage: replay_bench [COLLECTIVE SHAPE CHUNKS]\n");
    return 2;
  }
  torc::runtime::printRow("allreduce", "4x3x2", 1);
  torc::runtime::printRow("allreduce", "4x4x4", 1);
  torc::runtime::printRow("allreduce", "4x4x4", 8);
  torc::runtime::printRow("reduce_scatter", "4x4x4", 1);
  torc::runtime::printRow("allgather", "4x4x4", 1);
  torc::runtime::printRow("allreduce", "8x8x8", 1);
}
