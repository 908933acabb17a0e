// What torc says on stderr: each a line, `torc: warning: ...`, written at once so that those of
// several ranks do not mix.
#ifndef TORC_RUNTIME_PMPI_STATISTICS_STDERR_LINES_H_
#define TORC_RUNTIME_PMPI_STATISTICS_STDERR_LINES_H_

#include <new>
#include <string>
#include <string_view>

#include "settings/settings.h"
#include "support/message.h"

namespace torc::runtime::pmpi {

/// Who speaks, and how much is said. Before it only warnings and hints are told, without a rank.
void configureReport(Verbosity verbosity, int world_rank);

/// Whether lines of this kind are told.
bool tells(Verbosity kind);

/// A warning, once per process and key: `torc: warning: rank 3: ...`. After kMostWarnings keys none
/// is told any more.
void warnOnce(std::string_view key, const std::string& text);

/// The same of what all ranks of a communicator know alike: told by the one whose rank in it is 0,
/// without its rank: `torc: warning: ...`.
void warnOnce(int communicator_rank, std::string_view key, const std::string& text);

/// An error, which always is told: `torc: error: rank 3: ...`. Without memory less is told.
void complain(const std::string& text) noexcept;

/// A message of an error, for where memory may have run out.
template <typename... Words>
std::string words(const Words&... all) noexcept {
  try {
    return message(all...);
  } catch (const std::bad_alloc&) {
    return "out of memory";  // fits a string's own buffer
  }
}

/// Before the job is aborted: gives the launcher, which drops what it has not read by then, a tenth
/// of a second to pass on what was told.
void letLauncherRead();

/// The last error of a job, which ends with it.
[[noreturn]] void complainAndAbort(const std::string& text);

/// A hint, or a line on what was set up or decided: `torc: ...`. Told by rank 0 of the
/// communicator, where the verbosity includes `kind`.
void say(Verbosity kind, int communicator_rank, const std::string& text);

/// A line that was asked for, with the rank that tells it: `torc: rank 3: ...`.
void say(const std::string& text);

inline constexpr int kMostWarnings = 1000;

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_STATISTICS_STDERR_LINES_H_
