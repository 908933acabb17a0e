// Compares the cost of a one-shot call with a persistent one and with MPI's own.
//
//   bazel build -c opt //bench:one_shot_bench
//   bazel-bin/bench/one_shot_bench                          first table
//   mpiexec.hydra -n 4 bazel-bin/bench/one_shot_bench       second table
//
// First table, processor time on one rank, no message is sent: "lay out": a call that the cache
// does not have; "acquire": a cached one, bound to its buffers and tags and released; "round": the
// executor's part of running it, over a transport that moves nothing, equal in a persistent
// collective.
//
// Second table, time from leaving a barrier to the end of the call, the slowest rank, median of
// many in random order: torc_*_init and start, a one-shot call, the same with elements of one byte,
// and MPI's blocking collective.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <mpi.h>

#include "bench/bench_schedule.h"
#include "bench/null_transport.h"
#include "runtime/api/api.h"
#include "runtime/collectives/call_cache.h"
#include "runtime/execution/executor.h"
#include "runtime/job/bound_schedule.h"
#include "runtime/job/geometry.h"
#include "schedules/expansion/expand.h"
#include "schedules/format/file.h"

namespace torc::runtime {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 30;

void reduceNothing(void*, const void*, const void*, std::size_t, const void*) {}

/// A schedule bound to a geometry, as if compiled, written and read.
std::unique_ptr<torc_schedule> bind(torc_geometry* geometry, const Schedule& schedule) {
  StatusOr<LoadedSchedule> loaded = readSchedule(writeSchedule(schedule.view()), schedule.name);
  if (!loaded.ok()) quit(loaded.status().message());
  auto bound =
      torc_schedule::bind(geometry, std::make_shared<const LoadedSchedule>(std::move(*loaded)));
  if (!bound.ok()) quit(bound.status().message());
  return std::move(*bound);
}

/// Checks the arguments and finds their persistent plan; `call` keeps its lists' memory.
Plan* acquire(CallCache& cache, torc_schedule* schedule, const CallArguments& arguments,
              Call& call) {
  const torc_geometry& geometry = *schedule->geometry;
  const Status status = check(arguments, geometry.rank, geometry.size, call);
  if (!status.ok()) quit(status.message());
  takeLists(arguments, geometry.size, call);
  StatusOr<Plan*> plan = cache.acquire(schedule, call);
  if (!plan.ok()) quit(plan.status().message());
  return *plan;
}

// ---- First table -------------------------------------------------------------------------------

struct Local {
  std::size_t operations = 0;
  double lay_out_ns = 0, acquire_ns = 0, round_ns = 0;
};

/// Rank 0 of an imaginary torus.
Local measureLocal(const Schedule& compiled, const CallArguments& arguments, const Counts& counts) {
  torc_context context;
  torc_geometry geometry(&context);
  geometry.size = static_cast<int>(compiled.topology.ranks());
  const std::unique_ptr<torc_schedule> schedule = bind(&geometry, compiled);

  Local result;
  TagRange tags;
  Call checked;
  {
    CallMemory memory(kPlenty);
    CallCache cache(&geometry, &memory);
    Plan* first = acquire(cache, schedule.get(), arguments, checked);
    result.operations = first->executor().operations();
    cache.release(first);
    result.acquire_ns = nanoseconds([&] {
      Plan* plan = acquire(cache, schedule.get(), arguments, checked);
      tags.base = (tags.base + 1000) % 100000;
      plan->bindTags(tags);
      cache.release(plan);
    });
  }
  {
    CallMemory memory(0);
    CallCache cache(&geometry, &memory);
    result.lay_out_ns =
        nanoseconds([&] { cache.release(acquire(cache, schedule.get(), arguments, checked)); });
  }
  const StatusOr<FlatProgram> program = expand(schedule->view(), 0, counts);
  if (!program.ok()) quit(program.status().message());
  std::vector<float> in(program->in_elements), out(program->out_elements),
      scratch(program->scratch_elements);
  Buffers buffers;
  buffers.in = reinterpret_cast<const std::byte*>(in.data());
  buffers.out = reinterpret_cast<std::byte*>(out.data());
  buffers.scratch = reinterpret_cast<std::byte*>(scratch.data());
  buffers.element_bytes = sizeof(float);
  const Reducer reducer{reduceNothing, nullptr};
  auto executor = Executor::create(*program, buffers, reducer, std::make_unique<NullTransport>());
  if (!executor.ok()) quit(executor.status().message());
  result.round_ns = nanoseconds([&] {
    (*executor)->bind(buffers, reducer);
    (*executor)->start();
    while ((*executor)->advance() == Progress::kActive) {
    }
  });
  return result;
}

void printLocalRow(const std::string& collective, const std::string& shape, std::uint32_t chunks,
                   bool lists) {
  const Schedule schedule = compileSchedule(collective, shape, chunks);
  const std::uint64_t ranks = schedule.topology.ranks(), parts = schedule.view().partCount();
  CallArguments arguments;
  arguments.collective = schedule.collective;
  arguments.type = arguments.own_type = MPI_FLOAT;
  arguments.op = MPI_SUM;
  const std::uint64_t block = parts, whole = ranks * parts;
  Counts counts;
  counts.count = schedule.collective == Collective::kAllreduce ? whole : block;
  std::vector<float> in(whole), out(whole);
  arguments.in = in.data();
  arguments.out = out.data();
  arguments.count = static_cast<std::int64_t>(counts.count);
  arguments.own_count = static_cast<std::int64_t>(block);
  std::vector<std::int64_t> list(ranks, static_cast<std::int64_t>(block)), displacements;
  for (std::uint64_t r = 0; r < ranks; ++r)
    displacements.push_back(static_cast<std::int64_t>(r * block));
  if (lists) {
    arguments.has_counts = arguments.has_displacements = true;
    arguments.counts = list.data();
    arguments.displacements = displacements.data();
  }
  const Local local = measureLocal(schedule, arguments, counts);
  const auto operations = static_cast<double>(local.operations);
  std::printf("| %s%s | %s | %zu | %.0f | %.0f | %.0f | %.2f | %.2f |\n", collective.c_str(),
              lists ? "v" : "", shape.c_str(), local.operations, 1e-3 * local.lay_out_ns,
              local.acquire_ns, local.round_ns, local.acquire_ns / operations,
              local.round_ns / operations);
  std::fflush(stdout);
}

// ---- Second table ------------------------------------------------------------------------------

int ranks = 1, rank = 0;

void waitYielding(MPI_Request request) {
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) sched_yield();
  }
}

/// The methods in random order, `iterations` times each; medians over the iterations, in us.
template <std::size_t N, typename Run>
std::array<double, N> medians(int iterations, Run run) {
  std::array<std::vector<double>, N> seconds;
  std::array<std::size_t, N> order;
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);  // the same on all ranks
  for (int i = 0; i < iterations; ++i) {
    // A fixed predecessor would leave the caches in a particular state.
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t method : order) {
      MPI_Request request;
      MPI_Ibarrier(MPI_COMM_WORLD, &request);
      waitYielding(request);
      const double start = MPI_Wtime();
      run(method);
      seconds[method].push_back(MPI_Wtime() - start);
    }
  }
  std::array<double, N> result{};
  for (std::size_t k = 0; k < N; ++k) {
    std::vector<double> slowest(seconds[k].size());
    MPI_Request request;
    MPI_Iallreduce(seconds[k].data(), slowest.data(), static_cast<int>(slowest.size()), MPI_DOUBLE,
                   MPI_MAX, MPI_COMM_WORLD, &request);
    waitYielding(request);
    std::nth_element(slowest.begin(), slowest.begin() + iterations / 2, slowest.end());
    result[k] = 1e6 * slowest[static_cast<std::size_t>(iterations / 2)];
  }
  return result;
}

void check(int code) {
  if (code != TORC_OK) quit(torc_error_message());
}

void runOneShot(torc_geometry& geometry, CallCache& cache, torc_schedule* schedule,
                const CallArguments& arguments) {
  static std::uint64_t call = 0;
  const TagRange tags =
      geometry.one_shot_tags.rangeOf(TagSpace::hashOf(0, ++call), schedule->tag_count);
  Call checked;
  Plan* plan = acquire(cache, schedule, arguments, checked);
  plan->bindTags(tags);
  check(report(plan->start()));
  geometry.context->progressUntil([&] { return !plan->active; });
  check(report(plan->roundStatus()));
  cache.release(plan);
}

void printRow(torc_geometry& geometry, CallCache& cache, torc_schedule* schedule,
              std::uint64_t bytes, int iterations) {
  const bool gathers = schedule->view().collective == Collective::kAllgather;
  const auto block = static_cast<std::int64_t>(bytes / 4 / static_cast<std::uint64_t>(ranks));
  const std::int64_t count = gathers ? block : static_cast<std::int64_t>(bytes / 4);
  std::vector<float> in(bytes / 4, 1.0f), out(bytes / 4);
  CallArguments arguments;
  arguments.collective = schedule->view().collective;
  arguments.in = in.data();
  arguments.out = out.data();
  arguments.count = arguments.own_count = count;
  arguments.type = arguments.own_type = MPI_FLOAT;
  arguments.op = MPI_SUM;
  CallArguments as_bytes = arguments;
  as_bytes.count = as_bytes.own_count = 4 * count;
  as_bytes.type = as_bytes.own_type = MPI_BYTE;
  as_bytes.op = MPI_BXOR;
  torc_collective* persistent = nullptr;
  check(gathers ? torc_allgather_init(schedule, in.data(), count, MPI_FLOAT, out.data(), count,
                                      MPI_FLOAT, &persistent)
                : torc_allreduce_init(schedule, in.data(), out.data(), count, MPI_FLOAT, MPI_SUM,
                                      &persistent));
  auto run = [&](std::size_t method) {
    if (method == 0) {
      check(torc_collective_start(persistent));
      check(torc_collective_wait(persistent));
    } else if (method == 1) {
      runOneShot(geometry, cache, schedule, arguments);
    } else if (method == 2) {
      runOneShot(geometry, cache, schedule, as_bytes);
    } else if (gathers) {
      MPI_Allgather(in.data(), static_cast<int>(count), MPI_FLOAT, out.data(),
                    static_cast<int>(count), MPI_FLOAT, MPI_COMM_WORLD);
    } else {
      MPI_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
    }
  };
  medians<4>(5, run);
  const std::array<double, 4> us = medians<4>(iterations, run);
  check(torc_collective_free(persistent));
  if (rank != 0) return;
  std::printf("| %s | %llu | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f | %.2f |\n",
              std::string(rowOf(arguments.collective).name).c_str(),
              static_cast<unsigned long long>(bytes), us[0], us[1], us[2], us[3], us[1] / us[0],
              us[2] / us[1], us[1] / us[3]);
  std::fflush(stdout);
}

void printTable() {
  static constexpr const char* kShapes[] = {"", "1", "2", "3", "2x2", "5", "3x2", "7", "2x2x2"};
  if (ranks > 8) quit("at most 8 ranks");
  torc_context* context = nullptr;
  torc_geometry* geometry = nullptr;
  check(torc_context_create(&context));
  check(torc_geometry_create(context, MPI_COMM_WORLD, kShapes[ranks], nullptr, &geometry));
  if (rank == 0) {
    std::printf("%d ranks on %ld cores%s; medians in us\n", ranks, sysconf(_SC_NPROCESSORS_ONLN),
                geometry->hosts.oversubscribed ? ", more ranks than cores" : "");
    std::printf(
        "| collective | bytes | persistent | one-shot | in bytes | MPI | one-shot / persistent | "
        "in bytes / one-shot | one-shot / MPI |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  }
  {
    CallMemory memory(kPlenty);
    CallCache cache(geometry, &memory);
    for (const char* collective : {"allreduce", "allgather"}) {
      const std::unique_ptr<torc_schedule> schedule =
          bind(geometry, compileSchedule(collective, kShapes[ranks], 1));
      for (const std::uint64_t bytes : {64u, 4096u, 65536u, 1000000u, 8000000u})
        printRow(*geometry, cache, schedule.get(), bytes, bytes > 500000 ? 31 : 301);
      cache.forget(schedule.get());
    }
  }
  check(torc_geometry_destroy(geometry));
  check(torc_context_destroy(context));
}

}  // namespace
}  // namespace torc::runtime

int main() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &torc::runtime::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &torc::runtime::ranks);
  if (torc::runtime::ranks > 1) {
    torc::runtime::printTable();
  } else {
    std::printf(
        "processor time of one rank\n"
        "| collective | torus | operations | lay out, us | acquire, ns | round, ns | acquire, "
        "ns/op | round, ns/op |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    torc::runtime::printLocalRow("allreduce", "4x3x2", 1, false);
    torc::runtime::printLocalRow("allreduce", "4x4x4", 1, false);
    torc::runtime::printLocalRow("allreduce", "4x4x4", 8, false);
    torc::runtime::printLocalRow("reduce_scatter", "4x4x4", 1, false);
    torc::runtime::printLocalRow("allgather", "4x4x4", 1, false);
    torc::runtime::printLocalRow("allgather", "4x4x4", 1, true);
    torc::runtime::printLocalRow("allreduce", "8x8x8", 1, false);
  }
  MPI_Finalize();
  return 0;
}
