// The proof for one count: right schedules pass; faulty programs from expansion are caught.
#include "ir/counted/counted_proof.h"

#include <gtest/gtest.h>

#include "tests/schedules/sample_schedule.h"

namespace torc::ir {
namespace {

constexpr std::uint64_t kCount = 100;

/// The programs of all ranks of a ring allreduce on three nodes.
std::vector<FlatProgram> ring(bool in_place = false) {
  const Schedule schedule = samples::ringAllreduce(3);
  std::vector<FlatProgram> programs;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    StatusOr<FlatProgram> program = expand(
        schedule.view(), rank, {.count = kCount, .per_rank = {}, .displacements = {}}, in_place);
    EXPECT_TRUE(program.ok());
    programs.push_back(std::move(*program));
  }
  return programs;
}

std::string faultOf(const std::vector<FlatProgram>& programs, bool in_place = false) {
  const Topology topology = samples::ringAllreduce(3).topology;
  return proveCounted(Collective::kAllreduce, topology, programs, kCount, in_place).fault;
}

FlatOperation& firstOf(FlatProgram& program, bool sending) {
  for (FlatOperation& operation : program.operations) {
    if (sending ? sends(operation.kind) : receives(operation.kind)) return operation;
  }
  ADD_FAILURE() << "no such operation";
  return program.operations.front();
}

TEST(CountedProof, HoldsForAnyCount) {
  for (const std::uint64_t count : {0, 1, 2, 3, 100, 1009}) {
    const Schedule schedule = samples::ringAllreduce(3);
    const StatusOr<CountedResult> result = proveCounted(schedule.view(), count);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->fault, "") << count;
    EXPECT_EQ(result->messages > 0, count > 0);
  }
}

TEST(CountedProof, CatchesAWrongTag) {
  std::vector<FlatProgram> programs = ring();
  firstOf(programs[1], true).tag += 1000;
  EXPECT_NE(faultOf(programs).find("never complete"), std::string::npos) << faultOf(programs);
}

TEST(CountedProof, CatchesAWrongPeer) {
  std::vector<FlatProgram> programs = ring();
  firstOf(programs[1], true).peer = 0;
  EXPECT_NE(faultOf(programs), "");
}

TEST(CountedProof, CatchesARunMovedByOneElement) {
  for (std::size_t extent = 0; extent < ring()[2].extents.size(); ++extent) {
    std::vector<FlatProgram> programs = ring();
    StridedExtent& moved = programs[2].extents[extent];
    moved.offset = moved.offset > 0 ? moved.offset - 1 : 1;
    EXPECT_NE(faultOf(programs), "") << extent;
  }
}

TEST(CountedProof, CatchesALengthThatDiffersAtTheEnds) {
  std::vector<FlatProgram> programs = ring();
  FlatOperation& send = firstOf(programs[0], true);
  programs[0].extents[send.a.first_extent].length -= 1;
  send.a.elements -= 1;
  EXPECT_NE(faultOf(programs).find("elements, but rank 0 sends"), std::string::npos)
      << faultOf(programs);
}

TEST(CountedProof, CatchesADependenceLeftOut) {
  int possible = 0;
  for (std::size_t i = 0; i < ring()[0].operations.size(); ++i) {
    if (ring()[0].operations[i].dependence_count == 0) continue;
    ++possible;
    bool caught = false;  // some matter only where in and out are one memory
    for (const bool in_place : {false, true}) {
      std::vector<FlatProgram> programs = ring(in_place);
      programs[0].operations[i].dependence_count = 0;
      caught |= faultOf(programs, in_place).find("may touch elements while") != std::string::npos;
    }
    EXPECT_TRUE(caught) << i;
  }
  EXPECT_GT(possible, 0);
}

TEST(CountedProof, CatchesADeadlock) {
  std::vector<FlatProgram> programs = ring();
  for (FlatProgram& program : programs) {  // everybody sends once it has received
    std::uint32_t first_receive = 0;
    while (!receives(program.operations[first_receive].kind))
      ++first_receive;
    std::swap(program.operations[0], program.operations[first_receive]);
    ASSERT_TRUE(sends(program.operations[first_receive].kind));
    program.operations[first_receive].first_dependence =
        static_cast<std::uint32_t>(program.dependences.size());
    program.operations[first_receive].dependence_count = 1;
    program.dependences.push_back(0);
    // The others follow the same operations as before.
    for (FlatOperation& operation : program.operations) {
      if (&operation == &program.operations[first_receive]) continue;
      for (std::uint32_t k = 0; k < operation.dependence_count; ++k) {
        std::uint32_t& d = program.dependences[operation.first_dependence + k];
        d = d == 0 ? first_receive : d == first_receive ? 0 : d;
      }
    }
  }
  EXPECT_NE(faultOf(programs).find("never complete"), std::string::npos) << faultOf(programs);
}

TEST(CountedProof, SaysWhatIsTooLarge) {
  const Schedule schedule = samples::ringAllreduce(3);
  const StatusOr<CountedResult> result = proveCounted(schedule.view(), 1ull << 32);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("too large to prove for this count: "),
            std::string::npos);
}

TEST(CountedProof, NumbersInMessagesAreExact) {
  const auto refusal = [](std::uint64_t count) {
    return proveCounted(samples::directAlltoall("3").view(), count).status().message();
  };
  const std::string limit = " elements of the vector (limit 20000000000)";
  EXPECT_EQ(refusal((1ull << 60) + 1),
            "too large to prove for this count: 3458764513820540931" + limit);
  EXPECT_EQ(refusal(1ull << 63),
            "too large to prove for this count: more than 18446744073709551615" + limit);
  EXPECT_EQ(refusal(1ull << 32),
            "too large to prove for this count: about 5.9e+05 MiB (limit 4096)");
}

/// Bytes and elements of all ranks go beyond 64 bits long before counts do.
TEST(CountedProof, NoCountWrapsTheLimits) {
  for (const Schedule& schedule : {samples::ringAllreduce(3), samples::ringAllreduce(4),
                                   samples::ringReduceScatter(3), samples::directAlltoall("3")}) {
    for (int bit = 34; bit < 64; ++bit) {
      for (const int more : {-1, 0, 1}) {
        const std::uint64_t count = (1ull << bit) + static_cast<std::uint64_t>(more);
        const StatusOr<CountedResult> result = proveCounted(schedule.view(), count);
        ASSERT_FALSE(result.ok()) << count;
        EXPECT_TRUE(result.status().message().starts_with("too large to prove for this count: "));
      }
    }
  }
}

}  // namespace
}  // namespace torc::ir
