// The statistics of a job for programs: a line of JSON, which sites add up (`torc stats`); and how
// it is written, so that many jobs at once may share a file.
#ifndef TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_LINES_H_
#define TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_LINES_H_

#include <charconv>
#include <iterator>
#include <string>
#include <type_traits>

#include "runtime/pmpi/statistics/statistics.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

/// Sets the measured times of the rows that are served: those of TORC_TUNE in this job, else those
/// of a tuned library, at the nearest size within a factor of two. Of blocking calls only, which
/// are what is measured.
void findMeasuredTimes(JobStatistics& statistics, const LibraryIndex& index);

/// A number, whatever the program has made of the locale; nine digits of one with a fraction.
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

/// One line, with its end.
std::string statisticsJson(const JobDescription& job, const JobStatistics& statistics);

/// Appends by one write, without truncating what others append meanwhile. Where a disk is full in
/// the middle of it, what was written is taken back. A fault is one line: `TORC_STATS: cannot write
/// FILE: No space left on device`.
Status appendLine(const std::string& line, const std::string& file);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_STATISTICS_STATISTICS_LINES_H_
