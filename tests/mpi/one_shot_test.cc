// One-shot calls from a cache: results with ever new buffers, tags from a ring, memory, handles.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <list>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/collectives/call_cache.h"
#include "runtime/job/describe_call.h"
#include "runtime/transport/tag_space.h"
#include "tests/mpi/job.h"
#include "tests/runtime/pmpi/mpi_calls/call.h"
#include "tests/runtime/pmpi/mpi_calls/checks.h"

namespace torc::runtime {
namespace {

constexpr std::size_t kPlenty = std::size_t{64} << 20;

CallArguments allreduce(const void* in, void* out, std::int64_t count,
                        MPI_Datatype type = MPI_INT32_T, MPI_Op op = MPI_SUM) {
  return describeReduction(CallId::kAllreduce, in, out, count, type, op, MPI_COMM_NULL);
}

/// The sum, over the ranks, of numberOf.
std::vector<std::int32_t> sums(std::int64_t count) {
  std::vector<std::int32_t> data(static_cast<std::size_t>(count), 0);
  for (int r = 0; r < worldSize(); ++r) {
    for (std::int64_t i = 0; i < count; ++i)
      data[static_cast<std::size_t>(i)] += numberOf(r, i);
  }
  return data;
}

class OneShot : public MappedTest {
 public:
  void run(const std::string& collective, const CallArguments& arguments) {
    run(*cache_, schedule(collective), arguments);
  }
  void run(CallCache& cache, torc_schedule* with, const CallArguments& arguments) {
    Running running;
    start(running, cache, with, arguments);
    finish(running, cache);
  }

  /// Of so many numbers, with new buffers.
  void expectSum(CallCache& cache, torc_schedule* with, std::int64_t count) {
    const std::vector<std::int32_t> in = numbers(count);
    std::vector<std::int32_t> out(in.size(), -1);
    run(cache, with, allreduce(in.data(), out.data(), count));
    EXPECT_EQ(out, sums(count));
  }

 protected:
  void TearDown() override {
    cache_.reset();
    MappedTest::TearDown();
  }

  void open(const Mapping& mapping, std::size_t limit = kPlenty) {
    cache_.reset();
    mapRanks(mapping);
    memory_ = std::make_unique<CallMemory>(limit);
    cache_ = std::make_unique<CallCache>(geometry_.get(), memory_.get());
  }

  /// A persistent plan for `arguments`; its lists need not outlive this.
  StatusOr<Plan*> acquire(CallCache& cache, torc_schedule* with, const CallArguments& arguments) {
    if (Status fits = checkSchedule(*with, arguments.collective); !fits.ok()) return fits;
    Call call;
    if (Status status = check(arguments, worldRank(), worldSize(), call); !status.ok()) {
      return status;
    }
    takeLists(arguments, worldSize(), call);
    return cache.acquire(with, call);
  }

  /// A call that is started, with its tags.
  struct Running {
    Plan* plan = nullptr;
    TagSpace* space = nullptr;
    TagRange tags;
  };

  void start(Running& running, CallCache& cache, torc_schedule* with,
             const CallArguments& arguments) {
    TagSpace& space = *(running.space = &with->geometry->one_shot_tags);
    running.tags = space.rangeOf(TagSpace::hashOf(0, ++calls_), with->tag_count);
    StatusOr<Plan*> plan = acquire(cache, with, arguments);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    running.plan = *plan;
    EXPECT_TRUE(space.ready(running.tags));
    space.hold(running.tags);
    running.plan->bindTags(running.tags);
    EXPECT_TRUE(running.plan->start().ok());
  }
  void finish(Running& running, CallCache& cache) {
    context_->progressUntil([&] { return !running.plan->active; });
    EXPECT_TRUE(running.plan->roundStatus().ok());
    running.space->release(running.tags);
    cache.release(running.plan);
  }

  std::uint64_t calls_ = 0;
  std::unique_ptr<CallMemory> memory_;
  std::unique_ptr<CallCache> cache_;
};

OneShot* g_test = nullptr;

/// What mpi_calls::Call calls: torc, by the running test's cache.
template <Collective kind>
int callFromCache(mpi_calls::Form, const mpi_calls::Arguments& a, MPI_Request*) {
  CallArguments arguments = allreduce(a.in, a.out, a.narrow.count, a.type, a.op);
  arguments.collective = kind;
  arguments.own_count = a.narrow.in_count;
  arguments.own_type = a.in_type;
  arguments.has_counts = !a.narrow.counts.empty();
  if (arguments.has_counts) arguments.counts = a.narrow.counts.data();
  g_test->run(std::string(rowOf(kind).name), arguments);
  return MPI_SUCCESS;
}

TEST_F(OneShot, CallsOfAllKindsInRandomOrderWithNewBuffersEachTime) {
  const mpi_calls::Collective kinds[] = {
      {"allreduce", &rowOf(Collective::kAllreduce), false, false, 1,
       callFromCache<Collective::kAllreduce>},
      {"reduce_scatter", &rowOf(Collective::kReduceScatter), true, false, 1,
       callFromCache<Collective::kReduceScatter>},
      {"allgather", &rowOf(Collective::kAllgather), false, false, 1,
       callFromCache<Collective::kAllgather>}};
  g_test = this;
  mpi_calls::on_failure = [](const std::string& text) { ADD_FAILURE() << text; };
  for (const Mapping& mapping : allMappings()) {
    open(mapping);
    std::mt19937 random(11);  // the same on all ranks
    std::set<std::tuple<std::size_t, std::int64_t, bool>> signatures;
    constexpr int kCalls = 60;
    for (int i = 0; i < kCalls; ++i) {
      const std::size_t kind = random() % 3;
      const std::int64_t count = std::int64_t{1} << (2 * (random() % 7));
      mpi_calls::Shape shape =
          mpi_calls::simpleShape(kinds[kind], mpi_calls::Form::kBlocking, count);
      shape.in_place = random() % 2 == 0;
      signatures.insert({kind, count, shape.in_place});
      mpi_calls::Call(shape, {mapping.name, MPI_COMM_WORLD}).run();
    }
    EXPECT_EQ(memory_->misses(), signatures.size());
    EXPECT_EQ(memory_->hits(), kCalls - signatures.size());
    EXPECT_GT(memory_->hits(), 10u);
    cache_.reset();
    EXPECT_EQ(memory_->bytes(), 0u);
  }
}

TEST_F(OneShot, TypesOfOneSizeAndAllOperationsShareALayout) {
  open({});
  std::vector<std::int32_t> in = numbers(100), out(100), expected(100);
  const std::vector<float> reals(100, 1.5f);
  std::vector<float> real_sums(100);
  for (const MPI_Op op : {MPI_SUM, MPI_MAX, MPI_BXOR, MPI_MIN}) {
    MPI_Allreduce(in.data(), expected.data(), 100, MPI_INT32_T, op, MPI_COMM_WORLD);
    run("allreduce", allreduce(in.data(), out.data(), 100, MPI_INT32_T, op));
    EXPECT_EQ(out, expected);
  }
  run("allreduce", allreduce(reals.data(), real_sums.data(), 100, MPI_FLOAT, MPI_SUM));
  EXPECT_EQ(real_sums, std::vector<float>(100, 1.5f * static_cast<float>(worldSize())));
  EXPECT_EQ(memory_->misses(), 1u);
  EXPECT_EQ(memory_->hits(), 4u);
}

void addPairs(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < 2 * *count; ++i)
    static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}
void largestOfTriples(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < 3 * *count; ++i) {
    int& value = static_cast<int*>(inout)[i];
    value = std::max(value, static_cast<int*>(in)[i]);
  }
}

TEST_F(OneShot, RecycledHandlesOfDatatypesAndOperationsAreLookedAtAnew) {
  open({});
  int recycled = 0;
  std::map<MPI_Datatype, int> last_width;
  for (int i = 0; i < 20; ++i) {
    const int width = 2 + i / 3 % 2;
    MPI_Datatype type;
    MPI_Type_contiguous(width, MPI_INT, &type);
    MPI_Type_commit(&type);
    recycled += last_width.contains(type) && last_width[type] != width;
    last_width[type] = width;
    MPI_Op op;
    MPI_Op_create(width == 2 ? addPairs : largestOfTriples, 1, &op);
    const std::vector<std::int32_t> in = numbers(60 * width);
    std::vector<std::int32_t> out(in.size(), -1), expected(in.size());
    MPI_Allreduce(in.data(), expected.data(), 60, type, op, MPI_COMM_WORLD);
    Running running;
    start(running, *cache_, schedule("allreduce"), allreduce(in.data(), out.data(), 60, type, op));
    MPI_Type_free(&type);  // while the call runs
    finish(running, *cache_);
    MPI_Op_free(&op);
    ASSERT_EQ(out, expected) << "call " << i;
  }
  EXPECT_GT(recycled, 0) << "MPI has not given a handle again: nothing was tested";
  EXPECT_EQ(memory_->misses(), 2u);
}

// Calls under way at once, more than their tags allow: some wait for their turn, and every rank
// completes them in an order of its own.
TEST_F(OneShot, CallsWaitForTheirTagsAndAllComplete) {
  if (worldSize() == 1) GTEST_SKIP() << "one rank sends nothing";
  open({});
  torc_schedule* with = schedule("allreduce");
  TagSpace space(5, with->tag_count * 6 + 1);
  struct Issued {
    std::vector<std::int32_t> in, out;
    std::int64_t count = 0;
    TagRange tags;
    Plan* running = nullptr;
  };
  std::list<Issued> calls;
  std::mt19937 same(3);
  std::mt19937 own(static_cast<unsigned>(worldRank()) + 17);
  int deferred = 0, complete = 0;
  constexpr int kCalls = 200;
  int issued = 0;
  while (complete < kCalls) {
    if (issued < kCalls && calls.size() < 8) {
      Issued& call = calls.emplace_back();
      call.count = 1 + static_cast<std::int64_t>(same() % 3000);
      call.in = numbers(call.count);
      call.out.assign(call.in.size(), -1);
      call.tags =
          space.rangeOf(TagSpace::hashOf(1, static_cast<std::uint64_t>(++issued)), with->tag_count);
    }
    for (Issued& call : calls) {
      if (call.running != nullptr) continue;
      // They start in their order.
      if (!space.ready(call.tags)) {
        ++deferred;
        break;
      }
      space.hold(call.tags);
      StatusOr<Plan*> acquired =
          acquire(*cache_, with, allreduce(call.in.data(), call.out.data(), call.count));
      ASSERT_TRUE(acquired.ok()) << acquired.status().message();
      call.running = *acquired;
      call.running->bindTags(call.tags);
      ASSERT_TRUE(call.running->start().ok());
    }
    Issued& call = *std::next(calls.begin(), static_cast<std::ptrdiff_t>(own() % calls.size()));
    if (call.running == nullptr) continue;
    context_->advance();
    if (call.running->active) continue;
    ASSERT_EQ(call.out, sums(call.count));
    space.release(call.tags);
    cache_->release(call.running);
    calls.remove_if([&](const Issued& other) { return &other == &call; });
    ++complete;
  }
  EXPECT_GT(deferred, 0);
  EXPECT_EQ(space.held(), 0u);
}

TEST_F(OneShot, IdleCallsBeyondTheLimitAreFreedOldestFirst) {
  open({}, 300000);
  if (worldSize() == 1) GTEST_SKIP() << "one rank needs no scratch";
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (std::int64_t count = 1000; count < 30000; count += 1000) {
      expectSum(*cache_, schedule("allreduce"), count);
      ASSERT_LE(memory_->bytes(), memory_->limit());
    }
  }
  EXPECT_GT(memory_->mostBytes(), memory_->bytes());
  // The last ones are there, the first one is not.
  const std::uint64_t misses = memory_->misses();
  expectSum(*cache_, schedule("allreduce"), 29000);
  EXPECT_EQ(memory_->misses(), misses);
  expectSum(*cache_, schedule("allreduce"), 1000);
  EXPECT_EQ(memory_->misses(), misses + 1);
}

TEST_F(OneShot, CachesShareTheLimit) {
  if (worldSize() == 1) GTEST_SKIP() << "one rank needs no scratch";
  open({});
  expectSum(*cache_, schedule("allreduce"), 20000);
  // A communicator of its own, with the same members.
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  auto other = torc_geometry::over(context_, comm, *geometry_->topology, {}, geometry_->hosts);
  ASSERT_TRUE(other.ok());
  auto bound = torc_schedule::bind(other->get(), schedule("allreduce")->file);
  ASSERT_TRUE(bound.ok());
  CallMemory shared(memory_->bytes() + memory_->bytes() / 2);  // room for one such call
  {
    CallCache first(geometry_.get(), &shared), second(other->get(), &shared);
    for (int i = 0; i < 2; ++i) {
      expectSum(first, schedule("allreduce"), 20000);
      expectSum(second, bound->get(), 20000);
      EXPECT_LE(shared.bytes(), shared.limit());
    }
    EXPECT_EQ(shared.hits(), 0u) << "each drives out the other's";
  }
  EXPECT_EQ(shared.bytes(), 0u);
  EXPECT_EQ((*bound)->collectives, 0);
}

TEST_F(OneShot, CallsOfDifferentRootsHaveDifferentLayouts) {
  open({});
  std::vector<std::int32_t> in = numbers(100), out(in.size());
  Call call;
  ASSERT_TRUE(check(allreduce(in.data(), out.data(), 100), worldRank(), worldSize(), call).ok());
  for (const std::int32_t root : {0, worldSize() - 1, 0}) {
    call.root = root;
    StatusOr<Plan*> plan = cache_->acquire(schedule("allreduce"), call);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ((*plan)->call().root, root);
    cache_->release(*plan);
  }
  EXPECT_EQ(memory_->misses(), worldSize() == 1 ? 1u : 2u);
}

TEST_F(OneShot, ALimitOfNothingKeepsNothing) {
  open({}, 0);
  for (int i = 0; i < 3; ++i) {
    expectSum(*cache_, schedule("allreduce"), 500);
    EXPECT_EQ(memory_->bytes(), 0u);
  }
  EXPECT_EQ(memory_->hits(), 0u);
}

TEST_F(OneShot, ForgettingAScheduleFreesItsCallsAndNoOthers) {
  open({});
  std::vector<std::int32_t> in = numbers(50), out(in.size() * worldSize());
  run("allreduce", allreduce(in.data(), out.data(), 50));
  const CallArguments gather = describeExchange(CallId::kAllgather, in.data(), 50, MPI_INT32_T,
                                                out.data(), 50, MPI_INT32_T, MPI_COMM_NULL);
  run("allgather", gather);
  EXPECT_EQ(schedule("allreduce")->collectives, 1);
  cache_->forget(schedule("allreduce"));
  EXPECT_EQ(schedule("allreduce")->collectives, 0);
  EXPECT_EQ(schedule("allgather")->collectives, 1);
  run("allgather", gather);
  EXPECT_EQ(memory_->hits(), 1u);
}

TEST_F(OneShot, ACallThatIsLaidOutAllocatesNothing) {
  open({});
  const std::vector<std::int32_t> a = numbers(20000), b = numbers(20000);
  std::vector<std::int32_t> first(a.size()), second(a.size(), -1);
  run("allreduce", allreduce(a.data(), first.data(), 20000));
  const std::uint64_t before = allocations();
  run("allreduce", allreduce(b.data(), second.data(), 20000));
  EXPECT_EQ(allocations() - before, 0u);
  EXPECT_GT(before, 0u);
  EXPECT_EQ(second, first);
}

void releaseAtEnd(Plan& plan, const Status& status, void* cookie) {
  EXPECT_TRUE(status.ok());
  static_cast<CallCache*>(cookie)->release(&plan);
}

TEST_F(OneShot, ACallMayBeReleasedByItsOwnCallback) {
  for (const std::size_t limit : {std::size_t{0}, kPlenty}) {
    open({}, limit);
    std::vector<std::int32_t> in = numbers(3000), out(in.size(), -1);
    torc_schedule* with = schedule("allreduce");
    StatusOr<Plan*> plan = acquire(*cache_, with, allreduce(in.data(), out.data(), 3000));
    ASSERT_TRUE(plan.ok());
    (*plan)->ended = releaseAtEnd;
    (*plan)->cookie = cache_.get();
    ASSERT_TRUE((*plan)->start().ok());
    context_->progressUntil([&] { return context_->isIdle(); });
    EXPECT_EQ(out, sums(3000));
    EXPECT_EQ(memory_->bytes() > 0, limit > 0);
  }
}

TEST_F(OneShot, ErrorsLeaveNothingBehind) {
  open({});
  std::vector<std::int32_t> in = numbers(10), out(10, -1);
  auto expectError = [&](const CallArguments& arguments, StatusCode code, const std::string& text) {
    const std::size_t bytes = memory_->bytes();
    const StatusOr<Plan*> call = acquire(*cache_, schedule("allreduce"), arguments);
    ASSERT_FALSE(call.ok());
    EXPECT_EQ(call.status().code(), code);
    EXPECT_NE(call.status().message().find(text), std::string::npos) << call.status().message();
    EXPECT_EQ(memory_->bytes(), bytes);
  };
  for (int round = 0; round < 2; ++round) {
    expectError(allreduce(in.data(), nullptr, 10), StatusCode::kInvalidArgument, "out is NULL");
    expectError(allreduce(nullptr, out.data(), 10), StatusCode::kInvalidArgument, "in is NULL");
    expectError(allreduce(in.data(), out.data(), -1), StatusCode::kInvalidArgument, "count is -1");
    expectError(allreduce(in.data(), out.data(), 10, MPI_FLOAT, MPI_BXOR), StatusCode::kUnsupported,
                "MPI_BXOR is not defined on datatype MPI_FLOAT");
    CallArguments other = allreduce(in.data(), out.data(), 10);
    other.collective = Collective::kAllgather;
    expectError(other, StatusCode::kMismatch, "is one for allreduce");
    expectSum(*cache_, schedule("allreduce"), 10);
  }
  EXPECT_EQ(memory_->misses(), 1u);
}

}  // namespace
}  // namespace torc::runtime
