// Rows of statistics, of one rank or of many: calls, communicators, and facts of the ranks. Plain
// data, whose fields are listed once (kFields): the code that merges, sends and prints them visits
// these.
#ifndef TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_ROWS_H_
#define TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "support/status.h"

namespace torc::runtime::pmpi {

/// How the values of merged rows are combined.
enum class Merge : std::uint8_t {
  kKey,  // part of the key of a row
  kSum,
  kLeast,
  kMost,
  kOfLeast,  // that of the row with the lesser value of the kLeast field before it
  kLater,    // computed after merging: neither merged nor sent, and printed only above 0
};

using enum Merge;

/// A member of a row.
template <typename Row, typename Value>
struct Field {
  Value Row::*member;
  const char* key;  // in JSON, docs/schemas/statistics.schema.json; nullptr: absent
  Merge merge = kKey;
  bool in_sums = false;  // of jobs: `torc stats` uses it as key, or adds it up
};

template <typename Row, typename Value>
Field(Value Row::*, const char*, Merge = kKey, bool = false) -> Field<Row, Value>;

/// Format of a number in the table.
enum class Unit : std::uint8_t { kCount, kBytes, kSeconds };

/// A number of a rank: a member of RankFacts.
template <typename Row, typename Value>
struct Fact {
  Value Row::*member;
  const char* key;  // as in Field
  Merge merge;
  const char* line;  // beginning of a line of the table; empty: continues the line before
  Unit unit;
  const char* text;  // after the number
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

/// Combines with the values of `from`, by each field's rule; sums saturate.
template <typename Row>
void add(const Row& from, Row& into) {
  bool is_less = false;
  forFields(into, [&]<typename Value>(const auto& field, Value& value) {
    if constexpr (std::is_arithmetic_v<Value>) {
      const Value other = from.*field.member;
      if (field.merge == kSum) {
        constexpr Value kTop = std::numeric_limits<Value>::max();
        value = value > kTop - other ? kTop : value + other;
      }
      if (field.merge == kLeast) {
        is_less = other < value;
        value = std::min(value, other);
      }
      if (field.merge == kOfLeast && is_less) value = other;
      if (field.merge == kMost) value = std::max(value, other);
    }
  });
}

/// Outcome of a call.
enum class Service : std::uint8_t {
  kServed,          // by torc
  kNotTorcs,        // fell back to MPI, as torc does not serve such calls
  kShouldBeServed,  // fell back to MPI; an error under TORC_STRICT
};

/// Calls with the same signature.
struct CallRow {
  Service service = Service::kServed;
  std::string function;         // "MPI_Iallreduce"
  std::string communicator;     // "4x2 sub-torus of 4x4x2", "6 ranks"
  std::string datatype;         // "MPI_DOUBLE"; "derived"; empty: none
  std::string operation;        // "MPI_SUM"; "user's"; empty: none
  std::string by;               // the schedule file, or the reason of the fallback
  std::uint8_t size_class = 0;  // bit width of the bytes of a call

  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  // of all calls
  std::uint64_t least_bytes = std::numeric_limits<std::uint64_t>::max(), most_bytes = 0;
  double seconds = 0;  // of all calls
  double least_seconds = std::numeric_limits<double>::max(), most_seconds = 0;
  std::uint64_t ranks = 0;  // number of ranks with such calls

  // The rank of MPI_COMM_WORLD with the least mean time of a call. Where all ranks of a blocking
  // call wait for each other, it is the late one.
  double least_mean_seconds = std::numeric_limits<double>::max();
  std::uint64_t late_rank = 0;
  double late_seconds = 0;  // of all calls beyond that mean: the wait for late ranks at least
                            // (findLateRanks); 0: unknown

  // Seconds of a call, if the library or the job's own trials know both (findMeasuredTimes); 0:
  // unknown.
  double measured_seconds = 0;      // by the schedule in use
  double measured_mpi_seconds = 0;  // by MPI

  /// Whether this row counts the calls beyond the limit of rows.
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
    Field{&CallRow::least_mean_seconds, "least_mean_s", kLeast},
    Field{&CallRow::late_rank, "late_rank", kOfLeast},
    Field{&CallRow::late_seconds, "late_s", kLater},
    Field{&CallRow::measured_seconds, "measured_s", kLater},
    Field{&CallRow::measured_mpi_seconds, "measured_mpi_s", kLater});

/// Communicators with the same description and reason, with their calls. A row of calls may belong
/// to several of these, since its key has the description alone.
struct CommunicatorRow {
  std::string description;  // as in CallRow
  std::string reason;       // why torc serves no call on them; empty: it serves them
  std::uint64_t used = 0;   // number of communicators on which the program made collective calls

  std::uint64_t served = 0;   // calls served by torc
  std::uint64_t handed = 0;   // calls that fell back to MPI
  double seconds = 0;         // of all these calls
  std::uint64_t members = 0;  // sum of the sizes of the used communicators

  bool operator==(const CommunicatorRow&) const = default;
};

template <>
inline constexpr auto kFields<CommunicatorRow> = std::tuple(
    Field{&CommunicatorRow::description, "communicator", kKey},
    Field{&CommunicatorRow::reason, "reason", kKey}, Field{&CommunicatorRow::used, "used", kSum},
    Field{&CommunicatorRow::served, "served_calls", kSum},
    Field{&CommunicatorRow::handed, "mpi_calls", kSum},
    Field{&CommunicatorRow::seconds, "total_s", kSum},
    Field{&CommunicatorRow::members, "members", kSum});

/// A signature with a winner of TORC_TUNE, on one communicator.
struct TunedRow {
  std::string function;      // "MPI_Allreduce"
  std::string communicator;  // as in CallRow
  std::string by;            // the winner: a file, or "MPI's own"
  std::uint64_t bytes = 0;   // of a call
  std::uint64_t calls = 0;   // on trial, on each rank
  double seconds = 0;        // of a call with the winner, on the slowest rank
  double own_seconds = 0;    // likewise, with the library's choice
  double mpi_seconds = 0;    // likewise, with MPI

  bool operator==(const TunedRow&) const = default;
};

/// Rows of trials are not merged.
template <>
inline constexpr auto kFields<TunedRow> = std::tuple(
    Field{&TunedRow::function, "function"}, Field{&TunedRow::communicator, "communicator"},
    Field{&TunedRow::by, "by"}, Field{&TunedRow::bytes, "call_bytes"},
    Field{&TunedRow::calls, "calls"}, Field{&TunedRow::seconds, "fastest_s"},
    Field{&TunedRow::own_seconds, "library_s"}, Field{&TunedRow::mpi_seconds, "mpi_s"});

/// Numbers of one rank, found by runtime/pmpi/job/job_report.cc and explained in
/// docs/users/settings.md; or of all ranks.
struct RankFacts {
  std::uint64_t schedules = 0;       // loaded, at the end
  std::uint64_t schedule_bytes = 0;  // of them
  std::uint64_t memory_limit = 0;    // for them
  std::uint64_t calls_found = 0;     // with a persistent plan ready
  std::uint64_t plans_made = 0;
  std::uint64_t call_bytes = 0;     // of persistent plans, at the end
  std::uint64_t cache_limit = 0;    // for them
  std::uint64_t put_bytes = 0;      // of messages sent through shared memory
  std::uint64_t mpi_bytes = 0;      // of messages sent by MPI
  std::uint64_t segment_bytes = 0;  // of its host's shared memory that has been written
  std::uint64_t segments = 0;       // of host segments whose first rank it is, at the end
  double setup_seconds = 0;         // of MPI_Init and communicators
  double load_seconds = 0;          // of schedules

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

/// The same for calls with the same signature.
std::string keyOf(const CallRow& row);

/// Seconds of waiting for each late rank.
struct LateWaits : std::map<std::uint64_t, double> {
  void add(const CallRow& row) {
    if (row.late_seconds > 0) (*this)[row.late_rank] += row.late_seconds;
  }
  void add(const LateWaits& others);
  double seconds() const;
  /// The rank with the longest wait for it. Precondition: not empty.
  std::uint64_t latest() const;
  /// "ranks waited at least 2.81 s for late ranks, 95.1 % of the calls' time, most of it for rank
  /// 3". Precondition: not empty.
  std::string text(double seconds_of_calls) const;
};

/// An order of rows of calls: first by time, descending, then by signature, so that it is the same
/// in every run.
bool isAhead(const CallRow& a, const CallRow& b);

/// Maximal number of rows of one rank; further signatures are counted together.
inline constexpr std::size_t kMostCallRows = 1000;
inline constexpr std::size_t kMostCommunicatorRows = 200;
inline constexpr std::size_t kMostTunedRows = 1000;

/// The statistics of one rank, or of several together.
struct JobStatistics {
  std::uint64_t ranks = 1;
  std::vector<CallRow> calls;  // one row per signature
  std::vector<CommunicatorRow> communicators;
  std::vector<TunedRow> tuned;  // at most kMostTunedRows
  std::uint64_t trials = 0;     // of signatures that were begun, on all communicators
  std::uint64_t ended = 0;      // of these; equals the number of rows, except for those beyond the
                                // limit
  RankFacts facts;

  /// Adds those of other ranks. Beyond twice the limit of a rank, the rows with the least time are
  /// counted together.
  void merge(const JobStatistics& others);
  /// Reduces the rows of calls to at most `limit` plus three: those beyond, with the least time,
  /// are counted in a row per service.
  void fold(std::size_t limit);

  std::string bytes() const;
  /// kMalformed: incomplete bytes.
  static StatusOr<JobStatistics> fromBytes(std::string_view bytes);

  bool operator==(const JobStatistics&) const = default;
};

template <>
inline constexpr auto kFields<JobStatistics> = std::tuple(
    Field{&JobStatistics::ranks, "ranks", kSum}, Field{&JobStatistics::trials, nullptr, kSum},
    Field{&JobStatistics::ended, nullptr, kSum});

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_ROWS_H_
