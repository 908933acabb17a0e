// The table of algorithms.
#include "compiler/algorithms/algorithm.h"

#include "compiler/algorithms/bfb.h"
#include "compiler/algorithms/bucket.h"
#include "compiler/algorithms/spanning_trees.h"

namespace torc {

llvm::ArrayRef<Algorithm> algorithms() {
  static constexpr Algorithm kAlgorithms[] = {
      {"bucket", "N-dimensional multicolor bucket algorithm: all links of a node at a time",
       planBucket, /*multicolor=*/true, /*makes_steps=*/false},
      {"bucket-1d", "one-dimensional bucket algorithm along one axis after another, in one color",
       planBucket, /*multicolor=*/false, /*makes_steps=*/false},
      {"bfb", "breadth-first broadcast: as many steps as the diameter, lists of blocks", planBfb,
       /*multicolor=*/false, /*makes_steps=*/true},
      {"spanning-trees", "edge-disjoint or breadth-first trees around any damage",
       planSpanningTrees,
       /*multicolor=*/false, /*makes_steps=*/true},
  };
  return kAlgorithms;
}

const Algorithm& defaultAlgorithm(const Topology& topology) {
  return topology.isBroken() ? algorithms().back() : algorithms().front();
}

llvm::Expected<const Algorithm*> findAlgorithm(llvm::StringRef name) {
  std::string known;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) return &algorithm;
    known += (known.empty() ? "" : ", ") + algorithm.name.str();
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "unknown algorithm '" + name + "'; there are " + known);
}

}  // namespace torc
