// Destination and form of a job's statistics: the values of TORC_STATS.
#ifndef TORC_SETTINGS_STATISTICS_OUTPUT_H_
#define TORC_SETTINGS_STATISTICS_OUTPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace torc {

/// Version of the JSON line: docs/schemas/statistics.schema.json.
inline constexpr int kStatisticsVersion = 1;

struct StatisticsOutput {
  enum class Form : std::uint8_t {
    kNone,
    kTable,  // for readers
    kJson,   // a line of JSON, appended
  };
  Form form = Form::kNone;
  std::string file;  // with placeholders; empty: stderr

  bool isWanted() const { return form != Form::kNone; }
  bool operator==(const StatisticsOutput&) const = default;
};

/// Reads `0`, `1`, `FILE`, `json` or `json:FILE`. std::nullopt: `allowed` describes the accepted
/// values.
std::optional<StatisticsOutput> parseStatisticsOutput(std::string_view value, std::string& allowed);

/// The number of this process's batch job, by SLURM_JOB_ID, PBS_JOBID or LSB_JOBID; without one,
/// `pid-` and the number of the process.
std::string batchJob();

/// The name of this host, up to the first point.
std::string hostName();

/// The file of a parsed output: `%j` is the job, `%h` the host, `%%` a percent sign. A slash in a
/// name becomes `_`.
std::string expandPlaceholders(std::string_view file, std::string_view job, std::string_view host);

}  // namespace torc

#endif  // TORC_SETTINGS_STATISTICS_OUTPUT_H_
