// Settings of a job: the agreement of its ranks on their environments.
#ifndef TORC_RUNTIME_PMPI_PROCESS_SETTINGS_AGREEMENT_H_
#define TORC_RUNTIME_PMPI_PROCESS_SETTINGS_AGREEMENT_H_

#include <array>
#include <string>

#include <mpi.h>

#include "settings/settings.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

/// The environment of this process.
struct OwnSettings {
  SettingTexts texts;
  SettingsReading reading;
  Status status;  // not ok: no memory; the settings above are defaults, and torc is off
};

OwnSettings readOwnSettings(const char* const* environment) noexcept;

/// The same on all ranks.
struct AgreedSettings : SettingsReading {  // of rank 0's environment
  /// Why torc cannot be used: wrong values, contradictions, variables that differ between ranks, a
  /// rank without memory for them. Empty: no fault.
  std::string fault;
  bool strict = false;                 // a rank has TORC_STRICT=1: a fault ends the job
  std::array<bool, 2> any_flags = {};  // a rank has passed it among its `flags`
};

/// Collective over `comm`, with blocking PMPI_ calls. One reduction of 64 bytes if environments are
/// alike; otherwise rank 0's is broadcast. Variables that must be equal are compared with rank 0's:
/// `TORC_LIBRARY is '/opt/a' on rank 0 and not set on rank 5`; so is the version of torc. The other
/// variables take rank 0's values.
AgreedSettings agreeSettings(const OwnSettings& own, MPI_Comm comm,
                             const std::array<bool, 2>& flags = {});

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_SETTINGS_AGREEMENT_H_
