// Tables of links: graphs, in the form used in TACOS results.
//
//   NPUs Count,4
//   SrcID,DestID,Latency (ns),Bandwidth (GB/s)
//   0,1,500,50
//   ...
// Other lines before the second, and further fields of the lines of links, are skipped, so that a
// TACOS result is such a table. Nodes numbered from the number of NPUs on are switches. 1 GB is 1e9
// bytes.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>

#include "ir/exchange/readers/readers.h"
#include "ir/json/document.h"
#include "ir/thrown.h"

namespace torc::ir {
namespace {

constexpr double kHighestLatency = 1e15;    // ns
constexpr double kHighestBandwidth = 1e12;  // GB/s

/// Throws the first fault.
Graph graphOf(llvm::StringRef text, llvm::StringRef origin) {
  text.consume_front("\xef\xbb\xbf");  // a byte order mark
  std::uint32_t number = 0, highest = 0, line_of_highest = 0;
  const auto refuse = [&](const llvm::Twine& what) {
    throwError(origin + ":" + llvm::Twine(number) + ": error: " + what);
  };
  const auto readInteger = [&](llvm::StringRef field, llvm::StringRef what, std::int64_t least,
                               std::int64_t most) {
    std::int64_t value = 0;
    if (field.trim().getAsInteger(10, value) || value < least || value > most) {
      refuse(what + " is " + shownName(field) + "; allowed: " + llvm::Twine(least) + " to " +
             llvm::Twine(most));
    }
    return value;
  };
  // An empty field is no number.
  const auto readReal = [&](llvm::StringRef field, llvm::StringRef what, llvm::StringRef unit,
                            double least, double most) {
    double value = 0;
    const bool is_number = !field.trim().empty() && llvm::to_float(field.trim(), value);
    if (!is_number || !(value >= least && value <= most)) {
      refuse("the " + what + " is " + shownName(field) + "; a number of " + unit + " is expected");
    }
    return value;
  };
  Graph graph;
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  bool in_links = false;
  while (!text.empty()) {
    llvm::StringRef line;
    std::tie(line, text) = text.split('\n');
    line = line.trim();
    ++number;
    if (line.empty()) continue;
    if (graph.ranks == 0) {
      if (!line.consume_front("NPUs Count,")) refuse("'NPUs Count,...' is expected");
      graph.ranks = readInteger(line, "NPUs Count", 1, kMaxForeignRanks);
      continue;
    }
    if (!in_links) {
      in_links = line.starts_with("SrcID,");
      continue;
    }
    llvm::SmallVector<llvm::StringRef, 5> fields;
    line.split(fields, ',', /*MaxSplit=*/4);
    if (fields.size() < 4) refuse("a link has four fields and more, this line fewer");
    GraphLink link;
    link.from = static_cast<std::uint32_t>(readInteger(fields[0], "SrcID", 0, kMaxForeignSteps));
    link.to = static_cast<std::uint32_t>(readInteger(fields[1], "DestID", 0, kMaxForeignSteps));
    if (link.from == link.to) refuse("the link ends where it begins");
    const double latency = readReal(fields[2], "latency", "ns", 0, kHighestLatency);
    link.latency = latency > 0 ? latency / 1e9 : 0;  // no -0
    link.bandwidth = 1e9 * readReal(fields[3], "bandwidth", "GB/s over 0", 1 / kHighestBandwidth,
                                    kHighestBandwidth);
    if (!known.emplace(link.from, link.to).second) refuse("the link is there twice");
    if (graph.links.size() == kMaxForeignSteps)
      refuse("more than " + llvm::Twine(kMaxForeignSteps) + " links");
    graph.links.push_back(link);
    if (const std::uint32_t higher = std::max(link.from, link.to); higher > highest) {
      highest = higher;
      line_of_highest = number;
    }
  }
  ++number;
  if (graph.ranks == 0) refuse("'NPUs Count,...' is expected");
  if (!in_links) refuse("'SrcID,...' is expected");
  if (graph.links.empty()) refuse("has no links");
  if (highest >= static_cast<std::uint64_t>(graph.ranks) + graph.links.size()) {
    number = line_of_highest;
    refuse("node " + llvm::Twine(highest) + " is beyond " + llvm::Twine(graph.ranks) +
           " NPUs and as many switches as links");
  }
  sortLinks(graph.links);
  return graph;
}

}  // namespace

llvm::Expected<Graph> readGraph(llvm::StringRef text, llvm::StringRef origin) {
  return caught([&] { return graphOf(text, origin); });
}

}  // namespace torc::ir
