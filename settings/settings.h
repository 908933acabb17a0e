// Settings: the environment variables TORC_... with which a user says what the runtime shall do in
// a job. One table has all there is to know of each; the runtime reads them by it, `torc info` and
// the C API print it.
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

/// What is told on stderr, each besides those before. Errors and warnings always are.
enum class Verbosity : std::uint8_t {
  kWarnings,       // TORC_VERBOSE=0
  kHints,          // not set: what probably is not meant
  kSetUp,          // 1: what was set up when the job started
  kCommunicators,  // 2: what was decided for every communicator
  kCalls,          // 3: and for each new kind of call
};

/// Progress of nonblocking calls.
enum class ProgressMode : std::uint8_t {
  kCalls,   // in the program's MPI calls
  kWait,    // also by a thread of torc's while the program waits inside MPI
  kThread,  // also by this thread while the program computes
};

/// Transport of messages.
enum class TransportChoice : std::uint8_t {
  kAuto,  // by puts between ranks that can share memory
  kMpi,
  kPut,  // prints the reason where puts are impossible
};

/// Of a number of bytes.
inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

/// The variables' values, or their defaults.
struct Settings {
  // Alike on all ranks.
  std::string library;  // folder; empty: torc serves nothing
  std::string torus;    // of the partition, as parseTopology reads it; empty: the library says
  std::string order;    // of the ranks on it; empty: the library says
  std::string mapping;  // file, in place of an order; empty: none
  std::string machine;  // that the library must be for; empty: any
  bool disable = false;
  int strict = 0;                                    // 0, 1 or 2
  std::array<bool, kCollectiveCount> collectives{};  // by Collective: whether to serve it
  std::uint64_t memory = 0;                          // bytes of schedules per rank
  std::uint64_t cache = 0;                           // bytes of persistent plans per rank
  std::uint64_t scratch = kNoLimit;                  // bytes of scratch of a call per rank
  ProgressMode progress = ProgressMode::kWait;
  TransportChoice transport = TransportChoice::kAuto;
  std::uint32_t cores = 1;    // of a rank, which reduce and copy; the caller's included
  bool cuts_vectors = false;  // of operations of the program on predefined datatypes
  bool tune = false;          // whether a program's first calls of a kind try what is fastest
  DedicatedRanks dedicated;   // which ranks do nothing but collectives
  OffloadLimits offloaded;    // which calls these get
  std::uint32_t stall = 0;    // seconds without progress after which a call is told of; 0: never

  // Rank 0's.
  Verbosity verbosity = Verbosity::kHints;
  StatisticsOutput statistics;
  std::string trace;               // file; empty: none
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
  std::string_view meaning;        // a sentence or two
  bool agreed;                     // must be the same on all ranks; otherwise rank 0's counts
};

/// All variables; an index into them stands for one below.
std::span<const SettingInfo> settingTable();
std::optional<std::size_t> findSetting(std::string_view name);

/// The variables of an environment whose names begin with TORC_, by name. One that is empty counts
/// as not set. Those of earlier versions set the ones in their place, unless these are set.
class SettingTexts {
 public:
  SettingTexts() = default;
  /// From `NAME=value` strings up to a null pointer, such as `environ`. A program that runs with
  /// more rights than its user (AT_SECURE, as by set-user-id) has none: they name files, and torc
  /// would write there with the program's rights.
  explicit SettingTexts(const char* const* environment);

  void set(std::string_view name, std::string_view value);
  /// Empty: not set.
  std::string_view find(std::string_view name) const;
  /// The value, or else the default, of a variable of the table.
  std::string_view effective(std::size_t setting) const;
  std::span<const std::pair<std::string, std::string>> all() const { return texts_; }

 private:
  std::vector<std::pair<std::string, std::string>> texts_;
};

/// Whether the variable could have this value; what is wrong and what is allowed if not, or an
/// empty text: `TORC_CORES is '0'; allowed: a number from 1 to 1024`.
std::string checkSetting(std::size_t setting, std::string_view value);

/// What came of reading the variables; every line is one fault.
struct SettingsReading {
  Settings settings;
  std::vector<std::string> errors;    // torc cannot be used: wrong values, contradictions
  std::vector<std::string> warnings;  // unknown variables, with the nearest that there is
  std::vector<std::string> hints;     // variables that have no effect without others
  std::vector<std::string> notes;     // variables of earlier versions: what they are now
};

/// With TORC_DISABLE=1 the others are not looked at.
SettingsReading readSettings(const SettingTexts& texts);

}  // namespace torc

#endif  // TORC_SETTINGS_SETTINGS_H_
