// What statistics count, of one rank or of many: rows of calls and of communicators, and facts of
// the ranks. Plain data, which can be merged, and sent as bytes.
#ifndef TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_ROWS_H_
#define TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/status.h"

namespace torc::runtime::pmpi {

/// What became of a call.
enum class Service : std::uint8_t {
  kServed,          // by torc
  kNotTorcs,        // handed to MPI, as torc does not serve such calls
  kShouldBeServed,  // handed to MPI; an error under TORC_STRICT
};

/// Calls that are alike: a call signature.
struct CallRow {
  Service service = Service::kServed;
  std::string function;         // "MPI_Iallreduce"
  std::string communicator;     // "4x2 sub-torus of 4x4x2", "6 ranks"
  std::string datatype;         // "MPI_DOUBLE"; "derived"; empty: none
  std::string operation;        // "MPI_SUM"; "user's"; empty: none
  std::string by;               // the file of the library, or why MPI got the call
  std::uint8_t size_class = 0;  // bit width of the bytes of a call

  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  // of all calls
  std::uint64_t least_bytes = 0, most_bytes = 0;
  double seconds = 0;  // of all calls
  double least_seconds = 0, most_seconds = 0;
  std::uint64_t ranks = 0;  // that made such calls

  // Of a call, where the library or the job's own trials know both; 0: not known. They are found
  // when all ranks' rows are together (findMeasuredTimes), and are not sent.
  double measured_seconds = 0;      // by what serves it
  double measured_mpi_seconds = 0;  // by MPI's own

  /// Whether it is the row of what found no row of its own.
  bool isRest() const { return function.empty(); }
  bool operator==(const CallRow&) const = default;
};

/// Communicators that are alike, with their calls: a row of calls may be of several such kinds, for
/// it tells communicators apart by description alone.
struct CommunicatorRow {
  std::string description;  // as in CallRow
  std::string reason;       // why torc serves no call on them; empty: it does
  std::uint64_t used = 0;   // so many of them, on which the program made collective calls

  std::uint64_t served = 0;  // calls on them, by torc
  std::uint64_t handed = 0;  // calls on them that MPI got
  double seconds = 0;        // of all these calls

  bool operator==(const CommunicatorRow&) const = default;
};

/// A signature for which TORC_TUNE has found what is fastest, on one communicator.
struct TunedRow {
  std::string function;      // "MPI_Allreduce"
  std::string communicator;  // as in CallRow
  std::string by;            // what serves it since: a file, or "MPI's own"
  std::uint64_t bytes = 0;   // of a call
  std::uint64_t calls = 0;   // that were on trial, on each rank
  double seconds = 0;        // of a call, by what serves it since: as long as on the slowest rank
  double own_seconds = 0;    // likewise, as the library says
  double mpi_seconds = 0;    // likewise, by MPI's own

  bool operator==(const TunedRow&) const = default;
};

/// Numbers of one rank, which runtime/pmpi/job/job_report.cc finds; statistics_rows.cc sends and
/// merges them (`forFacts`), statistics_table.cc prints them, docs/users/settings.md explains them.
struct RankFacts {
  std::uint64_t schedules = 0;       // loaded, at the end
  std::uint64_t schedule_bytes = 0;  // of them
  std::uint64_t calls_found = 0;     // that were laid out already
  std::uint64_t plans_made = 0;
  std::uint64_t call_bytes = 0;     // of persistent plans, at the end
  std::uint64_t put_bytes = 0;      // of messages that it has sent: into shared memory
  std::uint64_t mpi_bytes = 0;      // and by MPI
  std::uint64_t segments = 0;       // of its host's memory that it is the first rank of, at the end
  std::uint64_t segment_bytes = 0;  // of them, which have been written
  double setup_seconds = 0;         // MPI_Init's and communicators'
  double load_seconds = 0;          // schedules'

  bool operator==(const RankFacts&) const = default;
};

/// Most rows of one rank; what is beyond is counted together.
inline constexpr std::size_t kMostCallRows = 1000;
inline constexpr std::size_t kMostCommunicatorRows = 200;
inline constexpr std::size_t kMostTunedRows = 1000;

/// The statistics of one rank, or of several together.
struct JobStatistics {
  std::uint64_t ranks = 1;
  std::vector<CallRow> calls;  // a signature has one row
  std::vector<CommunicatorRow> communicators;
  std::vector<TunedRow> tuned;  // kMostTunedRows of them at most
  std::uint64_t trials = 0;     // of signatures that were begun, on all communicators
  std::uint64_t ended = 0;      // of them; as many rows, but for what is beyond the most
  RankFacts sum, most;          // over the ranks

  /// Adds those of other ranks. Beyond twice the most rows of a rank, those of the least time are
  /// counted together.
  void merge(const JobStatistics& others);
  /// Makes the rows of calls at most `limit` and three: those beyond, of the least time, are
  /// counted in a row per service.
  void fold(std::size_t limit);

  std::vector<std::byte> bytes() const;
  /// kMalformed: torn.
  static StatusOr<JobStatistics> fromBytes(std::span<const std::byte> bytes);

  bool operator==(const JobStatistics&) const = default;
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_ROWS_H_
