// Pass manager: runs passes in order; prints, times and verifies between them; stops at the first
// failure and names the pass.
#ifndef TORC_PASSES_MANAGER_PASS_MANAGER_H_
#define TORC_PASSES_MANAGER_PASS_MANAGER_H_

#include <memory>
#include <utility>
#include <vector>

#include <llvm/Support/Error.h>
#include <llvm/Support/raw_ostream.h>

#include "passes/manager/pass.h"

namespace torc::passes {

struct PassManagerOptions {
  bool verify_each = true;                 // prove the program after each pass that changed it
  bool print_after_all = false;            // the program's text after each pass
  bool time_passes = false;                // seconds of each pass, and of the proof after it
  bool statistics = false;                 // statistics of the passes
  llvm::raw_ostream* out = &llvm::errs();  // for all printed text
};

class PassManager {
 public:
  explicit PassManager(std::vector<std::unique_ptr<Pass>> passes, PassManagerOptions options = {})
      : passes_(std::move(passes)), options_(options) {}

  /// Runs the passes. Errors: `pass 'pipeline': ...`, or `after pass 'pipeline': ...` if the result
  /// of the pass is not valid.
  llvm::Error run(ir::Program& program);

 private:
  llvm::Error runOne(Pass& pass, ir::Program& program) const;

  std::vector<std::unique_ptr<Pass>> passes_;
  PassManagerOptions options_;
};

/// Ok if `program` is a valid plan, or steps that are proved to compute their collective; otherwise
/// the first fault.
llvm::Error checkProgram(const ir::Program& program);

}  // namespace torc::passes

#endif  // TORC_PASSES_MANAGER_PASS_MANAGER_H_
