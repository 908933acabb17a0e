// The options --jobs, --verify-each, --print-after-all, --time-passes and --stats.
#include <algorithm>
#include <thread>

#include "compiler/commands/commands.h"

namespace torc::compiler {

namespace {

constexpr std::string_view kPasses = "Passes";

}  // namespace

unsigned threadsOf(const options::Integer& jobs) {
  return jobs.isGiven() ? static_cast<unsigned>(jobs)
                        : std::max(1u, std::thread::hardware_concurrency());
}

PassFlags::PassFlags(options::Command& command, bool verify_each)
    : verify_each_(command,
                   {kPasses, "verify-each", "",
                    verify_each ? "Prove the program after each pass; off: --verify-each=0"
                                : "Prove the program after each pass, not only at the end"},
                   verify_each),
      print_after_all_(command,
                       {kPasses, "print-after-all", "", "Print it after each pass, on stderr"}),
      time_passes_(command,
                   {kPasses, "time-passes", "", "Print the seconds of each pass and its proof"}),
      statistics_(command, {kPasses, "stats", "", "Print statistics of the passes"}) {}

passes::PassManagerOptions PassFlags::options() const {
  return {.verify_each = verify_each_,
          .print_after_all = print_after_all_,
          .time_passes = time_passes_,
          .statistics = statistics_};
}

}  // namespace torc::compiler
