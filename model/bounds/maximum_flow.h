// Maximum flow: Dinic, Algorithm for solution of a problem of maximum flow in networks with power
// estimation, Soviet Math. Doklady 11, 1970. What a flow cannot pass is a cut, which is all that is
// asked for here.
#ifndef TORC_MODEL_BOUNDS_MAXIMUM_FLOW_H_
#define TORC_MODEL_BOUNDS_MAXIMUM_FLOW_H_

#include <cstdint>
#include <vector>

namespace torc::model {

class MaximumFlow {
 public:
  explicit MaximumFlow(std::uint32_t nodes) : arcs_of_(nodes) {}

  /// An arc from a node to another one; arcs are numbered from 0 on.
  void addArc(std::uint32_t from, std::uint32_t to);
  std::size_t arcCount() const { return arcs_.size() / 2; }

  /// The nodes on the source's side of a narrowest cut to the sink, by node. `capacities` of arcs,
  /// by number. Capacities of less than 1e-12 of the largest that is finite are as none.
  std::vector<bool> sourceSide(std::uint32_t source, std::uint32_t sink,
                               const std::vector<double>& capacities);

 private:
  /// Arcs and their opposites in turn.
  struct Arc {
    std::uint32_t to = 0;
    double left = 0;
  };

  bool level(std::uint32_t source, std::uint32_t sink);
  double push(std::uint32_t node, std::uint32_t sink, double most);

  std::vector<Arc> arcs_;
  std::vector<std::vector<std::uint32_t>> arcs_of_;  // by node
  std::vector<std::uint32_t> levels_, next_, queue_;
  double least_ = 0;
};

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_MAXIMUM_FLOW_H_
