// Settings: the environment variables TORC_... that configure the runtime of a job. One table
// describes each of them; the runtime reads them by it, `torc info` and the C API print it.
#ifndef TORC_SETTINGS_SETTINGS_H_
#define TORC_SETTINGS_SETTINGS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedules/schedule.h"
#include "settings/dedicated_ranks.h"
#include "settings/statistics_output.h"

namespace torc {

/// Levels of output on stderr; each includes those before. Errors and warnings are always printed.
enum class Verbosity : std::uint8_t {
  kWarnings,       // TORC_VERBOSE=0
  kHints,          // not set: probable mistakes
  kSetUp,          // 1: the set-up at the start of the job
  kCommunicators,  // 2: the decisions for every communicator
  kCalls,          // 3: and for each new kind of call
};

/// The progress engine of torc's messages.
enum class ProgressMode : std::uint8_t {
  kCalls,   // every MPI call of the program
  kWait,    // also a thread of torc while the program waits inside MPI
  kThread,  // also this thread while the program computes
};

/// The transport of schedules' messages.
enum class TransportChoice : std::uint8_t {
  kAuto,  // puts between ranks that can share memory
  kMpi,
  kPut,  // a line reports why, if puts are impossible
};

/// Of a number of bytes.
inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

/// The variables' values, or their defaults.
struct Settings {
  // Equal on all ranks.
  std::string library;  // folder; empty: no calls are served
  std::string torus;    // of the partition, for parseTopology; empty: from the library
  std::string order;    // of the ranks on it; empty: from the library
  std::string mapping;  // file, instead of an order; empty: none
  std::string machine;  // required machine of the library; empty: any
  bool disable = false;
  int strict = 0;                                    // 0, 1 or 2
  std::array<bool, kCollectiveCount> collectives{};  // by Collective: whether to serve it
  std::uint64_t memory = 0;                          // bytes of schedules per rank
  std::uint64_t cache = 0;                           // bytes of persistent plans per rank
  std::uint64_t scratch = kNoLimit;                  // bytes of scratch of a call per rank
  ProgressMode progress = ProgressMode::kWait;
  TransportChoice transport = TransportChoice::kAuto;
  std::uint32_t cores = 1;    // of a rank, for reductions and copies; including the caller
  bool cuts_vectors = false;  // for the program's operations on predefined datatypes
  bool tune = false;          // autotuning of a program's first calls of a kind
  DedicatedRanks dedicated;   // ranks that only execute collectives
  OffloadLimits offloaded;    // calls for these ranks
  std::uint32_t stall = 0;    // seconds without progress after which a call is reported; 0: never

  // On rank 0 only.
  Verbosity verbosity = Verbosity::kHints;
  StatisticsOutput statistics;
  std::string trace;               // file, or calls:FILE; empty: none
  std::uint64_t trace_events = 0;  // per rank

  bool serves(Collective collective) const {
    return collectives[static_cast<std::size_t>(collective)];
  }
  bool operator==(const Settings&) const = default;
};

/// A row of the table.
struct SettingInfo {
  std::string_view name;           // "TORC_CORES"
  std::string_view values;         // "K"
  std::string_view default_value;  // "1"; empty: none
  std::string_view meaning;        // one or two sentences
  bool agreed;                     // equal on all ranks; otherwise rank 0's value applies
};

/// All variables; their indices are used below.
std::span<const SettingInfo> settingTable();
std::optional<std::size_t> findSetting(std::string_view name);

/// The variables of an environment whose names begin with TORC_, by name. An empty one counts as
/// not set. Variables of earlier versions set their replacements, unless these are set.
class SettingTexts {
 public:
  SettingTexts() = default;
  /// From `NAME=value` strings up to a null pointer, such as `environ`. In a program with more
  /// rights than its user (AT_SECURE, as by set-user-id) there are none: they name files, and torc
  /// would write there with the program's rights.
  explicit SettingTexts(const char* const* environment);

  void set(std::string_view name, std::string_view value);
  /// Empty: not set.
  std::string_view find(std::string_view name) const;
  /// The value of a variable of the table, or its default.
  std::string_view effective(std::size_t setting) const;
  std::span<const std::pair<std::string, std::string>> all() const { return texts_; }

 private:
  std::vector<std::pair<std::string, std::string>> texts_;
};

/// Checks a value of a variable; returns an empty text, or the fault and the allowed values:
/// `TORC_CORES is '0'; allowed: a number from 1 to 1024`.
std::string checkSetting(std::size_t setting, std::string_view value);

/// The result of reading the variables; every line is one fault.
struct SettingsReading {
  Settings settings;
  std::vector<std::string> errors;    // torc cannot be used: wrong values, contradictions
  std::vector<std::string> warnings;  // unknown variables, with the nearest known name
  std::vector<std::string> hints;     // variables without effect, as others are not set
  std::vector<std::string> notes;     // replacements of variables of earlier versions
};

/// With TORC_DISABLE=1 the others are not read.
SettingsReading readSettings(const SettingTexts& texts);

}  // namespace torc

#endif  // TORC_SETTINGS_SETTINGS_H_
