// --verify-each, --print-after-all, --time-passes, --stats.
#include "compiler/commands/commands.h"

namespace torc::compiler {

using namespace llvm::cl;

PassFlags::PassFlags(SubCommand& command, OptionCategory& category, bool verify_each)
    : verify_each_(
          "verify-each", init(verify_each), sub(command), cat(category),
          desc(verify_each
                   ? "Prove the program after each pass (default; off: --verify-each=0)"
                   : "Prove the program after each pass; what is written is always proved")),
      print_after_all_("print-after-all", sub(command), cat(category),
                       desc("Print the program after each pass, on stderr")),
      time_passes_("time-passes", sub(command), cat(category),
                   desc("Print the seconds that each pass and its proof take")),
      statistics_("stats", sub(command), cat(category), desc("Print what the passes found out")) {}

passes::PassManagerOptions PassFlags::options() const {
  passes::PassManagerOptions options;
  options.verify_each = verify_each_;
  options.print_after_all = print_after_all_;
  options.time_passes = time_passes_;
  options.statistics = statistics_;
  return options;
}

}  // namespace torc::compiler
