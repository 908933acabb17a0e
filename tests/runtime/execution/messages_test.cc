// Both ends of every message cut it alike, for any memory layouts. Sends that the executor lets
// complete with their receive. Fingerprints for comparing ranks' calls, and places of
// communicators.
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "runtime/collectives/call.h"
#include "runtime/execution/executor.h"
#include "runtime/execution/message_fragments.h"
#include "runtime/job/library.h"
#include "runtime/reductions/reduction.h"
#include "schedules/expansion/expand.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::runtime {
namespace {

Schedule compileSchedule(Collective collective, const std::string& shape) {
  const StatusOr<Topology> topology = parseTopology(shape);
  llvm::Expected<const compiler::Algorithm*> algorithm = compiler::findAlgorithm("bucket");
  EXPECT_TRUE(topology.ok());
  EXPECT_TRUE(static_cast<bool>(algorithm));
  llvm::Expected<ir::Program> program =
      compiler::compile({collective, *topology}, **algorithm, compiler::pipelineOf(**algorithm, {}),
                        passes::PassManagerOptions());
  EXPECT_TRUE(static_cast<bool>(program));
  return std::move(program->schedule);
}

using Key = std::tuple<std::int32_t, std::int32_t, std::uint32_t>;  // from, to, tag

/// Compares the fragments of all messages at both ends; returns how many messages are cut.
std::size_t checkEnds(const Schedule& schedule, const Counts& counts, bool in_place,
                      std::size_t least_bytes) {
  std::map<Key, std::vector<std::uint64_t>> sent, received;
  std::size_t cut = 0;
  const auto ranks = static_cast<std::int32_t>(schedule.topology.ranks());
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const StatusOr<FlatProgram> program = expand(schedule.view(), rank, counts, in_place);
    EXPECT_TRUE(program.ok());
    const StatusOr<MessageFragments> fragments =
        cutMessages(schedule.view(), *program, counts, in_place, 4, least_bytes);
    EXPECT_TRUE(fragments.ok());
    if (fragments->empty()) continue;
    for (std::size_t i = 0; i < program->operations.size(); ++i) {
      const FlatOperation& operation = program->operations[i];
      const std::vector<std::uint64_t>& mine = (*fragments)[i];
      if (sends(operation.kind)) {
        sent[{rank, operation.peer, operation.tag}] = mine;
        cut += !mine.empty();
      } else if (receives(operation.kind)) {
        received[{operation.peer, rank, operation.tag}] = mine;
      } else {
        EXPECT_TRUE(mine.empty());
      }
      if (mine.empty()) continue;
      const std::uint64_t elements = (sends(operation.kind) ? operation.a : operation.dst).elements;
      EXPECT_EQ(std::accumulate(mine.begin(), mine.end(), std::uint64_t{0}), elements);
    }
  }
  EXPECT_EQ(sent, received);
  return cut;
}

std::vector<std::uint64_t> unevenCounts(std::uint64_t ranks) {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t r = 0; r < ranks; ++r)
    counts.push_back(r % 4 == 2 ? 0 : 100 + 37 * r);
  return counts;
}

TEST(MessageFragments, BothEndsAgree) {
  for (const char* shape : {"4x3x2", "3mx4", "2x2", "5"}) {
    for (const Collective collective : {Collective::kReduceScatter, Collective::kAllgather}) {
      const Schedule schedule = compileSchedule(collective, shape);
      const std::vector<std::uint64_t> uneven = unevenCounts(schedule.topology.ranks());
      for (const std::size_t least : {1u, 64u}) {
        const std::size_t equal_cut =
            checkEnds(schedule, {.count = 200, .per_rank = {}, .displacements = {}}, false, least);
        EXPECT_GT(equal_cut, 0u) << shape;
        const Counts counts{.count = 0, .per_rank = uneven, .displacements = {}};
        EXPECT_GT(checkEnds(schedule, counts, true, least), 0u) << shape;
      }
    }
  }
}

TEST(MessageFragments, SmallBlocksStayTogether) {
  const Schedule schedule = compileSchedule(Collective::kAllgather, "4x3x2");
  EXPECT_EQ(
      checkEnds(schedule, {.count = 200, .per_rank = {}, .displacements = {}}, false, 1 << 20), 0u);
}

TEST(MessageFragments, PartMajorMessagesAreWhole) {
  const Schedule schedule = compileSchedule(Collective::kAllreduce, "4x3x2");
  EXPECT_EQ(checkEnds(schedule, {.count = 9999, .per_rank = {}, .displacements = {}}, false, 1),
            0u);
}

/// Remembers the mode of each send, in the order of the program.
class RecordingTransport final : public Transport {
 public:
  explicit RecordingTransport(std::vector<SendMode>* modes) : modes_(modes) {}

  ChannelId prepare(const Envelope& envelope, const Segments&,
                    std::span<const std::size_t>) override {
    if (envelope.sending) modes_->push_back(envelope.mode);
    return channels_++;
  }
  bool start(ChannelId) override { return false; }
  int poll(std::span<ChannelId>) override { return -1; }

 private:
  std::vector<SendMode>* modes_;
  ChannelId channels_ = 0;
};

struct Count {
  int synchronous = 0, standard = 0;
};

/// Compares every send of rank 1 with what the program says; how many there are of each mode.
Count compareModes(const Schedule& schedule) {
  Counts counts;
  counts.count = 64;
  const StatusOr<FlatProgram> program = expand(schedule.view(), 1, counts);
  EXPECT_TRUE(program.ok()) << program.status().message();
  std::vector<SendMode> modes;
  std::vector<std::byte> in(1024), out(1024), scratch(1024);
  const Buffers buffers{in.data(), out.data(), scratch.data(), sizeof(float), false};
  const Reducer sum{reductionKernel(ElementKind::kFloat, ReduceOp::kSum), nullptr};
  EXPECT_TRUE(
      Executor::create(*program, buffers, sum, std::make_unique<RecordingTransport>(&modes)).ok());
  Count count;
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < program->operations.size(); ++i) {
    const FlatOperation& operation = program->operations[i];
    if (!sends(operation.kind)) continue;
    bool is_awaited = false;
    for (const FlatOperation& later : program->operations) {
      for (const std::uint32_t d : program->dependencesOf(later))
        is_awaited = is_awaited || d == i;
    }
    const bool expected = (schedule.flags & kSynchronousSends) != 0 && is_awaited &&
                          operation.kind != OperationKind::kNotify;
    EXPECT_EQ(modes.at(next) == SendMode::kSynchronous, expected) << "operation " << i;
    ++(expected ? count.synchronous : count.standard);
    ++next;
  }
  EXPECT_EQ(next, modes.size());
  return count;
}

TEST(SendMode, DataThatSomethingWaitsForOfASynchronousSchedule) {
  Schedule schedule = samples::ringAllreduce(4);
  EXPECT_EQ(compareModes(schedule).synchronous, 0);
  schedule.flags |= kSynchronousSends;
  const Count count = compareModes(schedule);
  EXPECT_GT(count.synchronous, 0);
  EXPECT_GT(count.standard, 0);
}

TEST(SendMode, SignalsNever) {
  Schedule schedule = samples::signalledAllgather(4);
  schedule.flags |= kSynchronousSends;
  EXPECT_GT(compareModes(schedule).standard, 0);
}

std::uint64_t ofCounts(std::vector<std::uint64_t> counts) {
  Call call;
  call.per_rank = std::move(counts);
  return call.countsFingerprint();
}

TEST(FingerprintTest, OneCountIsItsOwn) {
  Call call;
  call.count = 1234;
  EXPECT_EQ(call.countsFingerprint(), 1234u);
}

TEST(FingerprintTest, ListsOfCountsAreToldApart) {
  EXPECT_EQ(ofCounts({1, 2, 3}), ofCounts({1, 2, 3}));
  EXPECT_NE(ofCounts({1, 2, 3}), ofCounts({1, 3, 2}));
  EXPECT_NE(ofCounts({1, 2, 3}), ofCounts({1, 2, 3, 0}));
  // A product taken word by word has no way back from its high bits to its low ones: FNV-1a over
  // whole numbers gives these the same, as what the first count changes the second takes back.
  EXPECT_NE(ofCounts({0, 7}), ofCounts({1, 7 ^ 0x100000001f3}));
}

TEST(FingerprintTest, RecognitionsAreToldApart) {
  Recognition first;
  first.why = Reason::kServed;
  first.topology = *parseTopology("3x2");
  std::vector<Recognition> all(5, first);
  all[1].why = Reason::kNoSubTorus;
  all[2].sub_torus = 1;
  all[3].topology = *parseTopology("3x2", "YX");
  all[4].map = *RankMap::fromTable({0, 1, 2, 3, 5, 4});
  std::set<std::uint64_t> fingerprints;
  for (const Recognition& one : all)
    fingerprints.insert(one.fingerprint());
  EXPECT_EQ(fingerprints.size(), all.size());
  EXPECT_EQ(Recognition(first).fingerprint(), first.fingerprint());
}

}  // namespace
}  // namespace torc::runtime
