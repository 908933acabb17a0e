// Measures growth with the machine: compiles an allreduce (proof included) for tori from 8 to
// 65,536 nodes, then loads the file and expands one rank, and prints a table. Each shape runs in a
// process of its own, whose peak memory is read when it ends. Then the flat program of one rank of
// an allgather on 64x32x32 in 16 chunks, whose regions have up to 2048 blocks each. Last, the
// operations of one rank of an all-to-all by rotated rings with a count of its own for every pair.
//
//   bazel run -c opt //bench:scale_bench [-- SHAPE...]
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <llvm/Support/raw_ostream.h>

#include "compiler/compile.h"
#include "compiler/proved_file.h"
#include "schedules/expansion/count_exchange.h"
#include "schedules/expansion/expand.h"
#include "schedules/format/file.h"

namespace torc {
namespace {

/// The report of a shape's process through a pipe.
struct Measured {
  std::uint64_t nodes = 0, operations = 0;
  double compile_s = 0, expand_ms = 0;
  double file_kib = 0, expand_mib = 0;
};

/// Processor time, which other work on the machine does not lengthen; all this is one thread.
double processorSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

[[noreturn]] void quit(const std::string& message) {
  std::fprintf(stderr, "scale_bench: %s\n", message.c_str());
  _exit(1);
}

template <typename T>
double mib(const std::vector<T>& table) {
  return static_cast<double>(table.capacity() * sizeof(T)) / (1 << 20);
}

Measured measure(const std::string& shape) {
  Measured result;
  const StatusOr<Topology> topology = parseTopology(shape);
  if (!topology.ok()) quit(topology.status().message());
  llvm::Expected<const compiler::Algorithm*> algorithm = compiler::findAlgorithm("bucket");
  if (!algorithm) quit(llvm::toString(algorithm.takeError()));

  // As in `torc compile allreduce --algorithm bucket`: every pass is proved, and the result once
  // more before writing.
  const double compile_start = processorSeconds();
  llvm::Expected<ir::Program> program =
      compiler::compile({Collective::kAllreduce, *topology}, **algorithm,
                        compiler::pipelineOf(**algorithm, {}), passes::PassManagerOptions());
  if (!program) quit(llvm::toString(program.takeError()));
  program = compiler::rollLoops(*program, passes::PassManagerOptions());
  if (!program) quit(llvm::toString(program.takeError()));
  llvm::Expected<compiler::ProvedFile> proved = compiler::provedFile(program->schedule.view());
  if (!proved) quit(shape + ": " + llvm::toString(proved.takeError()));
  const std::vector<std::byte>& file = proved->bytes;
  result.compile_s = processorSeconds() - compile_start;
  result.nodes = topology->ranks();
  result.operations = program->schedule.operations.size();
  result.file_kib = static_cast<double>(file.size()) / 1024;

  // The median of eleven, for a rank in the middle; with enough elements to fill every message.
  std::vector<double> times;
  for (int i = 0; i < 11; ++i) {
    const double start = processorSeconds();
    const StatusOr<LoadedSchedule> loaded = readSchedule(file, shape);
    if (!loaded.ok()) quit(loaded.status().message());
    const StatusOr<FlatProgram> flat = expand(
        loaded->view(), static_cast<std::int32_t>(result.nodes / 2), {result.nodes * 64, {}, {}});
    if (!flat.ok()) quit(flat.status().message());
    times.push_back(1e3 * (processorSeconds() - start));
    result.expand_mib = static_cast<double>(loaded->bytes()) / (1 << 20) + mib(flat->operations) +
                        mib(flat->extents) + mib(flat->loops) + mib(flat->dependences);
  }
  std::sort(times.begin(), times.end());
  result.expand_ms = times[times.size() / 2];
  return result;
}

/// Measures in a child process; prints a row.
void row(const std::string& shape) {
  int ends[2];
  if (pipe(ends) != 0) quit("pipe failed");
  const pid_t child = fork();
  if (child < 0) quit("fork failed");
  if (child == 0) {
    const Measured measured = measure(shape);
    _exit(write(ends[1], &measured, sizeof(measured)) == sizeof(measured) ? 0 : 1);
  }
  close(ends[1]);
  Measured measured;
  const bool complete = read(ends[0], &measured, sizeof(measured)) == sizeof(measured);
  close(ends[0]);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0 || !complete) {
    quit(shape + ": the measuring process failed");
  }
  std::printf("| %s | %llu | %llu | %.3f | %.1f | %.0f | %.2f | %.2f |\n", shape.c_str(),
              static_cast<unsigned long long>(measured.nodes),
              static_cast<unsigned long long>(measured.operations), measured.compile_s,
              static_cast<double>(usage.ru_maxrss) / 1024, measured.file_kib, measured.expand_ms,
              measured.expand_mib);
  std::fflush(stdout);
}

void allgatherRow() {
  const StatusOr<Topology> topology = parseTopology("64x32x32");
  llvm::Expected<const compiler::Algorithm*> algorithm = compiler::findAlgorithm("bucket");
  if (!algorithm) quit(llvm::toString(algorithm.takeError()));
  compiler::PipelineOptions options;
  options.chunks = 16;
  const passes::PassPipeline pipeline = compiler::pipelineOf(**algorithm, options);
  llvm::Expected<ir::Program> program = compiler::compile(
      {Collective::kAllgather, *topology}, **algorithm, pipeline, passes::PassManagerOptions());
  if (!program) quit(llvm::toString(program.takeError()));
  std::vector<double> times;
  double mebibytes = 0;
  std::size_t operations = 0;
  for (int i = 0; i < 11; ++i) {
    const double start = processorSeconds();
    const StatusOr<FlatProgram> flat = expand(program->schedule.view(), 32768,
                                              {.count = 6400, .per_rank = {}, .displacements = {}});
    times.push_back(1e3 * (processorSeconds() - start));
    if (!flat.ok()) quit(flat.status().message());
    operations = flat->operations.size();
    mebibytes =
        mib(flat->operations) + mib(flat->extents) + mib(flat->loops) + mib(flat->dependences);
  }
  std::sort(times.begin(), times.end());
  std::printf("\nallgather on 64x32x32 in 16 chunks, a rank of %zu operations: %.2f ms, %.2f MiB\n",
              operations, times[times.size() / 2], mebibytes);
}

void pairCountsRow(const std::string& shape) {
  const StatusOr<Topology> topology = parseTopology(shape);
  llvm::Expected<const compiler::Algorithm*> algorithm = compiler::findAlgorithm("rotated-rings");
  if (!topology.ok() || !algorithm) quit(shape + ": no such all-to-all");
  llvm::Expected<ir::Program> program =
      compiler::compile({Collective::kAlltoall, *topology}, **algorithm,
                        compiler::pipelineOf(**algorithm, {}), passes::PassManagerOptions());
  if (!program) quit(llvm::toString(program.takeError()));
  const ScheduleView view = program->schedule.view();
  const auto ranks = static_cast<std::size_t>(topology->ranks());
  const auto rank = static_cast<std::int32_t>(ranks / 2);

  const double start = processorSeconds();
  const CountExchange exchange(view);
  const StatusOr<FlatProgram> numbers = exchange.expand(rank);
  if (!numbers.ok()) quit(numbers.status().message());
  // As if all counts had arrived.
  const std::vector<std::uint64_t> scratch(numbers->scratch_elements, CountExchange::numberOf(100));
  PairCounts passing;
  if (Status status = exchange.read(rank, scratch, passing); !status.ok()) quit(status.message());
  const double learned = processorSeconds();
  const std::vector<std::uint64_t> list(ranks, 100);
  const Counts counts{.count = 0,
                      .per_rank = list,
                      .displacements = {},
                      .in_per_rank = list,
                      .in_displacements = {},
                      .passing = &passing};
  const StatusOr<FlatProgram> flat = expand(view, rank, counts);
  if (!flat.ok()) quit(flat.status().message());
  std::printf("| %s | %zu | %zu | %.0f | %.1f | %.3f | %.3f |\n", shape.c_str(), ranks,
              passing.size(), static_cast<double>(exchange.copies()), mib(scratch), learned - start,
              processorSeconds() - learned);
}

}  // namespace
}  // namespace torc

int main(int argc, char** argv) {
  std::vector<std::string> shapes(argv + 1, argv + argc);
  if (shapes.empty()) {
    shapes = {"2x2x2", "4x4x4", "8x8x8", "16x16x16", "32x32x32", "64x32x32"};
  }
  std::printf(
      "| torus | nodes | operations | compile and prove, CPU s | peak MiB | file KiB | load and "
      "expand "
      "a "
      "rank, ms | MiB |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  std::fflush(stdout);
  for (const std::string& shape : shapes)
    torc::row(shape);
  if (argc > 1) return 0;
  torc::allgatherRow();
  std::printf(
      "\nAll-to-alls of pairs with counts of their own, one rank:\n| torus | nodes | pairs that "
      "pass | copies of a count | scratch, MiB | counts, CPU s | expand, CPU s |\n| --- | --- | "
      "--- "
      "| --- | --- | --- | --- |\n");
  for (const char* shape : {"2x2x2", "8x8x8", "8x32x16", "256x2", "4x4x4x4x4", "8x8x8m", "16x16x16",
                            "40x32x16", "64x32x32"})
    torc::pairCountsRow(shape);
  return 0;
}
