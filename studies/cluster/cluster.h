// Cluster: nodes of several cores joined by a switch, with all properties that affect the time of
// their messages: a core's copies, the network interface (NIC), the wire, and the MPI library's
// protocols by message size.
//
// A cluster is read from JSON (docs/research/models.md) or is one of the presets of
// studies/cluster/presets/, whose numbers all name their sources.
#ifndef TORC_STUDIES_CLUSTER_CLUSTER_H_
#define TORC_STUDIES_CLUSTER_CLUSTER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"

namespace torc::studies {

inline constexpr std::uint32_t kMaxClusterNodes = 1u << 16;
inline constexpr std::uint32_t kMaxClusterCores = 1u << 10;

/// Bytes, seconds and bytes/s.
struct Cluster {
  std::string name;         // of the preset, or of the file
  std::string description;  // one line
  std::uint32_t nodes = 1;  // by default
  std::uint32_t cores = 1;  // of a node, by default

  // A node.
  double cache = 0;             // bytes of one core's share
  double cached_copy = 1;       // bytes/s of one core's copies from cache to cache
  double memory_copy = 1;       // bytes/s of one core's copies with memory at one end
  double memory_bandwidth = 1;  // bytes/s of such copies of all cores of a node together
  double copy_overhead = 0;     // seconds of every piece of a copy
  double flag = 0;              // seconds until a core sees a flag that another has set
  double shared_overhead = 0;   // time of a core at each end of a message inside its node

  // A NIC, and the software above it.
  double pio_limit = 0;      // bytes: a core pushes messages up to this size to the NIC (PIO); the
                             // NIC fetches larger ones itself (DMA)
  double pio_bandwidth = 1;  // bytes/s of one core's pushes
  double pio_buffer = 0;     // bytes that a core may be ahead of the wire
  double send_overhead = 0;  // time of a core for a message that it sends
  double receive_overhead = 0;  // and for one that it receives
  double match = 0;         // seconds for each entry examined in a queue of receives or messages
  double open_receive = 0;  // and for each open receive of its round, at every message: a
                            // conjecture, not in any description
  double message = 0;  // seconds of the NIC's engine for a message at either end; both directions
                       // and all cores of the node share the engine
  double connection = 0;      // more after another connection, and per packet if others are waiting
  double bus_bandwidth = 1;   // bytes/s between memory and NIC, one direction
  double bus_total = 1;       // both directions together
  double link_bandwidth = 1;  // bytes/s on the wire, headers included, one direction
  double payload = 1;         // bytes of data in a packet, at most
  double header = 0;          // additional bytes of a packet on the wire
  double latency = 0;         // additional seconds of a message, from NIC to NIC
  double switch_latency = 0;  // and in the switch
  double buffered = 0;  // bytes: messages up to this size are copied into a buffer of the library,
                        // and out of one at the other end
  double eager_copy = 0;  // bytes: received messages up to this size are copied from NIC buffers
  double rendezvous = 0;  // bytes: larger messages wait for their receiver's agreement

  // The switches (studies/cluster/fat_tree.h); as many nodes as fit on a leaf need no second level,
  // and all links between them are free.
  std::uint32_t leaf_nodes = kMaxClusterNodes;  // of a leaf switch
  std::uint32_t uplinks = 1;                    // of a leaf switch
  double switch_buffer = 0;                     // bytes of the buffer behind a link
  std::uint32_t placement = 0;  // 0: nodes are joined in order; else the seed of a random placement

  // The all-to-all of the MPI library, by the bytes of one block.
  double bruck_limit = 0;   // up to this size Bruck's
  double direct_limit = 0;  // then, up to this size, Irecv and Isend to all; above, pairwise

  /// Source of each number, by key: a publication, or "estimate: ...".
  std::vector<std::pair<std::string, std::string>> sources;
};

/// The cluster with a preset's name or from a JSON file. Errors name file, key and value.
llvm::Expected<Cluster> findCluster(llvm::StringRef name_or_path);

/// Reads JSON; `origin` names it in errors, which are MachineFaults.
llvm::Expected<Cluster> parseCluster(llvm::StringRef json, llvm::StringRef origin);

llvm::ArrayRef<llvm::StringRef> clusterPresets();

/// The keys of the numbers, all required in a description.
llvm::ArrayRef<llvm::StringRef> clusterKeys();

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_CLUSTER_H_
