// Settings: the table, and the checks of values.
#include "settings/settings.h"

#include <algorithm>
#include <iterator>
#include <sys/auxv.h>

#include "schedules/topology/topology.h"
#include "settings/retired.h"
#include "support/message.h"
#include "support/setting_values.h"

namespace torc {
namespace {

/// Sets the field of the settings. Returns an empty text or, for an invalid value, the allowed
/// ones.
using Read = std::string (*)(std::string_view value, Settings& settings);

/// Text without restrictions.
template <std::string Settings::*field>
std::string readText(std::string_view value, Settings& settings) {
  settings.*field = value;
  return {};
}

template <bool Settings::*field>
std::string readSwitch(std::string_view value, Settings& settings) {
  if (value != "0" && value != "1") return "0 or 1";
  settings.*field = value == "1";
  return {};
}

std::string readStrict(std::string_view value, Settings& settings) {
  if (value != "0" && value != "1" && value != "2") return "0, 1 or 2";
  settings.strict = value[0] - '0';
  return {};
}

template <std::uint64_t Settings::*field>
std::string readBytes(std::string_view value, Settings& settings) {
  const std::optional<std::uint64_t> bytes = parseBytes(value);
  if (!bytes) return "bytes, as 4096, 64K, 256M or 1G, up to 1024G";
  settings.*field = *bytes;
  return {};
}

template <auto Settings::*field, std::uint64_t highest, std::uint64_t lowest = 0>
std::string readNumber(std::string_view value, Settings& settings) {
  const std::optional<std::uint64_t> number = parseNumber(value, highest);
  if (!number || *number < lowest) return message("a number from ", lowest, " to ", highest);
  settings.*field = static_cast<std::remove_reference_t<decltype(settings.*field)>>(*number);
  return {};
}

constexpr std::string_view kStall = "stall", kTraceEvents = "trace_events";

/// Wrong limits of observers are ignored, and the others apply.
std::string readLimits(std::string_view value, Settings& settings) {
  constexpr std::pair<std::string_view, Read> kLimits[] = {
      {"memory", readBytes<&Settings::memory>},
      {"cache", readBytes<&Settings::cache>},
      {"scratch", readBytes<&Settings::scratch>},
      {kStall, readNumber<&Settings::stall, 1000000>},
      {kTraceEvents, readNumber<&Settings::trace_events, 1000000000>}};
  std::string observers_allowed;
  while (!value.empty()) {
    const std::string_view item = value.substr(0, value.find(','));
    value.remove_prefix(std::min(item.size() + 1, value.size()));
    const std::string_view name = item.substr(0, item.find('='));
    const auto* const limit =
        std::ranges::find(kLimits, name, [](auto& each) { return each.first; });
    if (limit == std::end(kLimits) || name == item) {
      return "memory=BYTES, cache=BYTES, scratch=BYTES, stall=SECONDS and trace_events=N, "
             "separated by commas";
    }
    const std::string allowed = limit->second(item.substr(name.size() + 1), settings);
    if (allowed.empty()) continue;
    if (name != kStall && name != kTraceEvents) return message(name, '=', allowed);
    observers_allowed = message(name, '=', allowed);
  }
  return observers_allowed;
}

std::string readTorus(std::string_view value, Settings& settings) {
  const StatusOr<Topology> topology = parseTopology(value);
  if (!topology.ok()) {
    return message("a shape as 8x8x8, 8x8x4m (m: mesh) or 4x4x4+2 (+: cores); ",
                   topology.status().message());
  }
  settings.torus = value;
  return {};
}

std::string readOrder(std::string_view value, Settings& settings) {
  const std::string names = std::string(kAxisNames) + kCoreAxisName;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (names.find(value[i]) == std::string::npos || value.find(value[i], i + 1) != value.npos) {
      return message("axes of ", names, ", each once, fastest first, as XYZT");
    }
  }
  settings.order = value;
  return {};
}

/// The names of the intercepted collectives.
std::string interceptedCollectives(std::string_view separator) {
  std::string joined;
  for (const CollectiveRow& row : collectiveRows()) {
    if (row.isIntercepted()) joined += message(joined.empty() ? "" : separator, row.name);
  }
  return joined;
}

std::string readCollectives(std::string_view value, Settings& settings) {
  settings.collectives.fill(false);
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    const std::optional<Collective> named = collectiveNamed(value.substr(begin, end - begin));
    if (!named || !rowOf(*named).isIntercepted()) {
      return "names separated by commas, of " + interceptedCollectives(", ");
    }
    settings.collectives[static_cast<std::size_t>(*named)] = true;
    begin = end + 1;
  }
  return {};
}

std::string readProgress(std::string_view value, Settings& settings) {
  if (value != "calls" && value != "wait" && value != "thread") return "calls, wait or thread";
  settings.progress = value == "calls"    ? ProgressMode::kCalls
                      : value == "thread" ? ProgressMode::kThread
                                          : ProgressMode::kWait;
  return {};
}

std::string readTransport(std::string_view value, Settings& settings) {
  if (value != "mpi" && value != "put") return "mpi or put";
  settings.transport = value == "mpi" ? TransportChoice::kMpi : TransportChoice::kPut;
  return {};
}

std::string readUserOperations(std::string_view value, Settings& settings) {
  if (value != "whole" && value != "parts") return "whole or parts";
  settings.cuts_vectors = value == "parts";
  return {};
}

std::string readDedicated(std::string_view value, Settings& settings) {
  const std::optional<DedicatedRanks> ranks = parseDedicatedRanks(value);
  if (!ranks) {
    return "a ratio as 1:8 (one rank for eight of the program), a number of ranks as =16, either "
           "with @nodes behind it (nodes of their own), or ranks as 3,7,12-15";
  }
  settings.dedicated = *ranks;
  return {};
}

std::string readOffloaded(std::string_view value, Settings& settings) {
  std::string allowed;
  const std::optional<OffloadLimits> limits = parseOffloadLimits(value, allowed);
  if (!limits) return allowed;
  settings.offloaded = *limits;
  return {};
}

std::string readVerbosity(std::string_view value, Settings& settings) {
  constexpr std::pair<std::string_view, Verbosity> kLevels[] = {{"0", Verbosity::kWarnings},
                                                                {"1", Verbosity::kSetUp},
                                                                {"2", Verbosity::kCommunicators},
                                                                {"3", Verbosity::kCalls},
                                                                {"explain", Verbosity::kCalls}};
  for (const auto& [name, level] : kLevels) {
    if (value != name) continue;
    settings.verbosity = level;
    return {};
  }
  return "0, 1, 2 or 3 (explain)";
}

std::string readStatistics(std::string_view value, Settings& settings) {
  std::string allowed;
  const std::optional<StatisticsOutput> output = parseStatisticsOutput(value, allowed);
  if (!output) return allowed;
  settings.statistics = *output;
  return {};
}

std::string readTrace(std::string_view value, Settings& settings) {
  const auto [form, file] = splitForm(value);
  if (file != value && (form != "calls" || file.empty()))
    return "FILE or calls:FILE; ./ before a FILE with a colon";
  settings.trace = value;
  return {};
}

struct Row {
  SettingInfo info;
  std::string_view needs;  // the variable that this one requires
  Read read;
};

constexpr bool kAgreed = true, kOfRank0 = false;

constexpr Row kSettingRows[] = {
    {{"TORC_LIBRARY", "DIR", "",
      "Schedule library: a folder made by `torc library build`. Without it all calls fall back "
      "to MPI.",
      kAgreed},
     "",
     readText<&Settings::library>},
    {{"TORC_TORUS", "SHAPE", "",
      "Partition of the job, as 8x8x4m+4. Default: the library's only one with as many nodes "
      "as the job has ranks.",
      kAgreed},
     "TORC_LIBRARY",
     readTorus},
    {{"TORC_ORDER", "AXES", "",
      "Order of ranks on the partition: axes from fastest to slowest, as XYZT. Default: that "
      "of the library.",
      kAgreed},
     "TORC_LIBRARY",
     readOrder},
    {{"TORC_MAPPING", "FILE", "",
      "Positions of ranks on the partition: a file with a line of coordinates per rank. "
      "Excludes TORC_ORDER.",
      kAgreed},
     "TORC_LIBRARY",
     readText<&Settings::mapping>},
    {{"TORC_MACHINE", "NAME", "", "Machine that the library must be built for. Default: any.",
      kAgreed},
     "TORC_LIBRARY",
     readText<&Settings::machine>},
    {{"TORC_DISABLE", "0|1", "0",
      "1: switch torc off, without output; other variables are ignored.", kAgreed},
     "",
     readSwitch<&Settings::disable>},
    {{"TORC_STRICT", "0|1|2", "0",
      "1: a call that another library could serve is an error instead of a fallback to MPI; so "
      "is an unusable library. 2: so is a call that no library can serve.",
      kAgreed},
     "TORC_LIBRARY",
     readStrict},
    {{"TORC_COLLECTIVES", "LIST", "", "Serve only these, separated by commas.", kAgreed},
     "TORC_LIBRARY",
     readCollectives},
    {{"TORC_LIMITS", "NAME=N,...", "memory=256M,cache=64M,stall=30,trace_events=100000",
      "Limits of each rank; limits that are not named keep their defaults. memory: bytes of "
      "schedules; unused ones are dropped. cache: bytes of cached calls. scratch: bytes of "
      "scratch memory of a call, which falls back to MPI if it needs more (default: no limit). "
      "stall: seconds without progress until a waiting rank prints a line; 0: never. "
      "trace_events: events in the trace; the oldest are dropped and counted.",
      kAgreed},
     "TORC_LIBRARY",
     readLimits},
    {{"TORC_PROGRESS", "calls|wait|thread", "wait",
      "Progress of nonblocking calls. calls: in MPI calls of the program. wait: also by a "
      "thread while a rank waits inside MPICH, which is then initialised with "
      "MPI_THREAD_MULTIPLE. thread: also by this thread while the program computes.",
      kAgreed},
     "TORC_LIBRARY",
     readProgress},
    {{"TORC_TRANSPORT", "mpi|put", "",
      "Transport of messages. put: shared memory within a host, MPI between hosts. mpi: MPI "
      "only. Default: put where ranks can share memory, else mpi.",
      kAgreed},
     "",
     readTransport},
    {{"TORC_CORES", "K", "1",
      "Cores of each rank for long reductions and copies: the calling thread and K-1 threads, "
      "which never call MPI. At most the cores that the rank may run on.",
      kAgreed},
     "",
     readNumber<&Settings::cores, 1024, 1>},
    {{"TORC_USER_OPERATIONS", "whole|parts", "whole",
      "Vectors of predefined datatypes in user-defined operations. whole: never cut, by "
      "schedules that allow it, or MPI. parts: cut at any element, as MPI's standard allows; "
      "faster for long vectors.",
      kAgreed},
     "TORC_LIBRARY",
     readUserOperations},
    {{"TORC_TUNE", "0|1", "0",
      "1: autotuning. The first blocking calls of each kind alternate between the library's "
      "schedules and MPI; the fastest serves later ones.",
      kAgreed},
     "TORC_LIBRARY",
     readSwitch<&Settings::tune>},
    {{"TORC_DEDICATED", "1:N|=N|LIST", "",
      "Dedicated ranks, which only complete collectives for the others: one for every N "
      "others, N in all, or the listed ranks. The program's MPI_COMM_WORLD has the other "
      "ranks.",
      kAgreed},
     "",
     readDedicated},
    {{"TORC_DEDICATED_OPERATIONS", "LIST",
      "allreduce:1K,iallreduce:16K,reduce:1K,ireduce:16K,bcast:1K,ibcast:16K,barrier,ibarrier,"
      "allgather:1K,iallgather:16K,reduce_scatter:1K,ireduce_scatter:16K,alltoall:1K,"
      "ialltoall:16K",
      "Calls served by dedicated ranks: names of MPI functions, each with the largest vector "
      "in bytes; with an i, the nonblocking and persistent forms.",
      kAgreed},
     "TORC_DEDICATED",
     readOffloaded},
    {{"TORC_VERBOSE", "0|1|2|3", "",
      "Lines on stderr. Default: warnings and hints. 0: warnings only; 1: also the set-up; 2: "
      "also each communicator; 3, or explain: also the schedule of each new kind of call, or "
      "its fallback, with the reason.",
      kOfRank0},
     "",
     readVerbosity},
    {{"TORC_STATS", "0|1|FILE|json:FILE", "0",
      "Statistics of all calls at the end of the job. 1: a table on stderr; FILE: into that "
      "file; json:FILE: append a line of JSON for `torc stats`. In file names %j is the job, "
      "%h the host.",
      kOfRank0},
     "",
     readStatistics},
    {{"TORC_TRACE", "FILE|calls:FILE", "",
      "Trace of every rank as Chrome trace JSON, for Perfetto and `torc trace`. calls:FILE: one "
      "event per call and rank, for long jobs.",
      kOfRank0},
     "TORC_LIBRARY",
     readTrace},
};

constexpr bool saysCollectives(const Row& row) {
  return row.read == readCollectives;
}

/// "allreduce,reduce_scatter,allgather": the default of TORC_COLLECTIVES.
const std::string& allCollectives() {
  // Never destroyed, like all static objects: a program may call MPI_Finalize during its exit.
  static const auto& names = *new std::string(interceptedCollectives(","));
  return names;
}

/// The meaning of TORC_COLLECTIVES, with collectives of other names in MPI: "... allgather includes
/// allgatherv."
const std::string& collectivesMeaning(std::string_view meaning) {
  static const auto& text = *new std::string([&] {
    std::string included;
    for (const CollectiveRow& row : collectiveRows()) {
      std::string other(row.mpi[1].substr(std::min(row.mpi[1].size(), sizeof("MPI_") - 1)));
      if (other.empty()) continue;
      for (char& letter : other)
        letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
      included += message(included.empty() ? " " : ", ", row.name, " includes ", other);
    }
    return message(meaning, included, included.empty() ? "" : ".");
  }());
  return text;
}

using Table = std::array<SettingInfo, std::size(kSettingRows)>;

const Table& table() {
  static const Table infos = [] {
    Table table;
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i] = kSettingRows[i].info;
      if (!saysCollectives(kSettingRows[i])) continue;
      table[i].default_value = allCollectives();
      table[i].meaning = collectivesMeaning(table[i].meaning);
    }
    return table;
  }();
  return infos;
}

/// Sets the value of a row; returns the fault, with variable and value, if it is invalid.
/// `observes`, unless null: whether the variable only observes.
std::string readRow(const Row& row, std::string_view value, Settings& settings,
                    bool* observes = nullptr) {
  const std::string allowed = row.read(value, settings);
  if (allowed.empty()) return {};
  if (observes != nullptr) {
    const std::string_view limit = std::string_view(allowed).substr(0, allowed.find('='));
    *observes =
        !row.info.agreed || (row.read == readLimits && (limit == kStall || limit == kTraceEvents));
  }
  return message(row.info.name, " is '", shown(value), "'; allowed: ", allowed);
}

/// Checks across values.
void checkTogether(const Settings& settings, std::vector<std::string>& errors) {
  if (!settings.mapping.empty() && !settings.order.empty()) {
    errors.push_back(message("TORC_MAPPING is '", shown(settings.mapping), "' and TORC_ORDER is '",
                             settings.order, "': both say where ranks lie; set one of them"));
  }
  if (settings.torus.empty() || settings.order.empty()) return;
  if (const StatusOr<Topology> topology = parseTopology(settings.torus, settings.order);
      !topology.ok()) {
    errors.push_back(message("TORC_TORUS is '", settings.torus, "' and TORC_ORDER is '",
                             settings.order, "': ", topology.status().message()));
  }
}

std::string unknownSetting(std::string_view name) {
  std::array<std::string_view, std::size(kSettingRows)> names;
  std::ranges::transform(table(), names.begin(), &SettingInfo::name);
  const std::string_view nearest = nearestName(name, names);
  if (nearest.empty()) {
    return message(shown(name), " is no variable of torc's (`torc info` lists them)");
  }
  return message(shown(name), " is no variable of torc's; is ", nearest, " meant?");
}

/// Reports a variable of an earlier version; `now` is the value of its replacement.
void tellOfNewForm(const std::string& given, const NewForm& form, std::string_view now,
                   SettingsReading& reading) {
  if (message(',', now, ',').find(message(',', form.value, ',')) == std::string::npos &&
      !form.value.empty()) {
    reading.hints.push_back(message(given, " has no effect: ", form.name, " is set"));
  } else {
    reading.notes.push_back(message(given, " is now ", form.name, '=', shown(form.value)));
  }
}

}  // namespace

std::span<const SettingInfo> settingTable() {
  return table();
}

std::optional<std::size_t> findSetting(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &SettingInfo::name);
  if (found == table().end()) return std::nullopt;
  return found - table().begin();
}

SettingTexts::SettingTexts(const char* const* environment) {
  if (::getauxval(AT_SECURE) != 0) return;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view text = *environment;
    const std::size_t equals = text.find('=');
    if (!text.starts_with("TORC_") || equals == text.npos) continue;
    texts_.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  // Where a name occurs twice, getenv finds the first.
  std::ranges::stable_sort(texts_, {}, &decltype(texts_)::value_type::first);
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  texts_.erase(std::unique(texts_.begin(), texts_.end(), same), texts_.end());
  std::erase_if(texts_, [](const auto& text) { return text.second.empty(); });

  const SettingTexts given = *this;
  for (const auto& [name, value] : given.texts_) {
    const NewForm form = newFormOf(name, value);
    if (form.name.empty() || !given.find(form.name).empty()) continue;
    const std::string_view before = find(form.name);
    set(form.name, before.empty() ? form.value : message(before, ',', form.value));
  }
}

void SettingTexts::set(std::string_view name, std::string_view value) {
  auto place = std::ranges::lower_bound(texts_, name, {}, &decltype(texts_)::value_type::first);
  const bool found = place != texts_.end() && place->first == name;
  if (value.empty()) {
    if (found) texts_.erase(place);
  } else if (found) {
    place->second = value;
  } else {
    texts_.emplace(place, name, value);
  }
}

std::string_view SettingTexts::find(std::string_view name) const {
  const auto place =
      std::ranges::lower_bound(texts_, name, {}, &decltype(texts_)::value_type::first);
  if (place == texts_.end() || place->first != name) return {};
  return place->second;
}

std::string_view SettingTexts::effective(std::size_t setting) const {
  const std::string_view value = find(kSettingRows[setting].info.name);
  return value.empty() ? table()[setting].default_value : value;
}

std::string checkSetting(std::size_t setting, std::string_view value) {
  if (value.empty()) return {};
  const Row& row = kSettingRows[setting];
  std::string fault = retiredWarning(row.info.name, value);
  Settings settings;
  return fault.empty() ? readRow(row, value, settings) : fault;
}

SettingsReading readSettings(const SettingTexts& texts) {
  SettingsReading reading;
  // Defaults are written in a user's notation.
  for (std::size_t i = 0; i < std::size(kSettingRows); ++i) {
    const std::string_view value = table()[i].default_value;
    if (!value.empty()) kSettingRows[i].read(value, reading.settings);
  }
  Settings& settings = reading.settings;
  const std::size_t disable = *findSetting("TORC_DISABLE");
  if (std::string fault = readRow(kSettingRows[disable], texts.effective(disable), settings);
      !fault.empty()) {
    reading.errors.push_back(std::move(fault));
  }
  if (settings.disable) return reading;

  for (const auto& [name, value] : texts.all()) {
    if (std::string warning = retiredWarning(name, value); !warning.empty()) {
      reading.warnings.push_back(std::move(warning));
      continue;
    }
    if (const NewForm form = newFormOf(name, value); !form.name.empty()) {
      tellOfNewForm(message(name, '=', shown(value)), form, texts.find(form.name), reading);
      continue;
    }
    const std::optional<std::size_t> row = findSetting(name);
    if (!row) {
      reading.warnings.push_back(unknownSetting(name));
      continue;
    }
    if (*row == disable) continue;
    Settings changed = settings;
    bool observes = false;
    std::string fault = readRow(kSettingRows[*row], value, changed, &observes);
    if (fault.empty() || observes) settings = std::move(changed);
    if (!fault.empty() && observes) {
      reading.warnings.push_back(fault + "; it is ignored");
    } else if (!fault.empty()) {
      reading.errors.push_back(std::move(fault));
    }
    const std::string_view needs = kSettingRows[*row].needs;
    // Under TORC_STRICT a job without possible dedicated ranks ends, too.
    const bool is_of_dedicated = name == "TORC_STRICT" && !texts.find("TORC_DEDICATED").empty();
    if (!needs.empty() && texts.find(needs).empty() && !is_of_dedicated) {
      reading.hints.push_back(message(name, " has no effect without ", needs));
    }
  }
  checkTogether(settings, reading.errors);
  return reading;
}

}  // namespace torc
