// Mapping files: line by line, then what only the whole can show.
#include "schedules/sub_torus/mapping.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "schedules/sub_torus/sub_torus.h"
#include "support/message.h"

namespace torc {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

/// The next word of `line`, which loses it; empty at the end.
std::string_view nextWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

/// Reads the words of a line as coordinates; what is wrong, or an empty text.
std::string readCoordinates(const Topology& topology, std::string_view line, Coordinates& at) {
  std::uint32_t count = 0;
  for (std::string_view word; !(word = nextWord(line)).empty(); ++count) {
    if (count >= topology.axis_count) continue;  // counted, for the message
    const Axis& axis = topology.axes[count];
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, at[count]);
    if (error == std::errc::invalid_argument || stop != end) {
      return message("'", shown(word), "' is no coordinate");
    }
    if (error != std::errc() || at[count] < 0 || std::uint32_t(at[count]) >= axis.size) {
      return message(axis.name, "=", shown(word), " is outside (size ", axis.size, ")");
    }
  }
  if (count != topology.axis_count) {
    std::string names;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i)
      names += (i > 0 ? std::string(" ") : "") + topology.axes[i].name;
    return message("expected ", topology.axis_count, " coordinates (", names, "), found ", count);
  }
  if (topology.isDead(at)) return message(coordinatesText(topology, at), " is a dead node");
  return {};
}

/// The first line that names a node of an earlier one, as a pair: the earlier line, it. 0: none.
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
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(kBlanks) == std::string_view::npos) continue;
    Coordinates at{};
    if (std::string fault = readCoordinates(topology, line, at); !fault.empty()) {
      return malformed(origin, ":", number, ": ", fault);
    }
    sites.push_back(topology.siteOf(at));
    lines.push_back(number);
  }
  if (sites.empty()) return malformed(origin, ": has no coordinates");
  if (const auto [earlier, line] = firstRepetition(sites, lines); line > 0) {
    const auto rank = std::ranges::lower_bound(lines, line) - lines.begin();
    const Coordinates at = topology.coordinatesOfSite(sites[static_cast<std::size_t>(rank)]);
    return malformed(origin, ":", line, ": ", coordinatesText(topology, at),
                     " has a rank already, on line ", earlier);
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
