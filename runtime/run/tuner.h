// Tuner: measures the schedules of a library, and MPI's own collectives, on the ranks of a job.
//
// For every sub-torus of the job's partition it uses all boxes of that extent at the same time, as
// programs do. It covers every collective, and sizes a factor of two apart, every other one first:
// for each, the library's files and MPI's own function. These are called in turns, in rounds over
// all sizes, as the speed of a machine's cores may change for minutes. Contenders much slower than
// the fastest drop out.
#ifndef TORC_RUNTIME_RUN_TUNER_H_
#define TORC_RUNTIME_RUN_TUNER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/job/contenders.h"
#include "runtime/job/library.h"
#include "runtime/run/sub_torus_boxes.h"
#include "runtime/run/torc_run_job.h"
#include "runtime/run/torc_run_options.h"
#include "support/status.h"

namespace torc::runtime {

class Tuner {
 public:
  /// `options`: collectives, sizes, type, operation, root, and minutes from now on. Both outlive
  /// it.
  Tuner(const RunOptions& options, torc_library& library);

  /// Collective over MPI_COMM_WORLD. Measures as much as the time allows, then prints a line for
  /// each size on rank 0. The error is the same on all ranks.
  Status measure();

  /// The library's index with the measurements on `job`, and the tuned entries. Call it once.
  LibraryIndex tunedIndex(std::string job);

  /// Number of measured sizes, and of all sizes.
  std::size_t done() const { return done_; }
  std::size_t all() const { return cells_.size(); }

 private:
  /// A candidate in one cell.
  struct Contender {
    std::uint32_t file = kMpisOwn;
    torc_schedule* schedule = nullptr;
    std::vector<double> seconds;  // of calls, by batch, on the slowest rank
    int calls_in_batch = 1;
    bool is_out = false;

    /// For the next batch: short calls are made consecutively, as in programs.
    int callsInBatch() const;
    void took(double call_seconds, int calls);
    double typical() const { return typicalSeconds(seconds); }
  };
  /// A collective, a size and a sub-torus.
  struct Cell {
    std::uint32_t sub_torus = 0;
    std::uint32_t shape = 0;
    Collective collective = Collective::kAllreduce;
    std::uint64_t bytes = 0;
    std::vector<Contender> contenders = {};  // MPI's own function is last; empty: not measured
  };

  std::vector<Cell> cells();
  bool has(std::uint32_t shape, Collective collective, std::uint64_t bytes) const;
  bool isOver() const;
  Status findContenders(Cell& cell, SubTorusBoxes& boxes);
  Status measureRound(Cell& cell, SubTorusBoxes& boxes, int round, double seconds);
  Status call(std::optional<RunJob>& job, Contender& contender, bool is_first, double slice);
  static void dropSlow(std::vector<Contender>& list, int round);
  void say(const std::string& line) const;
  void print() const;

  const RunOptions& options_;
  std::vector<Collective> collectives_;
  torc_library& library_;
  const LibraryIndex& index_;
  const double deadline_;  // of MPI_Wtime
  int rank_ = 0;
  std::uint64_t largest_ = 0;  // requested size
  std::vector<Cell> cells_;
  std::size_t done_ = 0;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TUNER_H_
