// Parses torc-run's options, and prints its help.
#include "runtime/run/torc_run_options.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string_view>

#include "settings/dedicated_ranks.h"
#include "support/message.h"
#include "support/options.h"
#include "support/setting_values.h"
#include "support/version.h"

namespace torc::runtime {
namespace {

/// In the order of the words of --type, and of --op.
std::span<const RunType> runTypes() {
  static const RunType kTypes[] = {
      {MPI_FLOAT, 4, true},     {MPI_DOUBLE, 8, true},    {MPI_INT8_T, 1, false},
      {MPI_INT16_T, 2, false},  {MPI_INT32_T, 4, false},  {MPI_INT64_T, 8, false},
      {MPI_UINT8_T, 1, false},  {MPI_UINT16_T, 2, false}, {MPI_UINT32_T, 4, false},
      {MPI_UINT64_T, 8, false},
  };
  return kTypes;
}

std::span<const RunOp> runOps() {
  static const RunOp kOps[] = {
      {MPI_SUM, true},  {MPI_PROD, true},  {MPI_MAX, false},  {MPI_MIN, false}, {MPI_LAND, false},
      {MPI_LOR, false}, {MPI_LXOR, false}, {MPI_BAND, false}, {MPI_BOR, false}, {MPI_BXOR, false},
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
Status parseTime(const options::Text& option, double& time) {
  char* end = nullptr;
  time = std::strtod(option.c_str(), &end);
  if (end == option.c_str() || *end != '\0' || !std::isfinite(time) || time <= 0 || time > 3600) {
    return usage(option.shownName() + " " + option.text() + ": must be above 0 and at most 3600");
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
Status checkCalibration(RunOptions& options) {
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
  if (!options.minutes_text.isGiven()) options.minutes = 1;
  return {};
}

/// Checks the combination of options of --dedicated-sweep.
Status checkSweep(const RunOptions& options) {
  if (options.calibrate.isGiven() || !options.tune.empty()) {
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

/// Checks the combination of the other options.
Status checkTogether(RunOptions& options) {
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
  if (!options.bytes.isGiven()) options.sizes = {{8, 4u << 20}};
  if (options.sizes.size() > 1) return usage("--sizes: --tune takes one range of them");
  if (options.sizes.front().lowest < options.type.bytes) {
    return usage("--bytes: the smallest size is less than an element");
  }
  return {};
}

using namespace options;

constexpr std::string_view kHelpEnd =
    "\nRun it by mpiexec.hydra -n RANKS torc-run. Times are of the slowest rank: median, least, "
    "most.\n"
    "Exit: 0 all right, 1 a wrong result or a fault in the input, 2 wrong usage.\n";

}  // namespace

Status RunOptions::parse(int argc, char** argv) {
  const std::span<char* const> words(argv + 1, argv + argc);
  if (asksFor("help", words))
    printed = message(command.help("torc-run", columnsOfHelp()), kHelpEnd);
  if (asksFor("version", words)) printed = message("torc-run ", kVersion, '\n');
  if (asksFor("table", words)) printed = command.table();
  if (!printed.empty()) return {};
  if (Status status = command.parse(words, "torc-run"); !status.ok()) return status;
  Status status;
  // Reads the given values; the first wrong one is the error.
  const auto read = [&](const Text& option, auto parse_value, auto& value) {
    if (status.ok() && option.isGiven()) status = parse_value(option, value);
  };
  read(collective_name, parseCollective, collective);
  read(collective_names, parseCollectives, collectives);
  read(bytes, parseSizes, sizes);
  read(seconds_text, parseTime, seconds);
  read(minutes_text, parseTime, minutes);
  if (!status.ok()) return status;
  type = runTypes()[type_name.index()];
  op = runOps()[op_name.index()];
  return checkCombination();
}

/// Checks the combination of options.
Status RunOptions::checkCombination() {
  if (dedicated_sweep) {
    if (!bytes.isGiven()) sizes = {{8, 8}};
    return checkSweep(*this);
  }
  return calibrate.isGiven() ? checkCalibration(*this) : checkTogether(*this);
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
