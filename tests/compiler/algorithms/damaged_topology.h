// Damaged topologies for tests of algorithms that go round damage.
#ifndef TORC_TESTS_COMPILER_ALGORITHMS_DAMAGED_TOPOLOGY_H_
#define TORC_TESTS_COMPILER_ALGORITHMS_DAMAGED_TOPOLOGY_H_

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/algorithms/damage/rooted_tree.h"

namespace torc::compiler {

inline Topology damaged(std::string_view shape, const std::vector<std::string>& nodes,
                        const std::vector<std::string>& links = {}) {
  Topology topology = *parseTopology(shape);
  for (const std::string& node : nodes)
    EXPECT_TRUE(topology.addDeadNode(*parseDeadNode(topology, node)).ok());
  for (const std::string& link : links)
    EXPECT_TRUE(topology.addDeadLink(*parseDeadLink(topology, link)).ok());
  EXPECT_TRUE(topology.validate().ok());
  return topology;
}

/// Whether the cables join all nodes without a circle.
inline bool isSpanningTree(const LiveGraph& graph, const TreeCables& cables) {
  std::vector<std::uint32_t> root(graph.nodes());
  for (std::uint32_t node = 0; node < root.size(); ++node)
    root[node] = node;
  auto find = [&](std::uint32_t node) {
    while (root[node] != node)
      node = root[node];
    return node;
  };
  for (const std::uint32_t cable : cables) {
    const std::uint32_t a = find(graph.arc(2 * cable).from), b = find(graph.arc(2 * cable).to);
    if (a == b) return false;
    root[a] = b;
  }
  return cables.size() + 1 == graph.nodes();
}

}  // namespace torc::compiler

#endif  // TORC_TESTS_COMPILER_ALGORITHMS_DAMAGED_TOPOLOGY_H_
