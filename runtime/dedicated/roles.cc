// Roles: distribution of dedicated ranks over nodes, and of the program's ranks over dedicated
// ones.
#include "runtime/dedicated/roles.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace torc::runtime::dedicated {
namespace {

/// The ranks of every node; nodes are in the order of their first ranks.
std::vector<std::vector<int>> ranksOfNodes(std::span<const int> node_of_rank) {
  std::vector<std::vector<int>> nodes;
  std::unordered_map<int, std::size_t> index;
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    const auto [found, is_new] = index.try_emplace(node_of_rank[rank], nodes.size());
    if (is_new) nodes.emplace_back();
    nodes[found->second].push_back(static_cast<int>(rank));
  }
  return nodes;
}

/// The `index`-th of `parts` shares of `total`, which differ by at most one.
std::size_t share(std::size_t total, std::size_t index, std::size_t parts) {
  return total * (index + 1) / parts - total * index / parts;
}

/// Whether each rank is dedicated.
std::vector<bool> chooseDedicated(const DedicatedRanks& wanted, std::size_t count,
                                  const std::vector<std::vector<int>>& nodes, std::size_t ranks) {
  std::vector<bool> is_dedicated(ranks);
  if (wanted.kind == DedicatedRanks::Kind::kList) {
    for (const RankRange& range : wanted.list)
      std::fill_n(is_dedicated.begin() + range.first, range.last - range.first + 1, true);
    return is_dedicated;
  }
  if (wanted.fills_nodes) {
    for (auto node = nodes.rbegin(); count > 0; ++node) {
      const std::size_t here = std::min(count, node->size());
      for (std::size_t i = node->size() - here; i < node->size(); ++i)
        is_dedicated[static_cast<std::size_t>((*node)[i])] = true;
      count -= here;
    }
    return is_dedicated;
  }
  std::size_t before = 0;  // ranks of earlier nodes
  for (const std::vector<int>& node : nodes) {
    const std::size_t after = before + node.size();
    const std::size_t here = count * after / ranks - count * before / ranks;
    for (std::size_t i = node.size() - here; i < node.size(); ++i)
      is_dedicated[static_cast<std::size_t>(node[i])] = true;
    before = after;
  }
  return is_dedicated;
}

}  // namespace

StatusOr<Roles> assignRoles(const DedicatedRanks& wanted, std::span<const int> node_of_rank) {
  const std::size_t ranks = node_of_rank.size();
  const StatusOr<std::size_t> count = dedicatedCount(wanted, ranks);
  if (!count.ok()) return count.status();
  const std::vector<std::vector<int>> nodes = ranksOfNodes(node_of_rank);
  const std::vector<bool> is_dedicated = chooseDedicated(wanted, *count, nodes, ranks);

  Roles roles;
  std::vector<int> in_program(ranks, -1);  // rank in the program
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (is_dedicated[rank]) continue;
    in_program[rank] = static_cast<int>(roles.applications.size());
    roles.applications.push_back(static_cast<int>(rank));
  }
  roles.server_of.assign(roles.applications.size(), -1);
  if (*count == 0) return roles;

  // Servers first serve ranks of their own nodes; the other ranks are distributed in order.
  std::vector<std::size_t> room;  // by server
  std::vector<int> left;          // ranks in the program, by node
  for (const std::vector<int>& node : nodes) {
    const std::size_t first = roles.servers.size();
    for (const int rank : node) {
      if (!is_dedicated[static_cast<std::size_t>(rank)]) continue;
      room.push_back(share(roles.applications.size(), roles.servers.size(), *count));
      roles.servers.push_back(rank);
      roles.node_of_server.push_back(node_of_rank[static_cast<std::size_t>(rank)]);
    }
    std::size_t server = first;
    for (const int rank : node) {
      const int application = in_program[static_cast<std::size_t>(rank)];
      if (application < 0) continue;
      while (server < room.size() && room[server] == 0)
        ++server;
      if (server == room.size()) {
        left.push_back(application);
        continue;
      }
      --room[server];
      roles.server_of[static_cast<std::size_t>(application)] = static_cast<int>(server);
    }
  }
  std::size_t server = 0;
  for (const int application : left) {
    while (room[server] == 0)
      ++server;
    --room[server];
    roles.server_of[static_cast<std::size_t>(application)] = static_cast<int>(server);
  }
  return roles;
}

}  // namespace torc::runtime::dedicated
