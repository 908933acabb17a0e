// One size of torc-run: buffers, torc's collective and MPI's own, checks, times.
#ifndef TORC_RUNTIME_RUN_TORC_RUN_JOB_H_
#define TORC_RUNTIME_RUN_TORC_RUN_JOB_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/api/torc.h"
#include "runtime/non_copyable.h"
#include "runtime/run/collective_functions.h"
#include "runtime/run/torc_run_options.h"
#include "runtime/run/world/page_vector.h"
#include "schedules/collective.h"
#include "support/status.h"

namespace torc::runtime {

/// Microseconds of an iteration on its slowest rank.
struct RunTimes {
  double median = 0, least = 0, most = 0;
};

class RunJob : NonCopyable {
 public:
  /// Collective over `comm`, the schedule's communicator. `collective`: the collective to call.
  /// `schedule` may be null until `use`. `bytes` as in RunOptions: whole elements.
  RunJob(const RunOptions& options, Collective collective, torc_schedule* schedule,
         std::uint64_t bytes, MPI_Comm comm = MPI_COMM_WORLD);
  ~RunJob();

  /// Creates the collective. The error is the same on all ranks.
  Status prepare();

  /// Runs MPI's collective once, for `check`. Later calls have no effect.
  void reference();

  /// Runs once and compares with MPI's collective. Error: a difference, the same on all ranks.
  Status check();

  /// The number of iterations, agreed by all ranks, from the time of `warmup` untimed ones.
  int chooseIterations();

  /// Runs the iterations, alternating with MPI's collective if `compare`. The error is the same on
  /// all ranks.
  Status time(int iterations, RunTimes& torc, RunTimes& mpi);

  /// Changes to another schedule of the same ranks. The error is the same on all ranks.
  Status use(torc_schedule* schedule);

  /// Runs torc's collective or MPI's, all ranks together, and appends this rank's seconds of a
  /// call. `calls`: consecutive calls without synchronization; in place all but the first use
  /// earlier results. Error: torc's on this rank.
  Status iterate(bool of_mpi, std::vector<double>& seconds, int calls = 1);

  /// Runs once more. Error: the result differs bitwise from that of the first check.
  Status checkAgain();

 private:
  std::vector<std::int64_t> countsOfBlocks(std::uint64_t blocks) const;
  void makeGrid();
  bool hasOneBuffer() const;
  void fill();
  Status runTorc();
  void runMpi();
  Status compareWith(const std::vector<std::byte>& expected);
  std::span<const std::byte> result() const;
  std::uint64_t hashOfResult() const;

  const RunOptions& options_;
  const MPI_Comm comm_;
  MPI_Comm grid_ = MPI_COMM_NULL;  // for MPI's own neighbourhood collectives
  torc_schedule* schedule_;
  const CollectiveRow* row_ = nullptr;
  int rank_ = 0, ranks_ = 1;
  int neighbours_ = 0;
  bool has_twins_ = false;      // two neighbours are the same rank, which has a block of each
  std::uint64_t elements_ = 0;  // of the whole vector
  bool is_in_place_ = false;    // this rank's call, with all its data in out_
  PageVector<std::byte> data_;  // initial data of every iteration
  PageVector<std::byte> in_, out_;
  std::vector<std::byte> reference_;
  FunctionArguments arguments_;
  std::size_t own_offset_ = 0;  // of the own block among those of all ranks
  bool has_reference_ = false;
  std::size_t result_bytes_ = 0, result_offset_ = 0;  // in out_
  torc_collective* collective_ = nullptr;
  std::uint64_t first_hash_ = 0;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TORC_RUN_JOB_H_
