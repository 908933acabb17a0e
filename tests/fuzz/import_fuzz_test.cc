// Mutated MSCCL files through the importer: none crashes or hangs it, and what is proved is right.
//
//   bazel test -c opt --test_env=TORC_FUZZ_MUTANTS=1000000 //tests/fuzz:import_fuzz_test
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/fuzz/checked_import.h"
#include "tests/fuzz/mutate.h"

namespace torc::fuzz {
namespace {

std::vector<Bytes> examples() {
  std::vector<Bytes> examples;
  for (const char* name :
       {"ring-allgather_5", "recursive-doubling_8", "two-step-alltoall_2x3", "tree-broadcast_7"}) {
    std::ifstream file(std::string("tests/ir/exchange/") + name + ".xml");
    EXPECT_TRUE(file.good()) << name << ".xml";
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    examples.push_back(toBytes(text));
  }
  return examples;
}

TEST(ImportFuzz, MutantsAreRefusedOrRight) {
  std::vector<Bytes> words;
  for (const char* word :
       {"<step ",         "<tb ",         "<gpu ",         "/>",
        "</tb>",          "\"-1\"",       "\"0\"",         "\"1\"",
        "\"2147483647\"", "\"rrc\"",      "\"rrs\"",       "\"rcs\"",
        "\"re\"",         "\"cpy\"",      "\"nop\"",       "\"i\"",
        "\"o\"",          "\"s\"",        "&lt;",          "<!-- -->",
        "<!DOCTYPE a>",   "\"alltoall\"", "\"allgather\"", "\"reducescatter\""}) {
    words.push_back(toBytes(word));
  }
  Mutator mutator(examples(), fuzzSeed(), words);
  const std::uint64_t mutants = mutantCount(20'000);
  std::uint64_t accepted = 0;
  for (std::uint64_t i = 0; i < mutants; ++i) {
    const Bytes mutant = mutator.next();
    const ImportOutcome outcome = checkImport(toText(mutant));
    ASSERT_EQ(outcome.violation, "") << "mutant " << i << ":\n" << toText(mutant);
    accepted += outcome.is_accepted ? 1 : 0;
  }
  std::printf("%llu of %llu proved\n", static_cast<unsigned long long>(accepted),
              static_cast<unsigned long long>(mutants));
  EXPECT_GT(accepted, 0u);
}

}  // namespace
}  // namespace torc::fuzz
