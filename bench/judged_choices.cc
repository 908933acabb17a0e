// Judges choices by the strictest judge of a machine: prints the time of the chosen schedule by it,
// the best of the candidates by it, and the ratio of both.
//
//   bazel run -c opt //bench:judged_choices -- MACHINE COLLECTIVE SHAPE BYTES [WITHIN]
//
// Candidates are judged up to a prediction of WITHIN times (2) that of the chosen one.
#include <cstdio>
#include <cstdlib>

#include "bench/judged_choice.h"
#include "compiler/sizes.h"
#include "compiler/spec/collective_spec.h"

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::fprintf(stderr, "usage: judged_choices MACHINE COLLECTIVE SHAPE BYTES [WITHIN]\n");
    return 2;
  }
  const auto quit = [](llvm::Error error) {
    std::fprintf(stderr, "judged_choices: %s\n", llvm::toString(std::move(error)).c_str());
    return 1;
  };
  auto collective = torc::compiler::parseCollective(argv[2]);
  if (!collective) return quit(collective.takeError());
  auto bytes = torc::compiler::parseSize(argv[4], "BYTES");
  if (!bytes) return quit(bytes.takeError());
  auto judged = torc::bench::judgeChoice(*collective, argv[3], argv[1], static_cast<double>(*bytes),
                                         argc > 5 ? std::atof(argv[5]) : 2);
  if (!judged) return quit(judged.takeError());
  std::printf("| %s | %s | %s | %s | %.1f | %s | %.1f | %s | %.3f |\n", argv[1], argv[2], argv[3],
              argv[4], 1e6 * judged->chosen_s, judged->chosen.c_str(), 1e6 * judged->best_s,
              judged->best.c_str(), judged->regret());
  return 0;
}
