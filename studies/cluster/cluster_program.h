// What the cores of a cluster do in a collective: rounds, each of copies and messages.
//
// A round of a core: it waits for the other cores of its node, where the round asks for that;
// copies; sends, and takes in what comes; copies again when all has come. Programs say the messages
// of a round one by one, so that nothing grows with the number of pairs.
#ifndef TORC_STUDIES_CLUSTER_CLUSTER_PROGRAM_H_
#define TORC_STUDIES_CLUSTER_CLUSTER_PROGRAM_H_

#include <cstdint>

namespace torc::studies {

/// Data that a core moves inside its node.
struct Copy {
  double bytes = 0;
  double runs = 0;      // contiguous ones
  bool memory = false;  // one end is in memory, not in the cache

  friend bool operator==(const Copy&, const Copy&) = default;
};

struct Round {
  bool barrier = false;  // begins when all cores of the node have come to their next barrier
  Copy before;
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
  Copy after;
};

struct Message {
  std::uint32_t to = 0;  // a core of the program
  bool network = false;  // else inside the node
  double bytes = 0;
  /// Numbers of the connection, as the sender's NIC and as the receiver's knows it. Of a node's
  /// connections no two have the same.
  std::uint64_t out = 0, in = 0;
  /// How many receives of its round the receiver posts before that of this message.
  std::uint64_t posted = 0;
};

/// Core c of the program is core c % coresPerNode() of node c / coresPerNode(). Where all nodes do
/// the same, one stands for all: then a message to the core that has its receiver's number in the
/// receiver's node goes to that core of the only node.
class ClusterProgram {
 public:
  virtual ~ClusterProgram() = default;

  virtual std::uint32_t nodes() const = 0;
  virtual std::uint32_t coresPerNode() const = 0;
  virtual std::uint64_t rounds(std::uint32_t core) const = 0;
  virtual Round round(std::uint32_t core, std::uint64_t index) const = 0;
  /// The message `send` of a round, in the order in which the core sends them.
  virtual Message message(std::uint32_t core, std::uint64_t round, std::uint64_t send) const = 0;
};

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_CLUSTER_PROGRAM_H_
