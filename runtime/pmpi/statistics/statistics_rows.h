// What statistics count, of one rank or of many: rows of calls and of communicators, and facts of
// the ranks. Plain data, whose fields are stated once (kFields): what merges, sends and prints them
// visits these.
#ifndef TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_ROWS_H_
#define TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "support/status.h"

namespace torc::runtime::pmpi {

/// How values of several rows become one.
enum class Merge : std::uint8_t {
  kKey,  // rows with the same ones are one row
  kSum,
  kLeast,
  kMost,
  kLater,  // found when all rows are together: neither merged nor sent, and printed only above 0
};

using enum Merge;

/// A member of a row.
template <typename Row, typename Value>
struct Field {
  Value Row::*member;
  const char* key;  // of JSON, docs/schemas/statistics.schema.json; nullptr: it is not there
  Merge merge = kKey;
  bool in_sums = false;  // of jobs: `torc stats` tells rows apart by it, or adds it up
};

template <typename Row, typename Value>
Field(Value Row::*, const char*, Merge = kKey, bool = false) -> Field<Row, Value>;

/// How the table shows a number of a rank.
enum class Unit : std::uint8_t { kCount, kBytes, kSeconds };

/// A number of a rank: a member of RankFacts.
template <typename Row, typename Value>
struct Fact {
  Value Row::*member;
  const char* key;  // as of Field
  Merge merge;
  const char* line;  // of the table, which begins with it; empty: it goes on with the line before
  Unit unit;
  const char* text;  // behind the number
};

template <typename Row, typename Value>
Fact(Value Row::*, const char*, Merge, const char*, Unit, const char*) -> Fact<Row, Value>;

/// Fields of a row, in the order of JSON.
template <typename Row>
inline constexpr auto kFields = std::tuple<>();

/// Calls `function(field, value)` with each field of a row.
template <typename Row, typename Function>
void forFields(Row& row, Function function) {
  std::apply([&](const auto&... fields) { (function(fields, row.*fields.member), ...); },
             kFields<std::remove_const_t<Row>>);
}

/// Adds the values of `from`, as each field says; sums stop at the largest number.
template <typename Row>
void add(const Row& from, Row& into) {
  forFields(into, [&]<typename Value>(const auto& field, Value& value) {
    if constexpr (std::is_arithmetic_v<Value>) {
      const Value other = from.*field.member;
      if (field.merge == kSum) {
        constexpr Value kTop = std::numeric_limits<Value>::max();
        value = value > kTop - other ? kTop : value + other;
      }
      if (field.merge == kLeast) value = std::min(value, other);
      if (field.merge == kMost) value = std::max(value, other);
    }
  });
}

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
  std::uint64_t least_bytes = std::numeric_limits<std::uint64_t>::max(), most_bytes = 0;
  double seconds = 0;  // of all calls
  double least_seconds = std::numeric_limits<double>::max(), most_seconds = 0;
  std::uint64_t ranks = 0;  // that made such calls

  // Of a call, where the library or the job's own trials know both (findMeasuredTimes); 0: not
  // known.
  double measured_seconds = 0;      // by what serves it
  double measured_mpi_seconds = 0;  // by MPI's own

  /// Whether it is the row of what found no row of its own.
  bool isRest() const { return function.empty(); }
  bool operator==(const CallRow&) const = default;
};

inline constexpr bool kInSums = true;
template <>
inline constexpr auto kFields<CallRow> = std::tuple(
    Field{&CallRow::service, "served", kKey, kInSums},  // and "missing"
    Field{&CallRow::function, "function", kKey, kInSums},
    Field{&CallRow::communicator, "communicator", kKey, kInSums},
    Field{&CallRow::datatype, "datatype", kKey}, Field{&CallRow::operation, "operation", kKey},
    Field{&CallRow::by, "by", kKey, kInSums}, Field{&CallRow::size_class, nullptr, kKey},
    Field{&CallRow::ranks, "ranks", kSum}, Field{&CallRow::calls, "calls", kSum, kInSums},
    Field{&CallRow::bytes, "bytes", kSum, kInSums},
    Field{&CallRow::least_bytes, "least_bytes", kLeast, kInSums},
    Field{&CallRow::most_bytes, "most_bytes", kMost, kInSums},
    Field{&CallRow::seconds, "total_s", kSum, kInSums},
    Field{&CallRow::least_seconds, "least_s", kLeast},
    Field{&CallRow::most_seconds, "most_s", kMost},
    Field{&CallRow::measured_seconds, "measured_s", kLater},
    Field{&CallRow::measured_mpi_seconds, "measured_mpi_s", kLater});

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

template <>
inline constexpr auto kFields<CommunicatorRow> = std::tuple(
    Field{&CommunicatorRow::description, "communicator", kKey},
    Field{&CommunicatorRow::reason, "reason", kKey}, Field{&CommunicatorRow::used, "used", kSum},
    Field{&CommunicatorRow::served, "served_calls", kSum},
    Field{&CommunicatorRow::handed, "mpi_calls", kSum},
    Field{&CommunicatorRow::seconds, "total_s", kSum});

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

/// Nothing merges two of them.
template <>
inline constexpr auto kFields<TunedRow> = std::tuple(
    Field{&TunedRow::function, "function"}, Field{&TunedRow::communicator, "communicator"},
    Field{&TunedRow::by, "by"}, Field{&TunedRow::bytes, "call_bytes"},
    Field{&TunedRow::calls, "calls"}, Field{&TunedRow::seconds, "fastest_s"},
    Field{&TunedRow::own_seconds, "library_s"}, Field{&TunedRow::mpi_seconds, "mpi_s"});

/// Numbers of one rank, which runtime/pmpi/job/job_report.cc finds and docs/users/settings.md
/// explains; or of all ranks.
struct RankFacts {
  std::uint64_t schedules = 0;       // loaded, at the end
  std::uint64_t schedule_bytes = 0;  // of them
  std::uint64_t memory_limit = 0;    // for them
  std::uint64_t calls_found = 0;     // that were laid out already
  std::uint64_t plans_made = 0;
  std::uint64_t call_bytes = 0;     // of persistent plans, at the end
  std::uint64_t cache_limit = 0;    // for them
  std::uint64_t put_bytes = 0;      // of messages that it has sent: into shared memory
  std::uint64_t mpi_bytes = 0;      // and by MPI
  std::uint64_t segment_bytes = 0;  // of its host's memory that has been written
  std::uint64_t segments = 0;       // of this memory, which it is the first rank of, at the end
  double setup_seconds = 0;         // MPI_Init's and communicators'
  double load_seconds = 0;          // schedules'

  bool operator==(const RankFacts&) const = default;
};

using enum Unit;
template <>
inline constexpr auto kFields<RankFacts> = std::tuple(
    Fact{&RankFacts::schedules, "schedules", kMost, "schedules", kCount, " loaded, "},
    Fact{&RankFacts::schedule_bytes, "schedule_bytes", kMost, "", kBytes, " bytes of at most "},
    Fact{&RankFacts::memory_limit, nullptr, kMost, "", kBytes, " (most on a rank)"},
    Fact{&RankFacts::calls_found, "plans_found", kSum, "persistent plans", kCount, " found, "},
    Fact{&RankFacts::plans_made, "plans_made", kSum, "", kCount, " made (all ranks); "},
    Fact{&RankFacts::call_bytes, "plan_bytes", kMost, "", kBytes, " bytes of at most "},
    Fact{&RankFacts::cache_limit, nullptr, kMost, "", kBytes, " (most on a rank)"},
    Fact{&RankFacts::put_bytes, "put_bytes", kSum, "messages", kBytes, " bytes by puts, "},
    Fact{&RankFacts::mpi_bytes, "mpi_bytes", kSum, "", kBytes, " by MPI (all ranks)"},
    Fact{&RankFacts::segment_bytes, "segment_bytes", kSum, "shared memory", kBytes, " bytes in "},
    Fact{&RankFacts::segments, nullptr, kSum, "", kCount, " segments (all hosts)"},
    Fact{&RankFacts::setup_seconds, "setup_s", kMost, "torc's set-up", kSeconds,
         " ms (most on a rank)"},
    Fact{&RankFacts::load_seconds, "load_s", kMost, "loading", kSeconds, " ms (most on a rank)"});

/// The same of calls that are alike.
std::string keyOf(const CallRow& row);

/// An order of rows of calls: those of the most time first, of equal times by signature, so that it
/// is the same in every run.
bool isAhead(const CallRow& a, const CallRow& b);

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
  RankFacts facts;

  /// Adds those of other ranks. Beyond twice the most rows of a rank, those of the least time are
  /// counted together.
  void merge(const JobStatistics& others);
  /// Makes the rows of calls at most `limit` and three: those beyond, of the least time, are
  /// counted in a row per service.
  void fold(std::size_t limit);

  std::string bytes() const;
  /// kMalformed: torn.
  static StatusOr<JobStatistics> fromBytes(std::string_view bytes);

  bool operator==(const JobStatistics&) const = default;
};

template <>
inline constexpr auto kFields<JobStatistics> = std::tuple(
    Field{&JobStatistics::ranks, "ranks", kSum}, Field{&JobStatistics::trials, nullptr, kSum},
    Field{&JobStatistics::ended, nullptr, kSum});

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_ROWS_H_
