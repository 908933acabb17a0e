// The program of a cluster's cores in a collective: rounds of copies and messages.
//
// In a round a core waits for the other cores of its node, if the round has a barrier; copies;
// sends, and processes received messages; copies again after all have arrived. Programs generate
// the messages of a round one by one, so that memory does not grow with the number of pairs.
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
  bool barrier = false;  // begins when all cores of the node have reached their next barrier
  Copy before;
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
  Copy after;
};

struct Message {
  std::uint32_t to = 0;  // a core of the program
  bool network = false;  // else inside the node
  double bytes = 0;
  /// Numbers of the connection at the sender's NIC and at the receiver's. They are unique within a
  /// node.
  std::uint64_t out = 0, in = 0;
  /// Number of receives of its round that the receiver posts before that of this message.
  std::uint64_t posted = 0;
};

/// Core c of the program is core c % coresPerNode() of node c / coresPerNode(). If all nodes do the
/// same, one stands for all: a message goes to the core of the only node with the receiver's number
/// in its node.
class ClusterProgram {
 public:
  virtual ~ClusterProgram() = default;

  virtual std::uint32_t nodes() const = 0;
  virtual std::uint32_t coresPerNode() const = 0;
  virtual std::uint64_t rounds(std::uint32_t core) const = 0;
  virtual Round round(std::uint32_t core, std::uint64_t index) const = 0;
  /// Message number `send` of a round, in the order in which the core sends them.
  virtual Message message(std::uint32_t core, std::uint64_t round, std::uint64_t send) const = 0;
};

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_CLUSTER_PROGRAM_H_
