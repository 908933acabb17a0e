// Statistics of a rank: counts the collective calls by signature and outcome.
//
// Recording takes a lock and finds a row by numbers and addresses; names are made when a row is
// new. Memory is bounded: signatures beyond kMostCallRows share a row.
#ifndef TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_H_
#define TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <mpi.h>

#include "runtime/non_copyable.h"
#include "runtime/pmpi/statistics/statistics_rows.h"
#include "schedules/library/index.h"
#include "support/mutex.h"

namespace torc::runtime::pmpi {

/// A call that has ended, or that has fallen back to MPI.
struct CallRecord {
  const char* function = "";  // "MPI_Iallreduce"; this and `by` are compared by address, and must
                              // outlive the statistics
  std::uint32_t communicator = 0;  // number from Statistics::communicator
  int communicator_rank = 0;       // of the caller
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  std::uint64_t bytes = 0;  // of the whole vector; unknown without a type
  double seconds = 0;       // from the call to completion
  Service service = Service::kServed;
  const char* by = "";                  // name of the schedule file, or the reason
  const LibraryEntry* entry = nullptr;  // if torc served it
  bool is_on_trial = false;             // a line explains the end of the trial, not the call
};

class Statistics : NonCopyable {
 public:
  /// `explain`: a line on stderr for every new signature (TORC_VERBOSE=3).
  explicit Statistics(bool explain) : explain_(explain) {}

  /// Adds a communicator of the program: `4x2 sub-torus of 4x4x2`, or `6 ranks` and why torc serves
  /// no calls on it. Its rank 0 counts it. Returns its number for records; 0 stands for unknown
  /// communicators.
  std::uint32_t communicator(std::string_view description, std::string_view reason, int rank);

  /// Before a call: explains a new signature. `seconds` is ignored.
  void announce(const CallRecord& call);

  /// Counts a call. From any thread; handles are read, not kept.
  void record(const CallRecord& call);

  /// A trial of a signature begins on a communicator (TORC_TUNE); rank 0 of it reports this and the
  /// end.
  void trialBegins();
  void trialEnds(TunedRow row);

  /// The counts so far.
  JobStatistics snapshot(const RankFacts& facts) const;

 private:
  struct Key {
    const char* function = nullptr;  // null: the row of further signatures, by Service
    const char* by = nullptr;
    std::uint32_t shape = 0;                // of the communicator, from shapes_; 0: unknown
    MPI_Datatype type = MPI_DATATYPE_NULL;  // also for derived ones, as they come and go
    MPI_Op op = MPI_OP_NULL;                // also for user-defined ones, likewise
    std::uint8_t size_class = 0;            // or Service
    bool derived = false, users_op = false;

    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  CallRow& rowOf(const CallRecord& call, std::uint32_t shape) TORC_REQUIRES(mutex_);
  void explain(const CallRecord& call, const CallRow& row) const;

  const bool explain_;
  mutable Mutex mutex_;
  // Index in rows_.
  std::unordered_map<Key, std::size_t, KeyHash> row_numbers_ TORC_GUARDED_BY(mutex_);
  std::vector<CallRow> rows_ TORC_GUARDED_BY(mutex_);
  std::vector<CommunicatorRow> communicators_ TORC_GUARDED_BY(mutex_);
  // By communicator: the number of the first with the same description.
  std::vector<std::uint32_t> shapes_ TORC_GUARDED_BY(mutex_);
  std::vector<TunedRow> tuned_ TORC_GUARDED_BY(mutex_);
  std::uint64_t trials_ TORC_GUARDED_BY(mutex_) = 0, trials_ended_ TORC_GUARDED_BY(mutex_) = 0;
};

/// Further data of the table's header.
struct JobDescription {
  std::string id{};      // of the batch job (batchJob)
  std::string host{};    // of rank 0
  std::int64_t end = 0;  // seconds since 1970
  std::string command{};
  std::string library{};    // folder
  std::string machine{};    // of the library
  std::string partition{};  // "4x4x2, order XYZ" or "4x4x2, mapping job.map"
  std::string off{};        // why torc was off; empty: it was not
};

/// Collective over `comm`, with PMPI_ calls: returns the statistics of all ranks on rank 0. Each
/// other rank sends one message, up a binomial tree.
StatusOr<JobStatistics> mergeStatistics(const JobStatistics& mine, MPI_Comm comm);

/// Sets the measured times of the served rows: from TORC_TUNE in this job, otherwise from a tuned
/// library, at the nearest size within a factor of two. Only for blocking calls, as only these are
/// measured.
void findMeasuredTimes(JobStatistics& statistics, const LibraryIndex& index);

/// Sets the wait for late ranks of blocking calls in which all ranks wait for each other, where the
/// communicators of a row have the same members.
void findLateRanks(JobStatistics& statistics);

/// The table for users.
std::string statisticsTable(const JobDescription& job, const JobStatistics& statistics);

/// The same as a line of JSON, with its newline, which sites add up (`torc stats`).
std::string statisticsJson(const JobDescription& job, const JobStatistics& statistics);

/// Writes the table to stderr, or to `file` unless that is empty.
Status writeStatistics(const std::string& table, const std::string& file);

/// Appends by one write, without truncating concurrent lines of others. On a full disk a partial
/// line is undone. An error is one line: `TORC_STATS: cannot write FILE: No space left on device`.
Status appendLine(const std::string& line, const std::string& file);

/// "35.2 us"
std::string secondsText(double seconds);

/// Words of this process's command line.
std::string commandLine();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_H_
