// Reads mapping files line by line, then checks the whole.
#include "schedules/sub_torus/mapping.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <span>
#include <utility>

#include "schedules/faults/reject.h"
#include "schedules/sub_torus/sub_torus.h"
#include "support/message.h"

namespace torc {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// The words of a line: separated by blanks, or by commas in parentheses.
std::vector<std::string_view> wordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  line = trimmed(line);
  const bool commas = line.starts_with('(');
  if (commas) {
    if (line.find(')') + 1 != line.size()) reject("'", shown(line), "' is not closed by its ')'");
    line = line.substr(1, line.size() - 2);
  }
  const std::string_view separators = commas ? "," : kBlanks;
  while (true) {
    if (!commas) line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const std::size_t end = std::min(line.find_first_of(separators), line.size());
    if (commas || end > 0) words.push_back(trimmed(line.substr(0, end)));
    if (end == line.size()) return words;
    line.remove_prefix(end + 1);
  }
}

/// Reads a coordinate along `axis`.
std::int32_t readCoordinate(std::string_view word, const Axis& axis) {
  std::int32_t value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end)
    reject("'", shown(word), "' is no coordinate");
  if (error != std::errc() || value < 0 || std::uint32_t(value) >= axis.size)
    reject(axis.name, "=", shown(word), " is outside (size ", axis.size, ")");
  return value;
}

/// Reads the words of a line as coordinates.
Coordinates readCoordinates(const Topology& topology, std::span<const std::string_view> words) {
  Coordinates at{};
  const std::uint32_t axes = topology.axis_count;
  const auto fewest = static_cast<std::size_t>(topology.dimensions());
  for (std::size_t i = 0; i < std::min(words.size(), fewest + 1); ++i) {
    // Nodes without cores have one.
    const Axis axis = i < axes ? topology.axes[i] : Axis{.kind = AxisKind::kCore, .name = 'T'};
    const std::int32_t value = readCoordinate(words[i], axis);
    if (i < axes) at[i] = value;
  }
  if (words.size() < fewest || words.size() > fewest + 1) {
    std::string names;
    for (std::uint32_t i = 0; i < axes; ++i)
      names += (i > 0 ? std::string(" ") : "") + topology.axes[i].name;
    reject("expected ", axes, " coordinates (", names, "), found ", words.size());
  }
  if (topology.isDead(at)) reject(coordinatesText(topology, at), " is a dead node");
  return at;
}

/// The ranks by site, those of one site in order.
std::vector<std::uint32_t> ranksBySite(const RankSites& sites) {
  std::vector<std::uint32_t> ranks(sites.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::ranges::sort(ranks, {}, [&](std::uint32_t i) { return std::pair(sites[i], i); });
  return ranks;
}

/// Gives the ranks of each node, all on its core 0, its cores in order. Returns the first rank
/// without a core, or the number of ranks.
std::size_t spreadOverCores(const Topology& topology, RankSites& sites) {
  const std::uint32_t core_axis = topology.axis_count - 1;
  std::size_t first_without = sites.size();
  std::int32_t node = -1;
  std::uint32_t core = 0;
  for (const std::uint32_t rank : ranksBySite(sites)) {
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

/// The first rank that repeats a site, and an earlier one there; {0, 0}: none.
std::pair<std::uint32_t, std::uint32_t> firstRepetition(const RankSites& sites) {
  const std::vector<std::uint32_t> ranks = ranksBySite(sites);
  std::pair<std::uint32_t, std::uint32_t> first{0, 0};
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (sites[ranks[i]] != sites[ranks[i - 1]]) continue;
    if (first.first == 0 || ranks[i] < first.first) first = {ranks[i], ranks[i - 1]};
  }
  return first;
}

RankSites readMapping(const Topology& topology, std::string_view text, const std::string& origin) {
  RankSites sites;
  std::vector<std::size_t> lines;  // of each rank
  std::size_t columns = 0;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(kBlanks) == std::string_view::npos) continue;
    const auto read = [&] {
      const std::vector<std::string_view> words = wordsOf(line);
      const Coordinates at = readCoordinates(topology, words);
      if (sites.empty()) columns = words.size();
      if (words.size() != columns) {
        reject("has ", words.size(), " coordinates, line ", lines.front(), " has ", columns);
      }
      sites.push_back(topology.siteOf(at));
      lines.push_back(number);
    };
    within(read, origin, ":", number);
  }
  rejectIf(sites.empty(), origin, ": has no coordinates");
  const auto rejectRank = [&](std::size_t rank, const auto&... what) {
    reject(origin, ":", lines[rank], ": ",
           coordinatesText(topology, topology.coordinatesOfSite(sites[rank])), what...);
  };
  if (columns < topology.axis_count) {
    if (const std::size_t rank = spreadOverCores(topology, sites); rank < sites.size()) {
      rejectRank(rank, " has a rank on each of its ", topology.axes[topology.axis_count - 1].size,
                 " cores already");
    }
  } else if (const auto [rank, earlier] = firstRepetition(sites); rank > 0) {
    rejectRank(rank, " has a rank already, on line ", lines[earlier]);
  }
  return sites;
}

}  // namespace

StatusOr<RankSites> parseMapping(const Topology& topology, std::string_view text,
                                 const std::string& origin) {
  RankSites sites;
  const Status status = statusOf([&] { sites = readMapping(topology, text, origin); });
  if (!status.ok()) return status;
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
