// Settings of a job: what its ranks' environments say, made one.
#ifndef TORC_RUNTIME_PMPI_PROCESS_SETTINGS_AGREEMENT_H_
#define TORC_RUNTIME_PMPI_PROCESS_SETTINGS_AGREEMENT_H_

#include <array>
#include <string>
#include <vector>

#include <mpi.h>

#include "settings/settings.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

/// What the environment of this process says.
struct OwnSettings {
  SettingTexts texts;
  SettingsReading reading;
  Status status;  // not ok: no memory; by the settings above, which are not those, torc is off
};

OwnSettings readOwnSettings(const char* const* environment) noexcept;

/// The same on all ranks.
struct AgreedSettings {
  Settings settings;
  /// Why torc cannot be used: wrong values, contradictions, variables that differ between ranks, a
  /// rank without memory for them. Empty: it can.
  std::string fault;
  bool strict = false;                 // a rank has TORC_STRICT=1: a fault ends the job
  std::array<bool, 2> any_flags = {};  // a rank has passed it among its `flags`
  std::vector<std::string> warnings, hints, notes;  // of rank 0's environment
};

/// Collective over `comm`, with blocking PMPI_ calls. One reduction of 64 bytes where environments
/// are alike; rank 0's is broadcast where not. Variables that must agree are compared with rank
/// 0's: `TORC_LIBRARY is '/opt/a' on rank 0 and not set on rank 5`; so is the version of torc. Of
/// the others rank 0's values count.
AgreedSettings agreeSettings(const OwnSettings& own, MPI_Comm comm,
                             const std::array<bool, 2>& flags = {});

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_SETTINGS_AGREEMENT_H_
