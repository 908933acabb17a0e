// Parses torc-run's options, and prints its help.
#include "runtime/run/torc_run_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "settings/dedicated_ranks.h"
#include "support/message.h"
#include "support/options.h"
#include "support/setting_values.h"
#include "support/version.h"

namespace torc::runtime {
namespace {

std::span<const RunType> runTypes() {
  static const RunType kTypes[] = {
      {"float", MPI_FLOAT, 4, true},      {"double", MPI_DOUBLE, 8, true},
      {"int8", MPI_INT8_T, 1, false},     {"int16", MPI_INT16_T, 2, false},
      {"int32", MPI_INT32_T, 4, false},   {"int64", MPI_INT64_T, 8, false},
      {"uint8", MPI_UINT8_T, 1, false},   {"uint16", MPI_UINT16_T, 2, false},
      {"uint32", MPI_UINT32_T, 4, false}, {"uint64", MPI_UINT64_T, 8, false},
  };
  return kTypes;
}

std::span<const RunOp> runOps() {
  static const RunOp kOps[] = {
      {"sum", MPI_SUM, true},    {"prod", MPI_PROD, true},  {"max", MPI_MAX, false},
      {"min", MPI_MIN, false},   {"land", MPI_LAND, false}, {"lor", MPI_LOR, false},
      {"lxor", MPI_LXOR, false}, {"band", MPI_BAND, false}, {"bor", MPI_BOR, false},
      {"bxor", MPI_BXOR, false},
  };
  return kOps;
}

Status usage(const std::string& message) {
  return Status(StatusCode::kInvalidArgument, message);
}

Status parseSize(std::string_view text, std::uint64_t& bytes) {
  const std::optional<std::uint64_t> size = parseBytes(text);
  if (!size) {
    return usage("--bytes: '" + std::string(text) +
                 "' is not a size; write 64K, 16M or 1G (at most 1024G)");
  }
  bytes = *size;
  return {};
}

/// "0,24,1K:64K": sizes and ranges.
Status parseSizes(std::string_view text, std::vector<RunOptions::Sizes>& sizes) {
  sizes.clear();
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = text.find(',');
    const std::string_view range = text.substr(0, comma);
    if (comma != std::string_view::npos) text.remove_prefix(comma + 1);
    const std::size_t colon = range.find(':');
    RunOptions::Sizes& parsed = sizes.emplace_back();
    Status status = parseSize(range.substr(0, colon), parsed.lowest);
    parsed.highest = parsed.lowest;
    if (status.ok() && colon != std::string_view::npos) {
      status = parseSize(range.substr(colon + 1), parsed.highest);
    }
    if (!status.ok()) return status;
    if (parsed.lowest > parsed.highest) {
      return usage("--bytes " + std::string(range) + ": the first size is the larger one");
    }
  }
  return {};
}

Status parseCollective(std::string_view text, std::optional<Collective>& collective) {
  collective = collectiveNamed(text);
  if (collective) return {};
  return usage("--collective " + std::string(text) + ": must be one of " + collectiveNames(", "));
}

Status parseCollectives(std::string_view text, std::vector<Collective>& collectives) {
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    const std::optional<Collective> collective = collectiveNamed(name);
    if (!collective) {
      return usage("--collectives " + std::string(name) + ": must be some of " +
                   collectiveNames(", ") + ", with commas between them");
    }
    if (std::ranges::find(collectives, *collective) == collectives.end()) {
      collectives.push_back(*collective);
    }
    text.remove_prefix(std::min(name.size() + 1, text.size()));
  }
  return {};
}

/// A number of seconds or minutes.
Status parseTime(const char* option, const char* text, double& time) {
  char* end = nullptr;
  time = std::strtod(text, &end);
  if (end == text || *end != '\0' || !std::isfinite(time) || time <= 0 || time > 3600) {
    return usage(std::string(option) + " " + std::string(text) +
                 ": must be above 0 and at most 3600");
  }
  return {};
}

/// "machines/cluster.json": cluster.
std::string stemOf(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // 0 without a slash
  if (path.size() > 5 && path.ends_with(".json")) path.remove_suffix(5);
  return std::string(path);
}

/// Checks the combination of options of --calibrate.
Status checkCalibration(RunOptions& options, bool has_minutes) {
  if (!options.tune.empty()) return usage("--calibrate and --tune: one after the other");
  if (!options.schedule.empty())
    return usage(options.schedule + ": --calibrate takes the file that it makes alone");
  if (!options.output.empty() || !options.collectives.empty()) {
    return usage("--output and --collectives go with --tune");
  }
  if (options.calibrate.empty()) return usage("--calibrate: where to? a new file, MACHINE.json");
  if (options.name.empty()) options.name = stemOf(options.calibrate);
  if (options.name.empty() || std::ranges::any_of(options.name, [](char c) {
        return static_cast<unsigned char>(c) < ' ';
      })) {
    return usage("--name: must be one line of text");
  }
  if (!has_minutes) options.minutes = 1;
  return {};
}

/// Checks the combination of options of --dedicated-sweep.
Status checkSweep(const RunOptions& options, bool calibrates) {
  if (calibrates || !options.tune.empty()) {
    return usage("--dedicated-sweep, --calibrate and --tune: one after the other");
  }
  if (!options.schedule.empty())
    return usage(options.schedule + ": --dedicated-sweep takes no file");
  for (const RunOptions::Sizes& sizes : options.sizes) {
    if (sizes.lowest >= sizeof(double) && sizes.highest <= kMostOffloadedBytes) continue;
    return usage("--bytes: --dedicated-sweep sums 8 bytes to " +
                 std::to_string(kMostOffloadedBytes >> 20) + "M");
  }
  return {};
}

/// Checks the combination of all options.
Status checkTogether(RunOptions& options, bool has_sizes) {
  if (!options.name.empty()) return usage("--name goes with --calibrate");
  if (options.tune.empty()) {
    if (!options.output.empty() || !options.collectives.empty()) {
      return usage("--output and --collectives go with --tune");
    }
    if (!options.torus.empty() || !options.order.empty() || !options.mapping.empty()) {
      return usage("--torus, --order and --mapping go with --tune and --calibrate");
    }
    if (options.schedule.empty())
      return usage("which schedule? torc-run FILE.torc; see torc-run --help");
    return {};
  }
  if (!options.schedule.empty()) return usage(options.schedule + ": --tune takes a library alone");
  if (options.output.empty()) return usage("--tune: where to? --output DIR, a new folder");
  if (!has_sizes) options.sizes = {{8, 4u << 20}};
  if (options.sizes.size() > 1) return usage("--sizes: --tune takes one range of them");
  if (options.sizes.front().lowest < options.type.bytes) {
    return usage("--bytes: the smallest size is less than an element");
  }
  return {};
}

using namespace options;

constexpr std::uint64_t kMost = 1'000'000'000;
constexpr std::string_view kReplay = "Replay: torc-run FILE.torc",
                           kTuning =
                               "Tuning: measure a library and MPI, write a copy of the fastest",
                           kCalibrating =
                               "Calibrating: measure links, cores and memory, write a machine",
                           kDedicated = "Dedicated ranks: measure sums at all ratios";

std::string collectiveWords() {
  return collectiveNames(" ", " ");
}

constexpr std::string_view kHelpEnd =
    "\nRun it by mpiexec.hydra -n RANKS torc-run. Times are of the slowest rank: median, least, "
    "most.\n"
    "Exit: 0 all right, 1 a wrong result or a fault in the input, 2 wrong usage.\n";

/// The command line: one row per option.
struct CommandLine {
  Command command{"torc-run", "replay a schedule on MPI ranks, one per node of its torus"};
  Text schedule{command, {kWhat, "[FILE.torc]", "FILE", "The schedule"}};
  Text collective{command,
                  {kReplay, "collective", "NAME", "Collective to call; default: the schedule's own",
                   "", collectiveWords}};
  Text bytes{command,
             {kReplay, "bytes,sizes", "SIZES",
              "Sizes of the whole vector, ranges double: 0,24,1K:64K", "4:1M"}};
  Word type{command,
            {kReplay, "type", "float|double|int8|int16|int32|int64|uint8|uint16|uint32|uint64",
             "Element type", "float"}};
  Word op{command,
          {kReplay, "op", "sum|prod|max|min|land|lor|lxor|band|bor|bxor", "Operation", "sum"}};
  Flag check{command,
             {kReplay, "check", "", "Compare results with MPI's, and all ranks bit by bit"}};
  Flag compare{command,
               {kReplay, "compare", "", "Time MPI's own collective in turns, print the ratio"}};
  Integer root{command, {kReplay, "root", "RANK", "Root of the collective", "0"}, 0, kMost};
  Flag in_place{command, {kReplay, "in-place", "", "MPI_IN_PLACE"}};
  Flag uneven{command, {kReplay, "uneven", "", "Blocks of different sizes"}};
  Integer iterations{command,
                     {kReplay, "iterations", "N", "Of each size; default: by --seconds, 3 to 1000"},
                     1,
                     kMost};
  Text seconds{command, {kReplay, "seconds", "S", "Of each size, for each of torc and MPI", "0.3"}};
  Integer warmup{
      command, {kReplay, "warmup", "N", "Most untimed iterations before", "2"}, 0, kMost};
  Text trace{command, {kReplay, "trace", "FILE", "Write a trace of all ranks, for Perfetto"}};
  Integer trace_events{
      command,
      {kReplay, "trace-events", "N", "Last events kept of each rank; default: 100000"},
      1,
      kMost};
  Text tune{command, {kTuning, "tune", "LIBRARY", "Library, best built with --candidates"}};
  Text output{command, {kTuning, "output,o", "DIR", "The copy, a new folder"}};
  Text collectives{command,
                   {kTuning, "collectives", "A,B", "Tune these alone", "", collectiveWords}};
  Text minutes{command,
               {kTuning, "minutes", "M", "Most minutes; of --calibrate about, default 1", "5"}};
  Text torus{command, {kTuning, "torus", "SHAPE", "As TORC_TORUS; of --calibrate default: a ring"}};
  Text order{command, {kTuning, "order", "AXES", "As TORC_ORDER"}};
  Text mapping{command, {kTuning, "mapping", "FILE", "As TORC_MAPPING"}};
  Text calibrate{command,
                 {kCalibrating, "calibrate", "FILE", "Description of the machine, a new file"}};
  Text name{command, {kCalibrating, "name", "NAME", "Name of the machine; default: the file's"}};
  Flag sweep{command,
             {kDedicated, "dedicated-sweep", "",
              "With --bytes, default 8, and --iterations, default 200"}};
};

}  // namespace

StatusOr<RunOptions> parseRunOptions(int argc, char** argv) {
  RunOptions options;
  const std::span<char* const> words(argv + 1, argv + argc);
  CommandLine line;
  if (asksFor("help", words))
    options.printed = message(line.command.help("torc-run", columnsOfHelp()), kHelpEnd);
  if (asksFor("version", words)) options.printed = message("torc-run ", kVersion, '\n');
  if (asksFor("table", words)) options.printed = line.command.table();
  if (!options.printed.empty()) return options;
  if (Status status = line.command.parse(words, "torc-run"); !status.ok()) return status;
  Status status;
  // Reads the given values; the first wrong one is the error.
  const auto read = [&](const Text& option, auto parse) {
    if (status.ok() && option.isGiven()) status = parse(option.text());
  };
  const auto readTime = [&](const Text& option, double& value) {
    read(option, [&](const std::string& text) {
      return parseTime(option.shownName().c_str(), text.c_str(), value);
    });
  };
  read(line.collective,
       [&](const std::string& text) { return parseCollective(text, options.collective); });
  read(line.collectives,
       [&](const std::string& text) { return parseCollectives(text, options.collectives); });
  read(line.bytes, [&](const std::string& text) { return parseSizes(text, options.sizes); });
  readTime(line.seconds, options.seconds);
  readTime(line.minutes, options.minutes);
  if (!status.ok()) return status;
  options.type = runTypes()[line.type.index()];
  options.op = runOps()[line.op.index()];
  options.iterations = static_cast<int>(line.iterations);
  options.warmup = static_cast<int>(line.warmup);
  options.root = static_cast<int>(line.root);
  options.trace_events = line.trace_events;
  options.check = line.check;
  options.compare = line.compare;
  options.in_place = line.in_place;
  options.uneven = line.uneven;
  options.dedicated_sweep = line.sweep;
  options.tune = line.tune;
  options.calibrate = line.calibrate;
  options.name = line.name;
  options.output = line.output;
  options.torus = line.torus;
  options.order = line.order;
  options.mapping = line.mapping;
  options.trace = line.trace;
  options.schedule = line.schedule;
  const bool has_sizes = line.bytes.isGiven(), calibrates = line.calibrate.isGiven();
  if (options.dedicated_sweep) {
    if (!has_sizes) options.sizes = {{8, 8}};
    status = checkSweep(options, calibrates);
  } else {
    status = calibrates ? checkCalibration(options, line.minutes.isGiven())
                        : checkTogether(options, has_sizes);
  }
  if (!status.ok()) return status;
  return options;
}

std::vector<std::uint64_t> runSizes(const RunOptions& options) {
  std::vector<std::uint64_t> sizes;
  const std::uint64_t element = options.type.bytes;
  for (const RunOptions::Sizes& range : options.sizes) {
    for (std::uint64_t bytes = range.lowest; bytes <= range.highest;
         bytes = bytes < element ? element : bytes * 2) {
      const std::uint64_t whole = bytes / element * element;
      if (sizes.empty() || sizes.back() != whole) sizes.push_back(whole);
    }
  }
  return sizes;
}

}  // namespace torc::runtime
