// A text that tests of loops have in common.
#ifndef TORC_TESTS_IR_LOOPS_LOOPED_H_
#define TORC_TESTS_IR_LOOPS_LOOPED_H_

#include <string>

#include <llvm/ADT/Twine.h>

namespace torc::ir {

/// A loop around one operation of a ring of eight.
inline std::string looped(llvm::StringRef frames, int iterations, llvm::StringRef operations) {
  return (llvm::Twine(R"(schedule @one {
  collective allreduce
  topology torus [X=8] order X
  color 0 weight 1/1 order X
  stream 0 of p0
)") + frames +
          "  phase 0 {\n    stream 0 {\n      for i in 0.." + llvm::Twine(iterations - 1) + " {\n" +
          operations + "\n      }\n    }\n  }\n}\n")
      .str();
}

}  // namespace torc::ir

#endif  // TORC_TESTS_IR_LOOPS_LOOPED_H_
