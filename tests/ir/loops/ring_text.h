// Texts with loops, and helpers of their tests.
#ifndef TORC_TESTS_IR_LOOPS_RING_TEXT_H_
#define TORC_TESTS_IR_LOOPS_RING_TEXT_H_

#include <string>

#include <gtest/gtest.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "ir/text/text.h"

namespace torc::ir {

/// Partial sums go around a ring of eight, and one of the results a step further.
inline constexpr char kRing[] = R"(schedule @ring {
  collective allreduce
  topology torus [X=8] order X
  color 0 weight 1/1 order X directions 1 chunks 1
  stream 0 of p0 core 0
  slots 2
  frame f0 = p0 (x-2-i) in slots 0..1
  phase 0 {
    stream 0 {
      %0 = send in[p0, (x-1)] to X+1
      for i in 0..5 {
        %1 = recv_reduce out[p0, (x-2-i)] = in[p0, (x-2-i)] + f0[(x-2-i)] from X-1 after %1 of i-2
        %2 = send out[p0, (x-2-i)] to X+1 after %1
      }
    }
  }
  phase 1 {
    stream 0 {
      %3 = recv out[p0, (x)] from X-1 after %2
    }
  }
}
)";

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

inline std::string replaced(std::string text, llvm::StringRef what, llvm::StringRef by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what.str();
  return text.replace(at, what.size(), by);
}

inline Schedule parsed(llvm::StringRef text) {
  return cantFail(parseProgram(text, "ring.tir")).schedule;
}

}  // namespace torc::ir

#endif  // TORC_TESTS_IR_LOOPS_RING_TEXT_H_
