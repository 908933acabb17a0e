// Exports agree with torc dump: every collective and algorithm, on rings, tori, meshes, with cores,
// damage, segments and roots. GOAL and Chakra operation by operation; MSCCL programs are run,
// without buffering, and give the collective's result.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <gtest/gtest.h>
#include <llvm/Support/raw_ostream.h>
#include <rapidcheck/gtest.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/compile.h"
#include "ir/exchange/writers/call_writers.h"
#include "ir/exchange/writers/exported_call.h"
#include "ir/exchange/writers/msccl_writer.h"
#include "ir/text/text.h"
#include "schedules/validation/validate.h"
#include "tests/ir/exchange/msccl_machine.h"
#include "tests/ir/exchange/read_forms.h"
#include "tests/properties/random_case.h"

namespace torc {
namespace {

struct Shape {
  const char* torus;
  std::vector<const char*> dead_links, dead_nodes;
};

const Shape kShapes[] = {
    {"3", {}, {}},
    {"4", {}, {}},
    {"2x2", {}, {}},
    {"3x2", {}, {}},
    {"4x3x2", {}, {}},
    {"3mx4m", {}, {}},
    {"3x2+2", {}, {}},
    {"4x4", {"1,2:X"}, {}},
    {"4x4", {}, {"2,1"}},
    {"5", {"1:X"}, {}},
    {"4x3", {"0,1:Y", "2,2:X"}, {}},
};

Topology topologyOf(const Shape& shape) {
  Topology topology = *parseTopology(shape.torus);
  for (const char* link : shape.dead_links)
    EXPECT_TRUE(topology.addDeadLink(*parseDeadLink(topology, link)).ok());
  for (const char* node : shape.dead_nodes)
    EXPECT_TRUE(topology.addDeadNode(*parseDeadNode(topology, node)).ok());
  return topology;
}

struct Case {
  std::string text;
  Schedule schedule;
};

std::optional<Case> compiled(const compiler::Algorithm& algorithm, Collective collective,
                             const Shape& shape, std::uint32_t segments) {
  const compiler::CollectiveSpec spec{collective, topologyOf(shape)};
  if (!compiler::isWorthTrying(algorithm, spec)) return std::nullopt;
  compiler::PipelineOptions options;
  (algorithm.isSettled() ? options.chunks : options.segments) = segments;
  passes::PassManagerOptions manager;
  manager.verify_each = false;
  llvm::Expected<ir::Program> program =
      compiler::compile(spec, algorithm, compiler::pipelineOf(algorithm, options), manager);
  if (!program) {
    llvm::consumeError(program.takeError());  // more than the algorithm can do
    return std::nullopt;
  }
  if (!validate(program->schedule.view()).ok()) return std::nullopt;  // where no chunks may be
  program = cantFail(compiler::rollLoops(*program, manager));
  return Case{std::string(rowOf(collective).name) + " on " + shape.torus + " by " +
                  algorithm.name.str() + ", " + std::to_string(segments),
              std::move(program->schedule)};
}

/// Calls `visit` for everything that the compiler makes of `collective`.
template <typename Visit>
void forEachCase(Collective collective, Visit visit) {
  int cases = 0;
  for (const compiler::Algorithm& algorithm : compiler::algorithms()) {
    if (!algorithm.serves(rowOf(collective))) continue;
    for (const Shape& shape : kShapes) {
      for (const std::uint32_t segments : {1u, 3u}) {
        const std::optional<Case> found = compiled(algorithm, collective, shape, segments);
        if (!found) continue;
        SCOPED_TRACE(found->text);
        ++cases;
        visit(found->schedule.view());
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(cases, 3);
}

std::int32_t lastRoot(const ScheduleView& schedule) {
  return rowOf(schedule.collective).isRooted()
             ? static_cast<std::int32_t>(schedule.topology.ranks()) - 1
             : 0;
}

/// What a rank's program is in GOAL and Chakra, with the time of a byte that is computed.
std::vector<ReadOperation> expectedOf(const ir::ExportedCall& call, const FlatProgram& program,
                                      std::uint64_t time_per_byte) {
  std::vector<ReadOperation> expected;
  std::vector<std::uint64_t> ends;
  for (const FlatOperation& operation : program.operations) {
    std::vector<std::uint64_t> after;
    for (const std::uint32_t before : program.dependencesOf(operation))
      after.push_back(ends[before]);
    std::sort(after.begin(), after.end());
    const bool is_signal =
        operation.kind == OperationKind::kNotify || operation.kind == OperationKind::kAwait;
    const std::uint64_t bytes = is_signal ? 1
                                          : std::max(operation.a.elements, operation.dst.elements) *
                                                call.size().element_bytes;
    const bool sends =
        operation.kind == OperationKind::kSend || operation.kind == OperationKind::kNotify;
    const bool reduces =
        operation.kind == OperationKind::kReduce || operation.kind == OperationKind::kRecvReduce;
    if (operation.peer >= 0) {
      expected.push_back({sends ? 's' : 'r', operation.peer, operation.tag, bytes, 0, after});
      after = {expected.size() - 1};
    }
    if (operation.peer < 0 || reduces) {
      expected.push_back({'c', -1, -1, 0, reduces ? time_per_byte * bytes : 0, after});
    }
    ends.push_back(expected.size() - 1);
  }
  return expected;
}

/// Each send has a receive of its size and tag, and the reverse.
void expectMatches(const ReadProgram& program) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint64_t>, int> open;
  for (std::size_t i = 0; i < program.ranks.size(); ++i) {
    const auto rank = static_cast<std::int64_t>(i);
    for (const ReadOperation& operation : program.ranks[i]) {
      if (operation.kind == 's') ++open[{rank, operation.peer, operation.tag, operation.bytes}];
      if (operation.kind == 'r') --open[{operation.peer, rank, operation.tag, operation.bytes}];
    }
  }
  for (const auto& [message, balance] : open)
    EXPECT_EQ(balance, 0) << std::get<0>(message) << " to " << std::get<1>(message);
}

void expectSame(const ir::ExportedCall& call, const ReadProgram& read,
                std::uint64_t time_per_byte) {
  ASSERT_EQ(read.fault, "");
  ASSERT_EQ(read.ranks.size(), static_cast<std::size_t>(call.ranks()));
  for (std::int32_t rank = 0; rank < call.ranks(); ++rank) {
    const FlatProgram program = cantFail(call.program(rank));
    ASSERT_TRUE(read.ranks[static_cast<std::size_t>(rank)] ==
                expectedOf(call, program, time_per_byte))
        << "rank " << rank;
  }
  expectMatches(read);
}

void expectGoalAndChakra(const ScheduleView& schedule, std::uint64_t elements) {
  const ir::ExportedCall call =
      cantFail(ir::ExportedCall::make(schedule, {.count = ir::countOf(schedule, elements),
                                                 .element_bytes = 4,
                                                 .root = lastRoot(schedule),
                                                 .reduce_s_per_byte = 2e-6}));
  std::string goal;
  llvm::raw_string_ostream goal_out(goal);
  ir::writeGoalHeader(call, goal_out);
  std::vector<std::string> traces(static_cast<std::size_t>(call.ranks()));
  for (std::int32_t rank = 0; rank < call.ranks(); ++rank) {
    const FlatProgram program = cantFail(call.program(rank));
    ir::writeGoalRank(call, program, goal_out);
    llvm::raw_string_ostream trace(traces[static_cast<std::size_t>(rank)]);
    ir::writeChakraRank(call, program, trace);
  }
  expectSame(call, readGoal(goal), 2000);   // ns
  expectSame(call, readChakra(traces), 2);  // us
}

/// The number that the result of `rank` has at `chunk`, or none where there is no result.
std::optional<std::uint64_t> resultOf(Collective collective, const MscclMachine& machine,
                                      std::size_t rank, std::size_t chunk, std::size_t root) {
  const std::size_t ranks = machine.ranks.size();
  const std::size_t in = machine.ranks[rank].buffers.at('i').size();
  const std::size_t out = machine.ranks[rank].buffers.at('o').size();
  const auto sum = [&](std::size_t of) {
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r < ranks; ++r)
      sum += MscclMachine::drawn(r, of);
    return sum;
  };
  switch (collective) {
    case Collective::kAllreduce:
      return sum(chunk);
    case Collective::kReduce:
      return rank == root ? std::optional(sum(chunk)) : std::nullopt;
    case Collective::kReduceScatter:
      return sum(rank * out + chunk);
    case Collective::kBroadcast:
      return MscclMachine::drawn(root, chunk);
    case Collective::kScatter:
      return MscclMachine::drawn(root, rank * out + chunk);
    case Collective::kAllgather:
      return MscclMachine::drawn(chunk / in, chunk % in);
    case Collective::kGather:
      if (rank != root) return std::nullopt;
      return MscclMachine::drawn(chunk / in, chunk % in);
    default: {  // alltoall
      const std::size_t block = in / ranks;
      return MscclMachine::drawn(chunk / block, rank * block + chunk % block);
    }
  }
}

std::string xmlOf(ir::MscclWriter& writer) {
  std::string xml;
  llvm::raw_string_ostream out(xml);
  writer.writeHeader({}, out);
  for (std::int32_t rank = 0; rank < writer.call().ranks(); ++rank)
    cantFail(writer.writeRank(cantFail(writer.call().program(rank)), out));
  ir::MscclWriter::writeEnd(out);
  return xml;
}

/// Whether all ranks have their result after a run, or why not.
std::string resultsOf(const ScheduleView& schedule, MscclMachine& machine, std::uint64_t seed) {
  if (std::string fault = machine.run(seed); !fault.empty()) return fault;
  const auto root = static_cast<std::size_t>(lastRoot(schedule));
  for (std::size_t rank = 0; rank < machine.ranks.size(); ++rank) {
    const std::vector<std::uint64_t>& result = machine.ranks[rank].buffers.at('o');
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto expected = resultOf(schedule.collective, machine, rank, i, root);
      if (expected && result[i] != *expected) {
        return "wrong on rank " + std::to_string(rank) + ", chunk " + std::to_string(i);
      }
    }
  }
  return {};
}

void expectMsccl(const ScheduleView& schedule) {
  ir::MscclWriter writer = cantFail(ir::MscclWriter::make(schedule, lastRoot(schedule)));
  const std::string xml = xmlOf(writer);
  std::vector<std::uint64_t> sent, signals;  // by rank; elements
  std::uint64_t vector = 0;
  for (std::int32_t rank = 0; rank < writer.call().ranks(); ++rank) {
    const FlatProgram program = cantFail(writer.call().program(rank));
    sent.push_back(0);
    signals.push_back(0);
    vector = std::max({vector, program.in_elements, program.out_elements});
    for (const FlatOperation& operation : program.operations) {
      if (operation.kind == OperationKind::kSend) sent.back() += operation.a.elements;
      if (operation.kind == OperationKind::kNotify) ++signals.back();
    }
  }
  MscclMachine machine;
  ASSERT_EQ(machine.read(xml), "");
  ASSERT_EQ(vector % writer.needs().chunks, 0u);
  const std::uint64_t chunk = vector / writer.needs().chunks;
  for (std::size_t rank = 0; rank < machine.ranks.size(); ++rank) {
    std::uint64_t chunks = 0;
    for (const MscclMachine::Block& block : machine.ranks[rank].blocks) {
      for (const MscclMachine::Step& step : block.steps) {
        if (step.type == "s") chunks += static_cast<std::uint64_t>(step.count);
      }
    }
    EXPECT_EQ(chunks, sent[rank] / chunk + signals[rank]) << "rank " << rank;
  }
  for (const std::uint64_t seed : {1, 2, 3})
    ASSERT_EQ(resultsOf(schedule, machine, seed), "");
}

bool isOfMsccl(Collective collective) {
  return !rowOf(collective).isPrefix() && !rowOf(collective).isOfNeighbours();
}

class EveryCollective : public testing::TestWithParam<int> {};

TEST_P(EveryCollective, GoalAndChakraSayWhatRanksExecute) {
  forEachCase(static_cast<Collective>(GetParam()), [](const ScheduleView& schedule) {
    expectGoalAndChakra(schedule, 1009);
    if (!testing::Test::HasFailure()) expectGoalAndChakra(schedule, 5);
  });
}

TEST_P(EveryCollective, MscclProgramsGiveTheResult) {
  const auto collective = static_cast<Collective>(GetParam());
  if (!isOfMsccl(collective)) GTEST_SKIP() << "MSCCL does not have it";
  forEachCase(collective, [](const ScheduleView& schedule) { expectMsccl(schedule); });
}

INSTANTIATE_TEST_SUITE_P(Exported, EveryCollective, testing::Range(0, kCollectiveCount),
                         [](const testing::TestParamInfo<int>& info) {
                           return std::string(rowOf(static_cast<Collective>(info.param)).name);
                         });

RC_GTEST_PROP(Export, HoldsForAnyCompilation, ()) {
  const CompileCase test_case = drawCase(40);
  const Schedule schedule = drawLoops(compileCase(test_case));
  SCOPED_TRACE(test_case.text());
  expectGoalAndChakra(schedule.view(), *rc::gen::inRange<std::uint64_t>(0, 5000));
  if (isOfMsccl(schedule.collective)) expectMsccl(schedule.view());
  RC_ASSERT(!testing::Test::HasFailure());
}

// What judges is judged: of programs with a fault in them some run is wrong, or does not end.
TEST(MscclMachine, NoticesFaults) {
  const Shape ring{"4", {}, {}};
  const std::optional<Case> found =
      compiled(*cantFail(compiler::findAlgorithm("bucket")), Collective::kAllreduce, ring, 1);
  const ScheduleView schedule = found->schedule.view();
  ir::MscclWriter writer = cantFail(ir::MscclWriter::make(schedule, 0));
  MscclMachine sound;
  ASSERT_EQ(sound.read(xmlOf(writer)), "");
  ASSERT_EQ(resultsOf(schedule, sound, 1), "");
  const auto isNoticed = [&](auto spoil) {
    for (std::size_t block = 0; block < sound.ranks[1].blocks.size(); ++block) {
      for (std::size_t step = 0; step < sound.ranks[1].blocks[block].steps.size(); ++step) {
        MscclMachine machine = sound;
        if (!spoil(machine.ranks[1].blocks[block].steps[step])) continue;
        bool noticed = false;
        for (std::uint64_t seed = 1; seed < 40 && !noticed; ++seed)
          noticed = !resultsOf(schedule, machine, seed).empty();
        EXPECT_TRUE(noticed) << "tb " << block << ", step " << step;
      }
    }
  };
  isNoticed([](MscclMachine::Step& step) {  // another chunk is sent
    step.srcoff ^= 1;
    return step.type == "s";
  });
  isNoticed([](MscclMachine::Step& step) {  // what arrives goes elsewhere
    step.dstoff ^= 1;
    return step.type == "r";
  });
  isNoticed([](MscclMachine::Step& step) {  // what is sent on is not waited for
    const bool waited = step.type == "s" && step.depid >= 0;
    step.depid = -1;
    return waited;
  });
}

TEST(ExportedSignals, AreMessagesOfOneByteOrChunk) {
  const char* const kText = R"(schedule @s {
    collective allgather
    topology torus [X=2] order X
    color 0 weight 1/1 order X
    stream 0 of p0
    phase 0 {
      stream 0 {
        %0 = copy out[p0, (x)] = in[p0, (x)]
        %1 = send in[p0, (x)] to X+1
        %2 = recv out[p0, (x-1)] from X-1
        %3 = notify to X+1 after %2
        %4 = await from X-1 after %1
      }
    }
  })";
  const ir::Program program = cantFail(ir::parseProgram(kText, "text"));
  const ScheduleView schedule = program.schedule.view();
  const ir::ExportedCall call =
      cantFail(ir::ExportedCall::make(schedule, {.count = 3, .element_bytes = 4}));
  std::string goal;
  llvm::raw_string_ostream out(goal);
  ir::writeGoalHeader(call, out);
  for (const std::int32_t rank : {0, 1})
    ir::writeGoalRank(call, cantFail(call.program(rank)), out);
  const ReadProgram read = readGoal(goal);
  ASSERT_EQ(read.fault, "");
  EXPECT_EQ(read.ranks[0][3], (ReadOperation{'s', 1, 1, 1, 0, {2}}));
  EXPECT_EQ(read.ranks[0][4], (ReadOperation{'r', 1, 1, 1, 0, {1}}));
  expectMatches(read);
  expectMsccl(schedule);
}

}  // namespace
}  // namespace torc
