// Parsing of torc-run's options, and its help.
#include "runtime/run/torc_run_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <span>
#include <string_view>

#include "settings/dedicated_ranks.h"
#include "support/setting_values.h"

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

template <typename Entry>
std::string namesOf(std::span<const Entry> entries) {
  std::string names;
  for (const Entry& entry : entries) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  return names;
}

template <typename Entry>
Status findEntry(std::span<const Entry> entries, const char* option, std::string_view value,
                 Entry& found) {
  for (const Entry& entry : entries) {
    if (value != entry.name) continue;
    found = entry;
    return {};
  }
  return Status(StatusCode::kInvalidArgument, std::string(option) + " " + std::string(value) +
                                                  ": must be one of " + namesOf(entries));
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

/// "0,24,1K:64K": sizes, and ranges of them.
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

Status parseCount(const char* option, std::string_view text, int lowest, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < lowest ||
      value > 1'000'000'000) {
    return usage(std::string(option) + " " + std::string(text) + ": must be a whole number from " +
                 std::to_string(lowest) + " to 1000000000");
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
  path.remove_prefix(path.rfind('/') + 1);  // 0 where there is no slash
  if (path.size() > 5 && path.ends_with(".json")) path.remove_suffix(5);
  return std::string(path);
}

/// What the options of --calibrate must be together.
Status checkCalibration(RunOptions& options, std::span<char* const> named, bool has_minutes) {
  if (!options.tune.empty()) return usage("--calibrate and --tune: one after the other");
  if (!named.empty()) {
    return usage(std::string(named.front()) + ": --calibrate takes the file that it makes alone");
  }
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

/// What the options of --dedicated-sweep must be together.
Status checkSweep(const RunOptions& options, std::span<char* const> named, bool calibrates) {
  if (calibrates || !options.tune.empty()) {
    return usage("--dedicated-sweep, --calibrate and --tune: one after the other");
  }
  if (!named.empty())
    return usage(std::string(named.front()) + ": --dedicated-sweep takes no file");
  for (const RunOptions::Sizes& sizes : options.sizes) {
    if (sizes.lowest >= sizeof(double) && sizes.highest <= kMostOffloadedBytes) continue;
    return usage("--bytes: --dedicated-sweep sums 8 bytes to " +
                 std::to_string(kMostOffloadedBytes >> 20) + "M");
  }
  return {};
}

/// What the options must be together; `named`: the arguments that are no options.
Status checkTogether(RunOptions& options, std::span<char* const> named, bool has_sizes) {
  if (!options.name.empty()) return usage("--name goes with --calibrate");
  if (options.tune.empty()) {
    if (!options.output.empty() || !options.collectives.empty()) {
      return usage("--output and --collectives go with --tune");
    }
    if (!options.torus.empty() || !options.order.empty() || !options.mapping.empty()) {
      return usage("--torus, --order and --mapping go with --tune and --calibrate");
    }
    if (named.empty()) return usage("which schedule? torc-run FILE.torc; see torc-run --help");
    if (named.size() > 1) return usage(std::string(named[1]) + ": one schedule at a time");
    options.schedule = named.front();
    return {};
  }
  if (!named.empty()) return usage(std::string(named.front()) + ": --tune takes a library alone");
  if (options.output.empty()) return usage("--tune: where to? --output DIR, a new folder");
  if (!has_sizes) options.sizes = {{8, 4u << 20}};
  if (options.sizes.size() > 1) return usage("--sizes: --tune takes one range of them");
  if (options.sizes.front().lowest < options.type.bytes) {
    return usage("--bytes: the smallest size is less than an element");
  }
  return {};
}

}  // namespace

StatusOr<RunOptions> parseRunOptions(int argc, char** argv) {
  enum Option {
    kCollective = 256,
    kBytes,
    kType,
    kOp,
    kIterations,
    kWarmup,
    kSeconds,
    kRoot,
    kTrace,
    kTraceEvents,
    kTune,
    kCalibrate,
    kName,
    kCollectives,
    kMinutes,
    kTorus,
    kOrder,
    kMapping
  };
  RunOptions options;
  options.type = runTypes().front();
  options.op = runOps().front();
  int check = 0, compare = 0, in_place = 0, uneven = 0, sweep = 0, help = 0, version = 0;
  int trace_events = 0;
  bool has_sizes = false, has_minutes = false, calibrates = false;
  const struct option table[] = {
      {"collective", required_argument, nullptr, kCollective},
      {"tune", required_argument, nullptr, kTune},
      {"calibrate", required_argument, nullptr, kCalibrate},
      {"name", required_argument, nullptr, kName},
      {"output", required_argument, nullptr, 'o'},
      {"collectives", required_argument, nullptr, kCollectives},
      {"minutes", required_argument, nullptr, kMinutes},
      {"torus", required_argument, nullptr, kTorus},
      {"order", required_argument, nullptr, kOrder},
      {"mapping", required_argument, nullptr, kMapping},
      {"bytes", required_argument, nullptr, kBytes},
      {"sizes", required_argument, nullptr, kBytes},
      {"type", required_argument, nullptr, kType},
      {"op", required_argument, nullptr, kOp},
      {"iterations", required_argument, nullptr, kIterations},
      {"warmup", required_argument, nullptr, kWarmup},
      {"seconds", required_argument, nullptr, kSeconds},
      {"root", required_argument, nullptr, kRoot},
      {"trace", required_argument, nullptr, kTrace},
      {"trace-events", required_argument, nullptr, kTraceEvents},
      {"check", no_argument, &check, 1},
      {"compare", no_argument, &compare, 1},
      {"dedicated-sweep", no_argument, &sweep, 1},
      {"in-place", no_argument, &in_place, 1},
      {"uneven", no_argument, &uneven, 1},
      {"help", no_argument, &help, 1},
      {"version", no_argument, &version, 1},
      {nullptr, 0, nullptr, 0},
  };
  opterr = 0;
  int longest = 0;
  for (int code; (code = getopt_long(argc, argv, ":ho:", table, &longest)) != -1;) {
    Status status;
    switch (code) {
      case 0:
        break;
      case 'h':
        help = 1;
        break;
      case kCollective:
        status = parseCollective(optarg, options.collective);
        break;
      case kTune:
        options.tune = optarg;
        break;
      case kCalibrate:
        calibrates = true;
        options.calibrate = optarg;
        break;
      case kName:
        options.name = optarg;
        break;
      case 'o':
        options.output = optarg;
        break;
      case kCollectives:
        status = parseCollectives(optarg, options.collectives);
        break;
      case kMinutes:
        has_minutes = true;
        status = parseTime("--minutes", optarg, options.minutes);
        break;
      case kTorus:
        options.torus = optarg;
        break;
      case kOrder:
        options.order = optarg;
        break;
      case kMapping:
        options.mapping = optarg;
        break;
      case kBytes:
        has_sizes = true;
        status = parseSizes(optarg, options.sizes);
        break;
      case kType:
        status = findEntry(runTypes(), "--type", optarg, options.type);
        break;
      case kOp:
        status = findEntry(runOps(), "--op", optarg, options.op);
        break;
      case kIterations:
        status = parseCount("--iterations", optarg, 1, options.iterations);
        break;
      case kWarmup:
        status = parseCount("--warmup", optarg, 0, options.warmup);
        break;
      case kSeconds:
        status = parseTime("--seconds", optarg, options.seconds);
        break;
      case kRoot:
        status = parseCount("--root", optarg, 0, options.root);
        break;
      case kTrace:
        options.trace = optarg;
        break;
      case kTraceEvents:
        status = parseCount("--trace-events", optarg, 1, trace_events);
        break;
      case ':':
        status = usage(std::string(argv[optind - 1]) + ": a value is missing");
        break;
      default:
        status = usage(std::string(argv[optind - 1]) + ": no such option; see torc-run --help");
    }
    if (!status.ok()) return status;
  }
  options.trace_events = static_cast<std::uint64_t>(trace_events);
  options.check = check != 0;
  options.compare = compare != 0;
  options.in_place = in_place != 0;
  options.uneven = uneven != 0;
  options.dedicated_sweep = sweep != 0;
  options.help = help != 0;
  options.version = version != 0;
  if (options.help || options.version) return options;
  const std::span<char* const> named(argv + optind, argv + argc);
  if (options.dedicated_sweep) {
    if (!has_sizes) options.sizes = {{8, 8}};
    const Status status = checkSweep(options, named, calibrates);
    if (!status.ok()) return status;
    return options;
  }
  const Status status = calibrates ? checkCalibration(options, named, has_minutes)
                                   : checkTogether(options, named, has_sizes);
  if (!status.ok()) return status;
  return options;
}

std::string runHelp() {
  return "Replays a compiled schedule on MPI ranks, one per node of its torus.\n"
         "\n"
         "  mpiexec.hydra -n RANKS torc-run FILE.torc [OPTION]...\n"
         "  mpiexec.hydra -n RANKS torc-run --tune LIBRARY --output DIR [OPTION]...\n"
         "  mpiexec.hydra -n RANKS torc-run --calibrate MACHINE.json [OPTION]...\n"
         "  mpiexec.hydra -n RANKS torc-run --dedicated-sweep [OPTION]...\n"
         "\n"
         "  --collective NAME  what is called, where that is not the schedule's own collective: an "
         "allreduce\n"
         "                     serves a broadcast and a reduce, a reduce_scatter a scatter, an "
         "allgather a\n"
         "                     gather\n"
         "  --bytes SIZES      sizes, and ranges that double, as 0,24,1K:64K (default 4:1M). A "
         "size "
         "is\n"
         "                     that of the whole vector: of each rank's vector in an allreduce, of "
         "all\n"
         "                     blocks together in a reduce_scatter or allgather; whole elements of "
         "it\n"
         "  --type TYPE        " +
         namesOf(runTypes()) +
         "\n"
         "  --op OP            " +
         namesOf(runOps()) +
         "\n"
         "  --check            compare every result with MPI's own collective (floating-point sums "
         "and\n"
         "                     products within ranks * epsilon, all else exactly), and all ranks "
         "and\n"
         "                     iterations with each other, bit by bit\n"
         "  --compare          time MPI's own collective, in turns with torc, and print the ratio\n"
         "  --root RANK        of a broadcast, reduce, scatter or gather (default 0)\n"
         "  --in-place         MPI_IN_PLACE\n"
         "  --uneven           blocks of different sizes, where ranks or pairs have blocks\n"
         "  --iterations N     of each size (default: as many as fit into --seconds, 3 to 1000)\n"
         "  --seconds S        of each size, for each of torc and MPI (default 0.3)\n"
         "  --warmup N         untimed iterations before, at most (default 2)\n"
         "  --trace FILE       write what every rank did, as Chrome trace JSON, for Perfetto\n"
         "  --trace-events N   room for the last N events of each rank (default 100000)\n"
         "  --help, --version\n"
         "\n"
         "Tuning: measures the library's schedules and MPI's own collectives on these ranks, and "
         "writes a copy\n"
         "of the library in which the fastest serve.\n"
         "\n"
         "  --tune LIBRARY     a folder of torc library build, best with --candidates\n"
         "  --output, -o DIR   the copy; it must not exist\n"
         "  --collectives A,B  of these alone\n"
         "  --sizes LOW:HIGH   as --bytes, a factor of four apart (default 8:4M)\n"
         "  --minutes M        at most (default 5); what there is no time for stays as it was\n"
         "  --torus, --order, --mapping   where the ranks lie, as TORC_TORUS, TORC_ORDER and "
         "TORC_MAPPING\n"
         "\n"
         "Calibrating: measures the links, cores and memory that these ranks have, and writes a "
         "machine's\n"
         "description, which --machine of torc reads.\n"
         "\n"
         "  --calibrate MACHINE.json   the description; it must not exist\n"
         "  --torus, --order, --mapping   where the ranks lie (default: a ring of all)\n"
         "  --minutes M        about (default 1); everything is measured once, however long that "
         "takes\n"
         "  --name NAME        of the machine (default: the file's)\n"
         "\n"
         "Dedicated ranks (TORC_DEDICATED): measures sums by MPI and by dedicated ranks, at all "
         "ratios, and\n"
         "prints the best one and when it pays.\n"
         "\n"
         "  --dedicated-sweep  on these ranks, of which some are dedicated in turn\n"
         "  --bytes SIZES      of the vector of doubles (default 8)\n"
         "  --iterations N     of each kind (default 200)\n"
         "\n"
         "Times are of the slowest rank: the median over the iterations, the least and the most.\n"
         "Exit: 0 all right, 1 a wrong result or a fault in the input, 2 wrong usage.\n";
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
