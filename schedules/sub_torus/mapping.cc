// Reads mapping files line by line, then checks the whole.
#include "schedules/sub_torus/mapping.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <span>
#include <utility>

#include "schedules/sub_torus/sub_torus.h"
#include "support/message.h"

namespace torc {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// The words of a line: separated by blanks, or by commas in parentheses. False: a parenthesis that
/// does not close the line.
bool splitLine(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  line = trimmed(line);
  const bool commas = line.starts_with('(');
  if (commas) {
    if (line.find(')') + 1 != line.size()) return false;
    line = line.substr(1, line.size() - 2);
  }
  const std::string_view separators = commas ? "," : kBlanks;
  while (true) {
    if (!commas) line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const std::size_t end = std::min(line.find_first_of(separators), line.size());
    if (commas || end > 0) words.push_back(trimmed(line.substr(0, end)));
    if (end == line.size()) return true;
    line.remove_prefix(end + 1);
  }
}

/// Reads a coordinate along an axis of `size`; returns the fault, or an empty text.
std::string readCoordinate(std::string_view word, char name, std::uint32_t size,
                           std::int32_t& value) {
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end) {
    return message("'", shown(word), "' is no coordinate");
  }
  if (error != std::errc() || value < 0 || std::uint32_t(value) >= size) {
    return message(name, "=", shown(word), " is outside (size ", size, ")");
  }
  return {};
}

/// Reads the words of a line as coordinates; returns the fault, or an empty text.
std::string readCoordinates(const Topology& topology, std::span<const std::string_view> words,
                            Coordinates& at) {
  const std::uint32_t axes = topology.axis_count;
  const auto fewest = static_cast<std::size_t>(topology.dimensions());
  for (std::size_t i = 0; i < std::min(words.size(), fewest + 1); ++i) {
    // Nodes without cores have one.
    const Axis axis = i < axes ? topology.axes[i] : Axis{.kind = AxisKind::kCore, .name = 'T'};
    std::int32_t ignored = 0;
    std::string fault = readCoordinate(words[i], axis.name, axis.size, i < axes ? at[i] : ignored);
    if (!fault.empty()) return fault;
  }
  if (words.size() < fewest || words.size() > fewest + 1) {
    std::string names;
    for (std::uint32_t i = 0; i < axes; ++i)
      names += (i > 0 ? std::string(" ") : "") + topology.axes[i].name;
    return message("expected ", axes, " coordinates (", names, "), found ", words.size());
  }
  if (topology.isDead(at)) return message(coordinatesText(topology, at), " is a dead node");
  return {};
}

/// Gives the ranks of each node, all on its core 0, its cores in order. Returns the first rank
/// without a core, or the number of ranks.
std::size_t spreadOverCores(const Topology& topology, RankSites& sites) {
  std::vector<std::uint32_t> ranks(sites.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::ranges::sort(ranks, {}, [&](std::uint32_t i) { return std::pair(sites[i], i); });
  const std::uint32_t core_axis = topology.axis_count - 1;
  std::size_t first_without = sites.size();
  std::int32_t node = -1;
  std::uint32_t core = 0;
  for (const std::uint32_t rank : ranks) {
    core = sites[rank] == node ? core + 1 : 0;
    node = sites[rank];
    if (core >= topology.axes[core_axis].size) {
      first_without = std::min<std::size_t>(first_without, rank);
      continue;
    }
    Coordinates at = topology.coordinatesOfSite(node);
    at[core_axis] = static_cast<std::int32_t>(core);
    sites[rank] = topology.siteOf(at);
  }
  return first_without;
}

/// The first line that repeats a node, as a pair: the earlier line, it. 0: none.
std::pair<std::size_t, std::size_t> firstRepetition(const RankSites& sites,
                                                    const std::vector<std::size_t>& lines) {
  std::vector<std::uint32_t> ranks(sites.size());
  for (std::uint32_t i = 0; i < ranks.size(); ++i)
    ranks[i] = i;
  std::ranges::sort(ranks, {}, [&](std::uint32_t i) { return std::pair(sites[i], i); });
  std::pair<std::size_t, std::size_t> first{0, 0};
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (sites[ranks[i]] != sites[ranks[i - 1]]) continue;
    const std::size_t line = lines[ranks[i]];
    if (first.second == 0 || line < first.second) first = {lines[ranks[i - 1]], line};
  }
  return first;
}

}  // namespace

StatusOr<RankSites> parseMapping(const Topology& topology, std::string_view text,
                                 const std::string& origin) {
  RankSites sites;
  std::vector<std::size_t> lines;  // of each rank
  std::vector<std::string_view> words;
  std::size_t columns = 0;
  const auto fault = [&](std::size_t line, const std::string& what) {
    return malformed(origin, ":", line, ": ", what);
  };
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(kBlanks) == std::string_view::npos) continue;
    Coordinates at{};
    if (!splitLine(line, words)) {
      return fault(number, message("'", shown(trimmed(line)), "' is not closed by its ')'"));
    }
    if (std::string what = readCoordinates(topology, words, at); !what.empty()) {
      return fault(number, what);
    }
    if (sites.empty()) columns = words.size();
    if (words.size() != columns) {
      return fault(number, message("has ", words.size(), " coordinates, line ", lines.front(),
                                   " has ", columns));
    }
    sites.push_back(topology.siteOf(at));
    lines.push_back(number);
  }
  if (sites.empty()) return malformed(origin, ": has no coordinates");
  const auto coordinatesOf = [&](std::size_t rank) {
    return coordinatesText(topology, topology.coordinatesOfSite(sites[rank]));
  };
  if (columns < topology.axis_count) {
    const std::size_t rank = spreadOverCores(topology, sites);
    if (rank == sites.size()) return sites;
    return fault(lines[rank],
                 message(coordinatesOf(rank), " has a rank on each of its ",
                         topology.axes[topology.axis_count - 1].size, " cores already"));
  }
  if (const auto [earlier, line] = firstRepetition(sites, lines); line > 0) {
    const auto rank = std::ranges::lower_bound(lines, line) - lines.begin();
    return fault(line, message(coordinatesOf(static_cast<std::size_t>(rank)),
                               " has a rank already, on line ", earlier));
  }
  return sites;
}

Status checkMapping(const Topology& topology, const RankSites& mapping, std::uint64_t ranks,
                    const std::string& origin) {
  if (mapping.size() == ranks) return {};
  std::string missing;
  if (mapping.size() < ranks && mapping.size() < topology.ranks()) {
    RankSites sorted = mapping;
    std::ranges::sort(sorted);
    std::int32_t site = 0;
    for (std::size_t i = 0;; ++site) {
      if (i < sorted.size() && sorted[i] == site) {
        ++i;
      } else if (!topology.isDead(topology.coordinatesOfSite(site))) {
        break;
      }
    }
    missing = message(" (among others, ",
                      coordinatesText(topology, topology.coordinatesOfSite(site)), " has no rank)");
  }
  return {StatusCode::kMismatch,
          message(origin, ": maps ", mapping.size(), " ranks, the job has ", ranks, missing)};
}

}  // namespace torc
