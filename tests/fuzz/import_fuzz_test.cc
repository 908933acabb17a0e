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

void checkMutants(const std::vector<std::string>& names,
                  std::initializer_list<std::string_view> words) {
  Mutator mutator(examples(names), fuzzSeed(), toBytes(words));
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
  checkMutants({"ring-allgather_5.xml", "recursive-doubling_8.xml", "two-step-alltoall_2x3.xml",
                "tree-broadcast_7.xml"},
               {"<step ",         "<tb ",         "<gpu ",         "/>",
                "</tb>",          "\"-1\"",       "\"0\"",         "\"1\"",
                "\"2147483647\"", "\"rrc\"",      "\"rrs\"",       "\"rcs\"",
                "\"re\"",         "\"cpy\"",      "\"nop\"",       "\"i\"",
                "\"o\"",          "\"s\"",        "&lt;",          "<!-- -->",
                "<!DOCTYPE a>",   "\"alltoall\"", "\"allgather\"", "\"reducescatter\""});
}

TEST(ImportFuzz, MutantsOfPlansAreRefusedOrRight) {
  checkMutants(
      {"packet-allreduce_3.json", "port-allgather_4.json", "group-allreduce_3.json",
       "semaphore-alltoall_3.json"},
      {"\"put\"",     "\"pws\"",     "\"pwsf\"",     "\"get\"",          "\"copy\"",
       "\"re\"",      "\"res\"",     "\"rre\"",      "\"rres\"",         "\"upkt\"",
       "\"cpkt\"",    "\"ppkt\"",    "\"rppkt\"",    "\"respkt\"",       "\"recspkt\"",
       "\"signal\"",  "\"wait\"",    "\"flush\"",    "\"barrier\"",      "\"nop\"",
       "\"glres\"",   "\"switch\"",  "\"port\"",     "\"memory\"",       "\"sem_acquire\"",
       "\"i\"",       "\"o\"",       "\"s\"",        "{\"buffer_id\":0", "9223372036854775808",
       "-1",          "1e9",         "2147483648",   "[[[[[[[[[[[[[[[[", "\"tbg_size\": 4096",
       "null",        "1000000000",  "\"pipeline\"", "\"ops\": []",      "\"allgather\"",
       "\"size\": 2", "\"index\": 1"});
}

TEST(ImportFuzz, MutantsOfTablesAreRefusedOrGraphs) {
  checkMutants({"tacos-allgather_4.csv"}, {"-1", "1000000000", "None", "NPUs Count,2", ",", "nan",
                                           "0,1,500,50,0", "9223372036854775808", "SrcID,"});
}

}  // namespace
}  // namespace torc::fuzz
