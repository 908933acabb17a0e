// Programs of MSCCL, right and with an injected fault: an imported and proved program gives the
// right result for any order of steps, by an interpreter independent of schedules.
#include "ir/exchange/import.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "ir/counted/counted_proof.h"
#include "ir/exchange/readers/readers.h"
#include "ir/verifier/verifier.h"
#include "schedules/topology/topology.h"
#include "support/hash.h"

namespace torc::ir {
namespace {

constexpr std::uint64_t kNothingThere = 0x5eed;

/// Runs a program as MSCCL does, with room for all messages: in the order of thread blocks, and
/// across them in random order. Chunks are numbers, sums are modulo 2^64.
class Interpreter {
 public:
  explicit Interpreter(const RankPrograms& programs)
      : programs_(programs), ranks_(programs.ranks.size()) {}

  /// Empty: all results are right.
  std::string run(unsigned seed) {
    std::mt19937 random(seed);
    memory_.assign(ranks_, {});
    done_.assign(ranks_, {});
    messages_.clear();
    std::vector<std::pair<std::size_t, std::size_t>> blocks;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      for (std::size_t c = 0; c < inputs(); ++c)
        at(rank, ChunkBuffer::kInput, c) = input(rank, c);
      done_[rank].resize(programs_.ranks[rank].blocks.size());
      for (std::size_t block = 0; block < done_[rank].size(); ++block)
        blocks.emplace_back(rank, block);
    }
    for (bool moves = true; moves;) {
      moves = false;
      std::ranges::shuffle(blocks, random);
      for (const auto& [rank, block] : blocks)
        moves |= random() % 2 == 0 && step(rank, block);
      for (const auto& [rank, block] : blocks)
        moves |= !moves && step(rank, block);
    }
    for (const auto& [rank, block] : blocks) {
      if (done_[rank][block] < programs_.ranks[rank].blocks[block].steps.size()) return "deadlock";
    }
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      for (std::size_t c = 0; c < outputs(); ++c) {
        if (at(rank, ChunkBuffer::kOutput, c) != result(rank, c)) return "a wrong result";
      }
    }
    return {};
  }

 private:
  bool is(Collective collective) const { return programs_.collective == collective; }
  std::size_t all() const { return static_cast<std::size_t>(programs_.chunks); }
  std::size_t own() const { return all() / ranks_; }
  std::size_t inputs() const { return is(Collective::kAllgather) ? own() : all(); }
  std::size_t outputs() const { return is(Collective::kReduceScatter) ? own() : all(); }

  std::uint64_t input(std::size_t rank, std::size_t chunk) const {
    if (is(Collective::kBroadcast) && rank > 0) return kNothingThere;
    return hashNumbers(rank, chunk);
  }
  std::uint64_t result(std::size_t rank, std::size_t chunk) const {
    if (is(Collective::kAllgather)) return input(chunk / own(), chunk % own());
    if (is(Collective::kAlltoall)) return input(chunk / own(), rank * own() + chunk % own());
    if (is(Collective::kBroadcast)) return input(0, chunk);
    if (is(Collective::kReduceScatter)) chunk += rank * own();
    std::uint64_t sum = 0;
    for (std::size_t other = 0; other < ranks_; ++other)
      sum += input(other, chunk);
    return sum;
  }

  std::uint64_t& at(std::size_t rank, ChunkBuffer buffer, std::size_t chunk) {
    if (programs_.in_place && buffer != ChunkBuffer::kScratch) {
      if (buffer == ChunkBuffer::kInput && is(Collective::kAllgather)) chunk += rank * own();
      if (buffer == ChunkBuffer::kOutput && is(Collective::kReduceScatter)) chunk += rank * own();
      buffer = ChunkBuffer::kOutput;
    }
    return memory_[rank].try_emplace({buffer, chunk}, kNothingThere).first->second;
  }

  bool step(std::size_t rank, std::size_t block) {
    const ThreadBlock& program = programs_.ranks[rank].blocks[block];
    std::size_t& next = done_[rank][block];
    if (next == program.steps.size()) return false;
    const RankStep& step = program.steps[next];
    if (step.after.block >= 0 && done_[rank].at(static_cast<std::size_t>(step.after.block)) <=
                                     static_cast<std::size_t>(step.after.index)) {
      return false;
    }
    const auto self = static_cast<std::int32_t>(rank);
    std::vector<std::uint64_t> come;
    if (step.row().receives) {
      auto& queue = messages_[{program.receive_peer, self, program.channel}];
      if (queue.empty()) return false;
      come = queue.front();
      queue.pop_front();
    }
    std::vector<std::uint64_t> sent;
    for (std::int32_t i = 0; i < step.count; ++i) {
      const auto place = [&](const ChunkRun& run) -> std::uint64_t& {
        return at(rank, run.buffer, static_cast<std::size_t>(run.first + i));
      };
      const auto at_i = static_cast<std::size_t>(i);
      const std::uint64_t in = at_i < come.size() ? come[at_i] : kNothingThere;
      switch (step.kind) {
        case StepKind::kNothing:
          break;
        case StepKind::kSend:
          sent.push_back(place(step.src));
          break;
        case StepKind::kCopy:
          place(step.dst) = place(step.src);
          break;
        case StepKind::kReduce:
          place(step.dst) += place(step.src);
          break;
        case StepKind::kReceive:
        case StepKind::kReceiveSend:
          place(step.dst) = in;
          sent.push_back(in);
          break;
        case StepKind::kReceiveReduceSend:
          sent.push_back(place(step.src) + in);
          break;
        case StepKind::kReceiveReduce:
        case StepKind::kReduceStoreSend:
          sent.push_back(place(step.src) + in);
          place(step.dst) = sent.back();
          break;
      }
    }
    if (step.row().sends) {
      messages_[{self, program.send_peer, program.channel}].push_back(std::move(sent));
    }
    ++next;
    return true;
  }

  const RankPrograms& programs_;
  std::size_t ranks_;
  std::vector<std::map<std::pair<ChunkBuffer, std::size_t>, std::uint64_t>> memory_;
  std::vector<std::vector<std::size_t>> done_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>,
           std::deque<std::vector<std::uint64_t>>>
      messages_;
};

struct Example {
  const char* name;
  const char* torus;
};
constexpr Example kExamples[] = {
    {"ring-allgather_5", "5"},         {"ring-allreduce_6", "3x2"},
    {"recursive-doubling_8", "2x2x2"}, {"alltoall_4", "4"},
    {"two-step-alltoall_2x3", "3x2"},  {"hierarchical-allreduce_2x3", "3x2"},
    {"tree-broadcast_7", "7"},         {"chain-allreduce_5", "5"},
    {"recursive-halving_8", "4x2"},    {"direct-allreduce_4", "4"},
    {"copying-allgather_4", "4"},      {"copying-allreduce_3", "3"},
    {"copying-reduce-scatter_4", "4"}, {"relaying-alltoall_4", "4"},
};

RankPrograms read(const std::string& name) {
  std::ifstream file("tests/ir/exchange/" + name + ".xml");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  llvm::Expected<RankPrograms> programs = readMsccl(text, name);
  EXPECT_TRUE(static_cast<bool>(programs)) << toString(programs.takeError());
  return std::move(*programs);
}

/// Why a program is refused; empty: it is imported and proved. Then the proof for one count agrees.
std::string refusal(const RankPrograms& programs, const char* torus) {
  llvm::Expected<ImportedSchedule> imported = importPrograms(programs, *parseTopology(torus));
  if (!imported) return toString(imported.takeError());
  const ScheduleView schedule = imported->schedule.view();
  EXPECT_EQ(imported->sources.size(), schedule.operations.size());
  const VerifyResult proof = verify(schedule);
  if (!proof.ok()) return proof.faults[0].message;
  const StatusOr<CountedResult> counted = proveCounted(schedule, 23);
  EXPECT_TRUE(counted.ok() && counted->fault.empty()) << (counted.ok() ? counted->fault : "");
  return {};
}

TEST(Import, ExamplesAreProvedAndRunRight) {
  for (const Example& example : kExamples) {
    const RankPrograms programs = read(example.name);
    EXPECT_EQ(refusal(programs, example.torus), "") << example.name;
    for (unsigned seed = 0; seed < 20; ++seed)
      EXPECT_EQ(Interpreter(programs).run(seed), "") << example.name;
  }
}

/// Puts one fault in; what it is.
std::string mutate(RankPrograms& programs, std::mt19937& random) {
  const auto draw = [&](std::size_t below) { return random() % below; };
  RankProgram& rank = programs.ranks[draw(programs.ranks.size())];
  ThreadBlock& block = rank.blocks[draw(rank.blocks.size())];
  if (block.steps.empty()) return "nothing";
  const std::size_t index = draw(block.steps.size());
  RankStep& step = block.steps[index];
  switch (draw(8)) {
    case 0:
      step.src.first += random() % 2 == 0 ? 1 : -1;
      return "another source";
    case 1:
      step.dst.first += random() % 2 == 0 ? 1 : -1;
      return "another destination";
    case 2:
      step.after = {};
      return "no dependence";
    case 3:
      step.after.block = static_cast<std::int32_t>(draw(rank.blocks.size()));
      step.after.index = static_cast<std::int32_t>(draw(4));
      return "another dependence";
    case 4:
      if (index + 1 < block.steps.size()) std::swap(step, block.steps[index + 1]);
      return "neighbours exchanged";
    case 5:
      block.steps.erase(block.steps.begin() + static_cast<std::ptrdiff_t>(index));
      return "step dropped";
    case 6:
      step.kind = static_cast<StepKind>(draw(9));
      if (step.row().sends && block.send_peer < 0) step.kind = StepKind::kReceive;
      if (step.row().receives && block.receive_peer < 0) step.kind = StepKind::kCopy;
      return "another kind";
    default:
      step.src.buffer = static_cast<ChunkBuffer>(draw(3));
      return "another buffer";
  }
}

TEST(Import, WhatIsAcceptedIsRightInAnyOrder) {
  std::mt19937 random(11);
  std::map<std::string, std::array<int, 3>> counts;  // accepted, refused, refused though right
  for (const Example& example : kExamples) {
    const RankPrograms original = read(example.name);
    for (int i = 0; i < 300; ++i) {
      RankPrograms programs = original;
      const std::string what = mutate(programs, random);
      const std::string refused = refusal(programs, example.torus);
      if (refused.empty()) {
        ++counts[what][0];
        for (unsigned seed = 0; seed < 12; ++seed) {
          ASSERT_EQ(Interpreter(programs).run(seed), "")
              << example.name << ", mutant " << i << ": " << what;
        }
        continue;
      }
      ++counts[what][1];
      // Programs that name what is not there are none.
      if (refused.find("names ") != std::string::npos ||
          refused.find("does not have") != std::string::npos) {
        continue;
      }
      bool is_right = true;
      for (unsigned seed = 0; seed < 12 && is_right; ++seed)
        is_right = Interpreter(programs).run(seed).empty();
      if (is_right) ++counts[what][2];
    }
  }
  std::printf("| fault put in | accepted | refused | of these right in twelve runs |\n");
  for (const auto& [what, of] : counts)
    std::printf("| %s | %d | %d | %d |\n", what.c_str(), of[0], of[1], of[2]);
}

}  // namespace
}  // namespace torc::ir
