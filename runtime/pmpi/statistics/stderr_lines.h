// Lines of torc on stderr: each is a line `torc: warning: ...`, in one write so that the lines of
// several ranks do not mix.
#ifndef TORC_RUNTIME_PMPI_STATISTICS_STDERR_LINES_H_
#define TORC_RUNTIME_PMPI_STATISTICS_STDERR_LINES_H_

#include <new>
#include <string>
#include <string_view>

#include "settings/settings.h"
#include "support/message.h"

namespace torc::runtime::pmpi {

/// Sets the rank and the verbosity. Before that only warnings and hints are printed, without a
/// rank.
void configureReport(Verbosity verbosity, int world_rank);

/// Whether lines of this kind are printed.
bool tells(Verbosity kind);

/// A warning, once per process and key: `torc: warning: rank 3: ...`. After kMostWarnings keys no
/// more warnings are printed.
void warnOnce(std::string_view key, const std::string& text);

/// The same for a fact that all ranks of a communicator know alike: its rank 0 prints it, without a
/// rank: `torc: warning: ...`.
void warnOnce(int communicator_rank, std::string_view key, const std::string& text);

/// An error, always printed: `torc: error: rank 3: ...`. Without memory the text is shortened.
void complain(const std::string& text) noexcept;

/// The text of an error, for callers that may have run out of memory.
template <typename... Words>
std::string words(const Words&... all) noexcept {
  try {
    return message(all...);
  } catch (const std::bad_alloc&) {
    return "out of memory";  // fits a string's own buffer
  }
}

/// Before the job is aborted: waits a tenth of a second, so that the launcher, which drops unread
/// output, can pass the lines on.
void letLauncherRead();

/// Reports the last error of a job, and aborts.
[[noreturn]] void complainAndAbort(const std::string& text);

/// A hint, or a line about set-up or decisions: `torc: ...`. Printed by rank 0 of the communicator,
/// if the verbosity includes `kind`.
void say(Verbosity kind, int communicator_rank, const std::string& text);

/// A requested line, with the rank of this process: `torc: rank 3: ...`.
void say(const std::string& text);

inline constexpr int kMostWarnings = 1000;

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_STATISTICS_STDERR_LINES_H_
