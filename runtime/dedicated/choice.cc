// The choice: a text of `name value` lines.
#include "runtime/dedicated/choice.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <utility>

#include "runtime/dedicated/roles.h"
#include "support/message.h"

namespace torc::runtime::dedicated {
namespace {

using Kind = DedicatedRanks::Kind;

constexpr double kNearBest = 1.05;

std::string nameOf(const DedicatedRanks& ranks) {
  if (ranks.kind == Kind::kNone) return "none";
  return message('=', ranks.number, ranks.fills_nodes ? "@nodes" : "");
}

/// Ranks of the nodes, in order: 4 nodes of 2 and one of 1 are `4x2,1x1`.
std::string shapeOf(std::span<const int> node_of_rank) {
  std::vector<int> sizes;
  for (const std::vector<int>& node : ranksOfNodes(node_of_rank))
    sizes.push_back(static_cast<int>(node.size()));
  std::string shape;
  for (auto from = sizes.begin(); from != sizes.end();) {
    const auto to = std::find_if(from, sizes.end(), [&](int size) { return size != *from; });
    shape += message(shape.empty() ? "" : ",", to - from, 'x', *from);
    from = to;
  }
  return shape;
}

std::string collectiveOf(const DedicatedRanks& wanted) {
  return message(wanted.number, " bytes, ", wanted.microseconds, " us");
}

Status fault(const std::string& text) {
  return Status(StatusCode::kInvalidArgument, text);
}

}  // namespace

std::vector<Candidate> candidatesOf(std::span<const int> node_of_rank) {
  const std::size_t ranks = node_of_rank.size();
  const std::vector<std::vector<int>> nodes = ranksOfNodes(node_of_rank);
  std::vector<Candidate> candidates(1);
  std::size_t last = 0;
  for (std::size_t ratio = 2; ratio < 2 * ranks; ratio *= 2) {
    const std::size_t count = std::max<std::size_t>(1, ranks / (ratio + 1));
    if (count == last || count + 2 > ranks) continue;
    last = count;
    const auto number = static_cast<std::uint32_t>(count);
    candidates.push_back({{Kind::kNumber, number, {}}});
    if (nodes.size() > 1 && nodes.back().size() > 1 && count >= nodes.back().size()) {
      candidates.push_back({{Kind::kNumber, number, {}, true}});
    }
  }
  return candidates;
}

const Candidate& bestOf(std::span<const Candidate> candidates) {
  const double least = std::ranges::min(candidates, {}, &Candidate::seconds).seconds;
  const Candidate* best = nullptr;
  for (const Candidate& each : candidates) {
    if (each.seconds > kNearBest * least) continue;
    if (best == nullptr || each.ranks.number < best->ranks.number) best = &each;
  }
  return *best;
}

std::string choiceText(const DedicatedRanks& wanted, std::span<const int> node_of_rank,
                       std::span<const Candidate> candidates) {
  std::string text = message(
      "# What TORC_DEDICATED=auto has chosen in a job with so many nodes of so many ranks,\n"
      "# for sums of doubles around so much computation.\nnodes ",
      shapeOf(node_of_rank), "\ncollective ", collectiveOf(wanted), "\ndedicated ",
      nameOf(bestOf(candidates).ranks), '\n');
  for (const Candidate& each : candidates) {
    char time[32];
    std::snprintf(time, sizeof(time), "%10.2f us\n", 1e6 * each.seconds);
    text += message("# ", nameOf(each.ranks), time);
  }
  return text;
}

StatusOr<DedicatedRanks> readChoice(std::string_view text, const DedicatedRanks& wanted,
                                    std::span<const int> node_of_rank) {
  std::optional<DedicatedRanks> chosen;
  constexpr std::string_view kNames[] = {"nodes", "collective", "dedicated"};
  bool has[std::size(kNames)] = {};
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    // Of a file that was cut `=16` would be `=1`.
    if (line.size() == text.size()) {
      return fault(message("line ", number, " has no line feed at its end: the file may be cut"));
    }
    text.remove_prefix(line.size() + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    const std::string_view name = line.substr(0, line.find(' '));
    const std::string_view value = line.substr(std::min(name.size() + 1, line.size()));
    const auto* const which = std::ranges::find(kNames, name);
    if (which == std::end(kNames)) {
      return fault(message("line ", number, ": '", shown(name),
                           "' is none of nodes, collective and dedicated"));
    }
    if (std::exchange(has[which - kNames], true)) {
      return fault(message("line ", number, ": ", name, " is there a second time"));
    }
    if (name == "nodes") {
      if (const std::string shape = shapeOf(node_of_rank); value != shape) {
        return fault(
            message("is of a job whose nodes are ", shown(value), "; this one's are ", shape));
      }
    } else if (name == "collective") {
      if (const std::string own = collectiveOf(wanted); value != own) {
        return fault(message("is of ", shown(value), "; this job wants ", own));
      }
    } else {
      chosen = value == "none" ? DedicatedRanks() : parseDedicatedRanks(value);
      if (!chosen || chosen->kind == Kind::kAuto) {
        return fault(message("line ", number, ": dedicated is '", shown(value),
                             "'; allowed: none, or as TORC_DEDICATED is without auto"));
      }
      const Status count = dedicatedCount(*chosen, node_of_rank.size()).status();
      if (!count.ok()) return fault(message("line ", number, ": ", count.message()));
    }
  }
  const bool* const missing = std::ranges::find(has, false);
  if (missing != std::end(has)) return fault(message("has no line ", kNames[missing - has]));
  return *chosen;
}

}  // namespace torc::runtime::dedicated
