// The statistics of a job as a line of JSON, which sites add up (`torc stats`), written so that
// many concurrent jobs may share a file.
#ifndef TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_LINES_H_
#define TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_LINES_H_

#include <charconv>
#include <iterator>
#include <string>
#include <type_traits>

#include "runtime/pmpi/statistics/statistics.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

/// Sets the measured times of the served rows: from TORC_TUNE in this job, otherwise from a tuned
/// library, at the nearest size within a factor of two. Only for blocking calls, as only these are
/// measured.
void findMeasuredTimes(JobStatistics& statistics, const LibraryIndex& index);

/// Sets the wait for late ranks of blocking calls in which all ranks wait for each other, where the
/// communicators of a row have the same members.
void findLateRanks(JobStatistics& statistics);

/// A number, independent of the program's locale; nine digits if it has a fraction.
template <typename Number>
std::string numberText(Number value) {
  char digits[32];
  if constexpr (std::is_floating_point_v<Number>) {
    return {digits,
            std::to_chars(digits, std::end(digits), value, std::chars_format::general, 9).ptr};
  } else {
    return {digits, std::to_chars(digits, std::end(digits), value).ptr};
  }
}

/// One line, with its newline.
std::string statisticsJson(const JobDescription& job, const JobStatistics& statistics);

/// Appends by one write, without truncating concurrent lines of others. On a full disk a partial
/// line is undone. An error is one line: `TORC_STATS: cannot write FILE: No space left on device`.
Status appendLine(const std::string& line, const std::string& file);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_LINES_H_
