// Which schedule is best for which sizes, of one collective on one shape.
//
// Sizes a factor of four apart are looked at, and where neighbours have no good schedule in common,
// the size between them. A schedule is good for a size if none is faster by more than prediction
// can tell (kGood). The time of a schedule is, but for steps, a start-up plus a share of the size:
// of two such lines one is below the other on one side of where they cross. So a schedule that is
// good for a size and for four times it is taken to be good between them. Ranges are as few as can
// be with a good schedule for every size that was looked at; they end where the times of their
// schedules cross, and what they take there is said, by the lines through their times for the sizes
// around.
#ifndef TORC_COMPILER_LIBRARY_RANGES_H_
#define TORC_COMPILER_LIBRARY_RANGES_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <llvm/Support/Error.h>

#include "compiler/choice/choice.h"
#include "compiler/compile_cache.h"
#include "compiler/library/library_shapes.h"
#include "compiler/library/served_range.h"
#include "compiler/progress_line.h"
#include "compiler/proved_file.h"
#include "compiler/sizes.h"
#include "compiler/work_queue.h"

namespace torc::compiler {

/// What there was to choose from for a size.
struct SizedChoice {
  std::uint64_t bytes = 0;
  double bound_s = 0;                  // what no algorithm can beat
  Choice choice;                       // its first is the best of this size alone
  std::vector<Candidate> of_others{};  // chosen for sizes beside it, as they do here
};

/// A schedule that tuning tries too.
struct SpareSchedule {
  std::string file;         // its name
  std::string description;  // as Candidate::description
};

/// A range of sizes with its schedule.
struct ScheduleRange {
  std::uint64_t lowest = 0;        // bytes, both included
  std::uint64_t highest = 0;       // kOpenEnd at the end
  std::uint64_t predicted_to = 0;  // as in LibraryEntry
  double lowest_s = 0, highest_s = 0;
  double lowest_bound_s = 0, highest_bound_s = 0;
  std::string file;  // its name
  Candidate chosen;
  std::string reason;                // the schedule, and why
  std::vector<SizedChoice> choices;  // of sizes in the range
  std::vector<SpareSchedule> spares;
};

/// Whether the compiled schedules are equal: the pipeline is in a schedule's file.
bool haveSameSchedule(const Candidate& a, const Candidate& b);

/// "allreduce-4x4x4-0123456789abcdef.torc": the name of a file with that content.
std::string libraryFileName(Collective collective, const Topology& topology,
                            std::uint64_t checksum);

/// Takes a schedule's file; name and bytes. Called from any thread.
using FileSink =
    std::function<llvm::Error(const std::string& name, std::span<const std::byte> bytes)>;

/// Finds the ranges of one collective on one shape, as tasks of a queue.
class RangeFinder {
 public:
  /// All that is named outlives the tasks. `sizes`: the lowest and the highest that are looked at.
  /// `candidates`: schedules that are kept of a range, at most; of more than one, the others are
  /// its spares.
  RangeFinder(const PlannedShape& shape, Collective collective, const SizeRange& sizes,
              std::uint32_t candidates, const FileSink& sink, WorkQueue& queue, Progress& progress);

  /// Adds the first tasks.
  void start();

  /// Once the queue is empty: the first range begins at the lowest size, the last is open. Of pairs
  /// a range of kNoSize alone is before them, where there is a direct schedule, and of an allreduce
  /// one where there is a schedule of ordered sums.
  /// `called`: the collective, or one of which it is the rootless form; then bounds are those of
  /// that one, and what would take much memory on ranks that have one block is left to MPI.
  std::vector<ScheduleRange> rangesFor(Collective called) const;
  /// Once the queue is empty; empty: none.
  const std::string& error() const { return error_; }

 private:
  /// A schedule that is a spare of some ranges.
  struct Spare {
    Candidate candidate;
    std::vector<std::size_t> ranges;
    std::string file;  // its name; empty: none, as it cannot be compiled or proved
  };

  void choosePending();
  void chooseOne(std::uint64_t bytes);
  void refine();
  void finish();
  llvm::Error findRanges();
  void findSpares();
  void proveSpare(Spare& spare);
  void end();
  llvm::Error addWithoutSize();
  llvm::Expected<std::uint64_t> border(ScheduleRange& below, ScheduleRange& above);
  llvm::Expected<Candidate> candidateAt(SizedChoice& sized, const Candidate& wanted);
  llvm::Expected<double> timeBetween(const Candidate& wanted, std::uint64_t bytes, SizedChoice& low,
                                     SizedChoice& high);
  llvm::Error complete(ScheduleRange& range, SizedChoice* before, SizedChoice* behind);
  llvm::Expected<ProvedFile> prove(const Candidate& candidate);
  llvm::Expected<std::string> write(const ProvedFile& file);
  double boundOf(Collective collective, std::uint64_t bytes) const {
    return boundAt(collective, shape_.machine, std::max(bytes, least_));
  }
  double modelled(std::uint64_t bytes) const {
    return static_cast<double>(std::max(bytes, least_));
  }
  void begin(llvm::StringRef what);
  void fail(llvm::Error error);

  const PlannedShape& shape_;
  const Collective collective_;
  const SizeRange sizes_;
  const std::uint32_t candidates_;
  const std::uint64_t least_;  // bytes, below which nothing changes
  const FileSink& sink_;
  WorkQueue& queue_;
  Progress& progress_;
  std::optional<CompileCache> programs_;  // as long as it is needed
  ProvedSteps proved_;

  std::mutex mutex_;  // of what follows
  std::map<std::uint64_t, SizedChoice> choices_;
  std::vector<std::uint64_t> pending_;
  std::size_t unfinished_ = 0;
  bool refined_ = false;
  std::vector<ScheduleRange> ranges_;
  std::vector<Spare> spares_;
  std::string error_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_RANGES_H_
