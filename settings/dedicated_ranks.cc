// Parses the values of TORC_DEDICATED and TORC_DEDICATED_OPERATIONS.
#include "settings/dedicated_ranks.h"

#include <algorithm>

#include "support/message.h"
#include "support/setting_values.h"

namespace torc {
namespace {

std::vector<OffloadedCollective> offloadedCollectives() {
  std::vector<OffloadedCollective> all;
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto collective = static_cast<Collective>(i);
    if (isOffloaded(rowOf(collective))) all.push_back({.collective = collective});
  }
  all.push_back({.is_barrier = true});
  return all;
}

/// The text before the next `separator`; removes both from `text`.
std::string_view takeItem(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view item = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return item;
}

// No job has more.
constexpr std::uint64_t kMostRanks = 1u << 24;

std::optional<DedicatedRanks> parseList(std::string_view text) {
  DedicatedRanks ranks{DedicatedRanks::Kind::kList, 0, {}};
  if (text.ends_with(',')) return std::nullopt;
  while (!text.empty()) {
    std::string_view item = takeItem(text, ',');
    const std::optional<std::uint64_t> first = parseNumber(takeItem(item, '-'), kMostRanks);
    const std::optional<std::uint64_t> last = item.empty() ? first : parseNumber(item, kMostRanks);
    if (!first || !last || *last < *first) return std::nullopt;
    ranks.list.push_back({static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last)});
  }
  std::ranges::sort(ranks.list, {}, &RankRange::first);
  std::size_t kept = 0;  // ranges that overlap or touch become one
  for (const RankRange& range : ranks.list) {
    if (kept > 0 && range.first <= ranks.list[kept - 1].last + 1) {
      ranks.list[kept - 1].last = std::max(ranks.list[kept - 1].last, range.last);
    } else {
      ranks.list[kept++] = range;
    }
  }
  ranks.list.resize(kept);
  return ranks;
}

}  // namespace

std::optional<DedicatedRanks> parseDedicatedRanks(std::string_view text) {
  using Kind = DedicatedRanks::Kind;
  const bool is_ratio = text.starts_with("1:");
  if (is_ratio || text.starts_with('=')) {
    constexpr std::string_view kNodes = "@nodes";
    const bool fills_nodes = text.ends_with(kNodes);
    if (fills_nodes) text.remove_suffix(kNodes.size());
    const std::optional<std::uint64_t> number =
        parseNumber(text.substr(is_ratio ? 2 : 1), kMostRanks);
    if (!number || *number == 0) return std::nullopt;
    return DedicatedRanks{is_ratio ? Kind::kRatio : Kind::kNumber,
                          static_cast<std::uint32_t>(*number),
                          {},
                          fills_nodes};
  }
  if (text.empty()) return std::nullopt;
  return parseList(text);
}

StatusOr<std::size_t> dedicatedCount(const DedicatedRanks& wanted, std::size_t ranks) {
  const auto fault = [](const auto&... pieces) {
    return Status(StatusCode::kInvalidArgument, message(pieces...));
  };
  std::size_t count = 0;
  switch (wanted.kind) {
    case DedicatedRanks::Kind::kNone:
      return count;
    case DedicatedRanks::Kind::kRatio:
      count = ranks / (std::size_t{wanted.number} + 1);
      if (count == 0) {
        return fault("of ", ranks, ranks == 1 ? " rank" : " ranks",
                     " none would be dedicated; at least ", wanted.number + 1, " are needed");
      }
      break;
    case DedicatedRanks::Kind::kNumber:
      count = wanted.number;
      break;
    case DedicatedRanks::Kind::kList:
      for (const RankRange& range : wanted.list)
        count += range.last - range.first + 1;
      if (wanted.list.back().last >= ranks) {
        return fault("the job has no rank ", wanted.list.back().last, "; its ranks are 0 to ",
                     ranks - 1);
      }
      break;
  }
  if (count >= ranks) {
    return fault("of ", ranks, ranks == 1 ? " rank" : " ranks", " none would be the program's");
  }
  return count;
}

bool isOffloaded(const CollectiveRow& row) {
  return row.isIntercepted() && !row.isPrefix() && !row.isOfNeighbours() &&
         !(row.isRooted() && row.describesOwn());
}

std::string name(OffloadedCollective collective) {
  if (collective.is_barrier) return "barrier";
  std::string name(collective.row().mpi[0].substr(std::string_view("MPI_").size()));
  name[0] += 'a' - 'A';
  return name;
}

std::optional<OffloadLimits> parseOffloadLimits(std::string_view text, std::string& allowed) {
  allowed =
      "none, or names separated by commas, each with the most bytes behind a colon if not "
      "all, as allreduce:1K,iallreduce,ibarrier; of";
  const std::vector<OffloadedCollective> all = offloadedCollectives();
  for (const OffloadedCollective& each : all)
    allowed += message(each == all[0] ? " " : ", ", name(each), ", i", name(each));
  allowed += message("; up to ", kMostOffloadedBytes >> 20, "M");
  OffloadLimits limits;
  if (text == "none") return limits;
  if (text.empty() || text.ends_with(',')) return std::nullopt;
  while (!text.empty()) {
    std::string_view item = takeItem(text, ',');
    const bool has_bytes = item.find(':') != item.npos;
    const std::string_view named = takeItem(item, ':');
    auto which = std::ranges::find(all, named, name);
    const bool is_nonblocking = which == all.end() && named.starts_with('i');
    if (is_nonblocking) which = std::ranges::find(all, named.substr(1), name);
    if (which == all.end()) return std::nullopt;
    std::uint64_t bytes = kMostOffloadedBytes;
    if (has_bytes) {
      const std::optional<std::uint64_t> given = parseBytes(item);
      if (!given || *given > kMostOffloadedBytes) return std::nullopt;
      bytes = *given;
    }
    (is_nonblocking ? limits.nonblocking : limits.blocking)[which->index()] =
        static_cast<std::uint32_t>(bytes);
  }
  return limits;
}

}  // namespace torc
