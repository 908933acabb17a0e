// Tables of links: graphs, in the form in which TACOS results have theirs.
//
//   NPUs Count,4
//   SrcID,DestID,Latency (ns),Bandwidth (GB/s)
//   0,1,500,50
//   ...
// Other lines before the second, and what follows in those of links, is skipped, so that a TACOS
// result is such a table. Nodes from the number of NPUs on are switches. 1 GB is 1e9 bytes.
#ifndef TORC_IR_EXCHANGE_READERS_GRAPH_READER_H_
#define TORC_IR_EXCHANGE_READERS_GRAPH_READER_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "schedules/topology/graph.h"

namespace torc::ir {

struct Graph {
  std::int64_t ranks = 0;
  std::vector<GraphLink> links;  // as `sortLinks` leaves them
};

/// Reads the text of a table; `origin` is its name in messages. Errors name the line: what is no
/// such table, a link that is there twice, one that ends where it begins.
llvm::Expected<Graph> readGraph(llvm::StringRef text, llvm::StringRef origin);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_GRAPH_READER_H_
