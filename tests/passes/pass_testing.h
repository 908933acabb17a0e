// Running passes in tests: every run checks that the pass reports honestly whether it changed the
// program.
#ifndef TORC_TESTS_PASSES_PASS_TESTING_H_
#define TORC_TESTS_PASSES_PASS_TESTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>

#include "ir/program.h"
#include "passes/manager/pass.h"

namespace torc::passes {

/// A plan without operations, on a shape as on the command line, of colors alike that go along all
/// axes in their order.
ir::Program planOf(Collective collective, llvm::StringRef shape, std::uint32_t colors);

/// The collectives that the bucket algorithm serves without a root.
std::vector<Collective> bucketCollectives();

/// The plan of the bucket algorithm that the passes start from, for a shape as on the command line.
ir::Program bucketPlan(Collective collective, llvm::StringRef shape);

std::string textOf(const ir::Program& program);

/// Runs a pipeline without proofs. After each pass the text must be another exactly when the pass
/// says so, and the program must pass `validate`. Returns the message of the first error, or "".
std::string runPasses(ir::Program& program, llvm::StringRef pipeline);

/// As runPasses, and whether the last pass reported a change; an error fails the test.
PassResult runPass(ir::Program& program, llvm::StringRef pass);

/// The message of the first fault that the verifier finds; "" if it proves the schedule.
std::string faultOf(const ir::Program& program);

}  // namespace torc::passes

#endif  // TORC_TESTS_PASSES_PASS_TESTING_H_
