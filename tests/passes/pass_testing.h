// Runs passes in tests: every run checks that the pass reports correctly whether it changed the
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

/// A plan without operations, on a shape in the command line's notation, of equal colors that go
/// along all axes in order.
ir::Program planOf(Collective collective, llvm::StringRef shape, std::uint32_t colors);

/// The collectives of the bucket algorithm without a root.
std::vector<Collective> bucketCollectives();

/// The plan of the bucket algorithm before all passes, for a shape in the command line's notation.
ir::Program bucketPlan(Collective collective, llvm::StringRef shape);

std::string textOf(const ir::Program& program);

/// Runs a pipeline without proofs. After each pass the text must differ exactly when the pass
/// reports a change, and the program must pass `validate`. Returns the message of the first error,
/// or "".
std::string runPasses(ir::Program& program, llvm::StringRef pipeline);

/// Like runPasses; returns whether the last pass reported a change; an error fails the test.
PassResult runPass(ir::Program& program, llvm::StringRef pass);

/// The message of the first fault that the verifier finds; "" if it proves the schedule.
std::string faultOf(const ir::Program& program);

}  // namespace torc::passes

#endif  // TORC_TESTS_PASSES_PASS_TESTING_H_
