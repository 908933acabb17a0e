// Mutated files of other systems through the importer: none crashes or hangs it, and proved ones
// are right.
//
//   bazel test -c opt --test_env=TORC_FUZZ_MUTANTS=1000000 //tests/fuzz:import_fuzz_test
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/fuzz/checked.h"
#include "tests/fuzz/mutate.h"

namespace torc::fuzz {
namespace {

std::vector<Bytes> examples(const std::vector<std::string>& names) {
  std::vector<Bytes> examples;
  for (const std::string& name : names) {
    std::ifstream file("tests/ir/exchange/" + name);
    EXPECT_TRUE(file.good()) << name;
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    examples.push_back(toBytes(text));
  }
  return examples;
}

void checkMutants(const std::vector<std::string>& names, std::string_view words) {
  Mutator mutator(examples(names), fuzzSeed(), wordsOf(words));
  std::uint64_t accepted = 0;
  const auto faultOf = [&](const Bytes& mutant) {
    const Outcome outcome = checkImport(toText(mutant));
    accepted += outcome.accepted;
    return outcome.violation;
  };
  ASSERT_EQ(firstFault(
                mutantCount(20'000), [&] { return mutator.next(); }, faultOf),
            "");
  EXPECT_GT(accepted, 0u);
}

TEST(ImportFuzz, MutantsOfMscclAreRefusedOrRight) {
  checkMutants(
      {"ring-allgather_5.xml", "recursive-doubling_8.xml", "two-step-alltoall_2x3.xml",
       "tree-broadcast_7.xml"},
      "<step ~<tb ~<gpu ~/>~</tb>~\"-1\"~\"0\"~\"1\"~\"2147483647\"~\"rrc\"~\"rrs\"~\"rcs\"~"
      "\"re\"~\"cpy\"~\"nop\"~\"i\"~\"o\"~\"s\"~&lt;~<!-- -->~<!DOCTYPE a>~\"alltoall\"~"
      "\"allgather\"~\"reducescatter\"");
}

TEST(ImportFuzz, MutantsOfConvertedPlansAreRefusedOrRight) {
  checkMutants(
      {"packet-allreduce.xml", "port-allgather.xml", "group-allreduce.xml",
       "semaphore-alltoall.xml"},
      "<step ~<tb ~<gpu ~/>~</tb>~ arrives=\"1\"~ signal=\"1\"~ shares=\"2\"~ number=\"1\"~"
      " name=\"&#7;\"~ src=\"a:1\"~\"-1\"~\"0\"~\"1\"~\"81919\"~\"s\"~\"r\"~\"rrc\"~\"re\"~"
      "\"cpy\"~\"nop\"~\"i\"~\"o\"");
}

TEST(ImportFuzz, MutantsOfTablesAreRefusedOrGraphs) {
  checkMutants({"tacos-allgather_4.csv"},
               "-1~1000000000~None~NPUs Count,2~,~nan~0,1,500,50,0~9223372036854775808~SrcID,");
}

}  // namespace
}  // namespace torc::fuzz
