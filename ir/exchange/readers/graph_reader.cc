// Tables of links, line by line.
#include "ir/exchange/readers/graph_reader.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>

#include "ir/exchange/rank_programs.h"
#include "ir/json/document.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

constexpr double kHighestLatency = 1e15;    // ns
constexpr double kHighestBandwidth = 1e12;  // GB/s

/// Whether `field` is a number from `lowest` to `highest`; what is empty is none.
bool readReal(llvm::StringRef field, double lowest, double highest, double& value) {
  return !field.trim().empty() && llvm::to_float(field.trim(), value) && value >= lowest &&
         value <= highest;
}

/// Reads an integer from `lowest` to `highest`, which is `what`; `at` is where errors are.
llvm::Expected<std::int64_t> readNumber(llvm::StringRef field, llvm::StringRef what,
                                        std::int64_t lowest, std::int64_t highest,
                                        const llvm::Twine& at) {
  std::int64_t value = 0;
  if (!field.trim().getAsInteger(10, value) && value >= lowest && value <= highest) return value;
  return makeError(at + what + " is " + shownName(field) + "; allowed: " + llvm::Twine(lowest) +
                   " to " + llvm::Twine(highest));
}

/// Reads the first four fields of a link's line.
llvm::Expected<GraphLink> readLink(llvm::ArrayRef<llvm::StringRef> fields, const llvm::Twine& at) {
  llvm::Expected<std::int64_t> from = readNumber(fields[0], "SrcID", 0, kMaxForeignSteps, at);
  if (!from) return from.takeError();
  llvm::Expected<std::int64_t> to = readNumber(fields[1], "DestID", 0, kMaxForeignSteps, at);
  if (!to) return to.takeError();
  if (*from == *to) return makeError(at + "the link ends where it begins");
  double latency = 0, bandwidth = 0;
  if (!readReal(fields[2], 0, kHighestLatency, latency))
    return makeError(at + "the latency is " + shownName(fields[2]) +
                     "; a number of ns is expected");
  if (!readReal(fields[3], 1 / kHighestBandwidth, kHighestBandwidth, bandwidth)) {
    return makeError(at + "the bandwidth is " + shownName(fields[3]) +
                     "; a number of GB/s over 0 is expected");
  }
  GraphLink link{static_cast<std::uint32_t>(*from), static_cast<std::uint32_t>(*to)};
  link.bandwidth = bandwidth * 1e9;
  link.latency = latency > 0 ? latency / 1e9 : 0;  // no -0
  return link;
}

}  // namespace

llvm::Expected<Graph> readGraph(llvm::StringRef text, llvm::StringRef origin) {
  text.consume_front("\xef\xbb\xbf");  // a byte order mark
  std::uint32_t number = 0, highest = 0, line_of_highest = 0;
  const auto refuse = [&](const llvm::Twine& what) {
    return makeError(origin + ":" + llvm::Twine(number) + ": error: " + what);
  };
  Graph graph;
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  bool in_links = false;
  while (!text.empty()) {
    llvm::StringRef line;
    std::tie(line, text) = text.split('\n');
    line = line.trim();
    const std::string at = origin.str() + ":" + std::to_string(++number) + ": error: ";
    if (line.empty()) continue;
    if (graph.ranks == 0) {
      if (!line.consume_front("NPUs Count,")) return refuse("'NPUs Count,...' is expected");
      llvm::Expected<std::int64_t> ranks = readNumber(line, "NPUs Count", 1, kMaxForeignRanks, at);
      if (!ranks) return ranks.takeError();
      graph.ranks = *ranks;
      continue;
    }
    if (!in_links) {
      in_links = line.starts_with("SrcID,");
      continue;
    }
    llvm::SmallVector<llvm::StringRef, 5> fields;
    line.split(fields, ',', /*MaxSplit=*/4);
    if (fields.size() < 4) return refuse("a link has four fields and more, this line fewer");
    llvm::Expected<GraphLink> link = readLink(fields, at);
    if (!link) return link.takeError();
    if (!known.emplace(link->from, link->to).second) return refuse("the link is there twice");
    if (graph.links.size() == kMaxForeignSteps)
      return refuse("more than " + llvm::Twine(kMaxForeignSteps) + " links");
    graph.links.push_back(*link);
    if (const std::uint32_t higher = std::max(link->from, link->to); higher > highest) {
      highest = higher;
      line_of_highest = number;
    }
  }
  ++number;
  if (graph.ranks == 0) return refuse("'NPUs Count,...' is expected");
  if (!in_links) return refuse("'SrcID,...' is expected");
  if (graph.links.empty()) return refuse("has no links");
  if (highest >= static_cast<std::uint64_t>(graph.ranks) + graph.links.size()) {
    number = line_of_highest;
    return refuse("node " + llvm::Twine(highest) + " is beyond " + llvm::Twine(graph.ranks) +
                  " NPUs and as many switches as links");
  }
  sortLinks(graph.links);
  return graph;
}

}  // namespace torc::ir
