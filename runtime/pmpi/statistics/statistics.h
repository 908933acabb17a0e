// Statistics of a rank: what became of every call of a collective, counted by its signature.
//
// Recording takes a lock and looks a row up by numbers and addresses; names are made when a row is
// new. Memory is bounded: signatures beyond kMostCallRows share a row.
#ifndef TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_H_
#define TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <mpi.h>

#include "runtime/pmpi/statistics/statistics_rows.h"
#include "schedules/library/index.h"
#include "support/mutex.h"

namespace torc::runtime::pmpi {

/// A call that is over, or that MPI has got.
struct CallRecord {
  const char* function = "";  // "MPI_Iallreduce"; this and `by` are told apart by address, and live
                              // as long as the statistics
  std::uint32_t communicator = 0;  // of Statistics::communicator
  int communicator_rank = 0;       // of the caller
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  std::uint64_t bytes = 0;  // of the whole vector; without a type: not known
  double seconds = 0;       // from the call to completion
  Service service = Service::kServed;
  const char* by = "";                  // name of the file, or the reason
  const LibraryEntry* entry = nullptr;  // where served
  bool is_on_trial = false;             // the end of the trial is explained, not the call
};

class Statistics {
 public:
  /// `explain`: a line on stderr for every new signature (TORC_VERBOSE=3).
  explicit Statistics(bool explain) : explain_(explain) {}
  Statistics(const Statistics&) = delete;
  Statistics& operator=(const Statistics&) = delete;

  /// The program uses a communicator: `4x2 sub-torus of 4x4x2`, or `6 ranks` and why torc serves no
  /// calls on it. Counted by the rank of it that is 0. The number is for records; 0 stands for
  /// communicators that were not told of.
  std::uint32_t communicator(std::string_view description, std::string_view reason, int rank);

  /// A call is about to be made: explains a new signature. `seconds` are not looked at.
  void announce(const CallRecord& call);

  /// Counts a call. From any thread; handles are read, not kept.
  void record(const CallRecord& call);

  /// A signature is tried on a communicator (TORC_TUNE): told by rank 0 of it; so is the end.
  void trialBegins();
  void trialEnds(TunedRow row);

  /// What has been counted so far.
  JobStatistics snapshot(const RankFacts& facts) const;

 private:
  struct Key {
    const char* function;
    const char* by;
    std::uint32_t shape;  // of the communicator, from shapes_; 0: not known
    MPI_Datatype type;    // of derived ones MPI_DATATYPE_NULL, as they come and go
    MPI_Op op;            // of the user's MPI_OP_NULL, likewise
    std::uint8_t size_class;
    bool derived, users_op;

    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  CallRow& rowOf(const CallRecord& call, std::uint32_t shape) TORC_REQUIRES(mutex_);
  void explain(const CallRecord& call, const CallRow& row) const;

  const bool explain_;
  mutable Mutex mutex_;
  // In rows_.
  std::unordered_map<Key, std::size_t, KeyHash> row_numbers_ TORC_GUARDED_BY(mutex_);
  std::vector<CallRow> rows_ TORC_GUARDED_BY(mutex_);
  static constexpr std::size_t kNoRow = SIZE_MAX;
  // By Service: in rows_.
  std::array<std::size_t, 3> rests_ TORC_GUARDED_BY(mutex_){kNoRow, kNoRow, kNoRow};
  std::vector<CommunicatorRow> communicators_ TORC_GUARDED_BY(mutex_);
  // The number of the first of the same description.
  std::vector<std::uint32_t> shapes_ TORC_GUARDED_BY(mutex_);
  std::vector<TunedRow> tuned_ TORC_GUARDED_BY(mutex_);
  std::uint64_t trials_ TORC_GUARDED_BY(mutex_) = 0, trials_ended_ TORC_GUARDED_BY(mutex_) = 0;
};

/// What the header says of the job besides.
struct JobDescription {
  std::string id{};      // of the batch job (batchJob)
  std::string host{};    // of rank 0
  std::int64_t end = 0;  // seconds since 1970
  std::string command{};
  std::string library{};    // folder
  std::string machine{};    // that the library is for
  std::string partition{};  // "4x4x2, order XYZ" or "4x4x2, mapping job.map"
  std::string off{};        // why torc was off; empty: it was on
};

/// Collective over `comm`, with PMPI_ calls: the statistics of all its ranks, on its rank 0; one
/// message from each other rank, up a binomial tree.
StatusOr<JobStatistics> mergeStatistics(const JobStatistics& mine, MPI_Comm comm);

/// The table for a person.
std::string statisticsTable(const JobDescription& job, const JobStatistics& statistics);

/// Writes the table to stderr, or to `file` unless that is empty.
Status writeStatistics(const std::string& table, const std::string& file);

/// "35.2 us"
std::string secondsText(double seconds);

/// Words of this process's command line.
std::string commandLine();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_H_
