// The best schedule for each range of sizes, of one collective on one shape.
//
// The search examines sizes a factor of four apart, and the size between two neighbours without a
// common good schedule. A schedule is good for a size if no other is faster by more than the
// precision of a prediction (kGood). The time of a schedule is, apart from steps, a start-up plus a
// share of the size. Two such lines cross at most once. So a schedule that is good for a size and
// for four times it is assumed to be good between them. There are as few ranges as possible with a
// good schedule for every examined size. They end at the crossings of their schedules' times; the
// times there are interpolated between the neighbouring sizes.
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
#include "schedules/library/index.h"
#include "support/work_queue.h"

namespace torc::compiler {

/// The candidates for a size.
struct SizedChoice {
  std::uint64_t bytes = 0;
  double bound_s = 0;                  // lower bound for all algorithms
  Choice choice;                       // its first candidate is the best of this size alone
  std::vector<Candidate> of_others{};  // chosen for neighbouring sizes, with their times here
};

/// A further schedule for autotuning.
struct SpareSchedule {
  std::string file;         // its name
  std::string description;  // its name
};

/// A range of sizes with its schedule; its place in an index is open.
struct ScheduleRange : LibraryEntry {
  double lowest_bound_s = 0, highest_bound_s = 0;
  std::string file_name;
  Candidate chosen;
  std::vector<SizedChoice> choices;  // of sizes in the range
  std::vector<SpareSchedule> spares;
};

/// Up to `count` schedules for the sizes of a range other than the chosen one. They are, in this
/// order:
///  - for rings, the chosen one in 8 chunks, often faster on real networks even if the model
///    predicts no gain;
///  - of the simulated ones, the best of each other algorithm;
///  - the chosen one in 4 chunks;
///  - the next best simulated ones.
/// The rank of a schedule is its smallest ratio to the best time over all sizes; large ratios are
/// excluded.
std::vector<Candidate> sparesOf(const ScheduleRange& range, std::size_t count);

/// Whether the compiled schedules are equal, with the pipeline that a schedule file names.
bool haveSameSchedule(const Candidate& a, const Candidate& b);

/// "allreduce-4x4x4-0123456789abcdef.torc": the name of a file with that content.
std::string libraryFileName(Collective collective, const Topology& topology,
                            std::uint64_t checksum);

/// Receives a schedule file: name and bytes. Called from any thread.
using FileSink =
    std::function<llvm::Error(const std::string& name, std::span<const std::byte> bytes)>;

/// Finds the ranges of one collective on one shape, as tasks of a queue.
class RangeFinder {
 public:
  /// All references must outlive the tasks. `sizes`: the lowest and the highest examined size.
  /// `candidates`: the most schedules to keep per range; beyond the first, they are its spares.
  RangeFinder(const PlannedShape& shape, Collective collective, const SizeRange& sizes,
              std::uint32_t candidates, const FileSink& sink, WorkQueue& queue, Progress& progress);

  /// Adds the first tasks.
  void start();

  /// Once the queue is empty. The first range begins at the lowest size, the last is open. A range
  /// of kNoSize alone comes first if a suitable schedule exists: for pairs a direct schedule, for
  /// an allreduce a schedule of ordered sums.
  /// `called`: the collective, or one with this rootless form. In the latter case bounds are those
  /// of `called`, and sizes with too much memory on ranks that have one block fall back to MPI.
  std::vector<ScheduleRange> rangesFor(Collective called) const;
  /// Once the queue is empty; empty: no error.
  const std::string& error() const { return error_; }

 private:
  /// A schedule that is a spare of some ranges.
  struct Spare {
    Candidate candidate;
    std::vector<std::size_t> ranges;
    std::string file;  // its name; empty: none, as compilation or proof failed
  };

  // These throw errors.
  void choosePending();
  void chooseOne(std::uint64_t bytes);
  void refine();
  void finish();
  void findSpares();
  void proveSpare(Spare& spare);
  void end();
  void findRanges();
  void addWithoutSize();
  std::uint64_t border(ScheduleRange& below, ScheduleRange& above);
  Candidate candidateAt(SizedChoice& sized, const Candidate& wanted);
  double timeBetween(const Candidate& wanted, std::uint64_t bytes, SizedChoice& low,
                     SizedChoice& high);
  void complete(ScheduleRange& range, SizedChoice* before, SizedChoice* behind);
  ProvedFile prove(const Candidate& candidate);
  std::string write(const ProvedFile& file);

  double boundOf(Collective collective, std::uint64_t bytes) const {
    return boundAt(collective, shape_.machine, std::max(bytes, least_));
  }
  double modelled(std::uint64_t bytes) const {
    return static_cast<double>(std::max(bytes, least_));
  }
  void begin(llvm::StringRef what);
  /// Adds a task, whose error ends the search.
  void add(std::function<void()> task);
  /// Ends one of the unfinished tasks. Returns whether it was the last one.
  bool endsLast();

  const PlannedShape& shape_;
  const Collective collective_;
  const SizeRange sizes_;
  const std::uint32_t candidates_;
  const std::uint64_t least_;  // bytes; smaller sizes are modelled as this one
  const FileSink& sink_;
  WorkQueue& queue_;
  Progress& progress_;
  std::optional<CompileCache> programs_;  // while needed
  ProvedSteps proved_;

  std::mutex mutex_;  // protects the following members
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
