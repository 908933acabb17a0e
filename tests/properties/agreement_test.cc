// Symbolic proof, the proof of every rank by itself and execution on numbers agree: over random
// shapes (up to 5 dimensions, 150 ranks, torus and mesh, with and without cores), pipelines, counts
// and types. cells_test.cc compares the two proofs on mutants, too.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ir/text/text.h"
#include "ir/verifier/verifier.h"
#include "tests/properties/random_case.h"
#include "tests/runtime/execution/checked_job.h"

namespace torc {
namespace {

std::string faultsOf(const ScheduleView& schedule, const ir::VerifyOptions& options) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ir::printFaults(schedule, ir::verify(schedule, options), out);
  return text;
}

RC_GTEST_PROP(Agreement, ProofsAndExecution, ()) {
  const CompileCase test_case = drawCase(150);
  const Schedule schedule = drawLoops(compileCase(test_case));
  const ScheduleView view = schedule.view();
  RC_LOG() << test_case.text() << "\n";
  RC_TAG(test_case.collective);
  if (const std::string faults = faultsOf(view, {}); !faults.empty()) RC_FAIL(faults);
  // Rank by rank a proof of trees takes minutes and gigabytes: boxes of ranks don't make up a tree.
  if (schedule.topology.ranks() <= (test_case.algorithm == "bucket" ? 150 : 100)) {
    const std::string faults = faultsOf(view, {.per_rank = true});
    if (!faults.empty()) RC_FAIL(faults);
  }
  for (int i = 0; i < 3; ++i) {
    const CheckedCall call = drawCall(schedule);
    const std::string wrong = runChecked(view, call);
    if (!wrong.empty()) RC_FAIL(wrong);
  }
}

RC_GTEST_PROP(Agreement, TextHoldsTheWholeSchedule, ()) {
  const Schedule schedule = drawLoops(compileCase(drawCase(100)));
  const std::string text = ir::programText({schedule, {}});
  llvm::Expected<ir::Program> parsed = ir::parseProgram(text, "printed");
  if (!parsed) RC_FAIL(llvm::toString(parsed.takeError()));
  RC_ASSERT(faultsOf(parsed->schedule.view(), {}).empty());
  RC_ASSERT(text == ir::programText(*parsed));
}

// What the compiler copies over the end of an axis has other axes inside; here it is blocks one by
// one, of two parts each, and more of them than are listed.
TEST(Agreement, BlocksAreCopiedOverTheEndOfAnAxis) {
  constexpr int kNodes = 40, kOthers = kNodes - 1;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "schedule @allgather {\ncollective allgather\ntopology torus [X=" << kNodes
      << "] order X\ncolor 0 weight 1/1 order X directions 1 chunks 2\n"
      << "stream 0 of p0 core 0\nstream 1 of p1 core 0\nslots 2\n";
  for (int part = 0; part < 2; ++part) {
    out << "frame f" << part << " = p" << part << " (x-" << kOthers << ":" << kOthers
        << ") in slot " << part << "\n";
  }
  out << "phase 0 {\n";
  int next = 0;
  const auto begin = [&]() -> llvm::raw_ostream& { return out << "%" << next++ << " = "; };
  for (int part = 0; part < 2; ++part) {
    const std::string own = "p" + std::to_string(part) + ", (x)]";
    out << "stream " << part << " {\n";
    begin() << "send in[" << own << " to X+1\n";
    begin() << "copy out[" << own << " = in[" << own << "\n";
    std::string received;
    for (int k = 1; k < kNodes; ++k) {
      const std::string block = "f" + std::to_string(part) + "[(x-" + std::to_string(k) + ")]";
      received += (k > 1 ? ", %" : "%") + std::to_string(next);
      begin() << "recv " << block << " from X-1\n";
      if (k < kOthers) begin() << "send " << block << " to X+1 after %" << next - 2 << "\n";
    }
    begin() << "copy out[p" << part << ", (x-" << kOthers << ":" << kOthers << ")] = f" << part
            << "[*] after " << received << "\n}\n";
  }
  out << "}\n}\n";
  const ir::Program program = cantFail(ir::parseProgram(text, "written"));
  const ScheduleView view = program.schedule.view();
  EXPECT_EQ(faultsOf(view, {}), "");
  for (const std::uint64_t count : {1u, 7u, 64u}) {
    CheckedCall call;
    call.count = count;
    EXPECT_EQ(runChecked(view, call), "") << count;
  }
}

}  // namespace
}  // namespace torc
