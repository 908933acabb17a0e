// Machine: the properties of a torus that affect time: links, start-up costs, cores, memory,
// packets, and damage.
//
// A machine is read from JSON (docs/sites/machines.md, docs/schemas/machine.schema.json) or is one
// of the presets of model/machines/presets/, whose numbers all name their sources.
#ifndef TORC_MODEL_MACHINES_MACHINE_H_
#define TORC_MODEL_MACHINES_MACHINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "model/machines/packet_parameters.h"
#include "schedules/topology/topology.h"

namespace torc::model {

/// One network dimension.
struct MachineDimension {
  std::uint32_t size = 1;  // nodes
  bool torus = true;       // else a mesh
  double bandwidth = 1e9;  // bytes/s of one cable in one direction, packet overheads included; > 0
  double latency = 0;      // seconds per hop; >= 0
  /// Cables between two neighbouring nodes; 0: not given, which means 1, but 2 on a torus dimension
  /// of size 2, on which both ways round lead to the same node.
  std::uint32_t width = 0;

  bool operator==(const MachineDimension&) const = default;

  std::uint32_t cables() const { return width > 0 ? width : torus && size == 2 ? 2 : 1; }
};

/// Sizes of a packet on the wire, bytes. A payload of 0 means no packets: all bytes are payload.
struct MachinePacket {
  double payload = 0;
  double header = 0;
  double acknowledgement = 0;  // on the same link in the opposite direction

  bool operator==(const MachinePacket&) const = default;

  /// Payload bytes per byte on the wire, in (0, 1].
  double efficiency() const {
    return payload > 0 ? payload / (payload + header + acknowledgement) : 1.0;
  }
};

struct Machine {
  std::string name;                          // of the preset, or of the file
  std::string description;                   // one line
  std::vector<MachineDimension> dimensions;  // X first; 1 to kMaxDimensions
  std::uint32_t cores = 1;                   // cores for a node's part of a collective
  /// Ranks of a node: the size of the topology's axis T; 0: one rank and no such axis. Not in JSON:
  /// a property of partitions.
  std::uint32_t ranks_per_node = 0;
  /// Whether links that wrap end further along other dimensions (model/bounds/twisted.h). Not in
  /// JSON: a property of partitions. Supported by bounds, but not by topologies.
  bool twisted = false;
  /// Links that a node can send on at a time, and as many that it can receive on; 0: all.
  std::uint32_t ports = 0;

  double alpha = 0;        // seconds: start-up of a message, independent of other messages
  double overhead = 0;     // o, seconds: time of a core at each end of a message
  double latency = 0;      // L, seconds: from the first byte's departure to its arrival, without
                           // the hops
  double message_gap = 0;  // seconds between two messages of a node's interface; 0: no limit
  double envelope = 0;     // bytes of a message on every link besides its data
  double injection = 0;    // bytes/s of a core's copies to the interface (PIO); 0: DMA
  double gap = 0;          // g, s/byte of a cable of the fastest dimension; 0: not measured
  double eager = 0;        // bytes: messages up to this size do not wait for their receive; 0: none
  double buffered = 0;     // bytes: sends up to this size complete before they are sent; 0: none
  double gamma = 0;        // seconds per byte reduced by one core; 0: no cost
  double memory_bandwidth =
      0;  // bytes/s of a node; a reduction moves 3 bytes per byte; 0: no limit
  MachinePacket packet;
  /// Costs of a packet in routers and processors, if known: then the packet simulator judges the
  /// choice.
  std::optional<PacketParameters> router;

  std::vector<DeadLink> dead_links;
  std::vector<Coordinates> dead_nodes;

  /// Source of each number, by key (`alpha`, `dimensions.bandwidth`): a publication, or "estimate:
  /// ...".
  std::vector<std::pair<std::string, std::string>> sources;

  bool operator==(const Machine&) const = default;

  /// Live nodes and dead ones.
  std::uint64_t nodes() const;
  bool damaged() const { return !dead_links.empty() || !dead_nodes.empty(); }

  /// Payload bytes/s of one link of the topology in one direction: of all cables from a node to the
  /// next along `dimension`. On a torus dimension of size 2 each direction has half the cables; a
  /// single one is shared by both directions, and this is its bandwidth each way.
  double linkBandwidth(std::uint32_t dimension) const;
};

/// The fault of a machine's file; other errors concern the requested name or shape.
class MachineFault : public llvm::ErrorInfo<MachineFault, llvm::StringError> {
 public:
  static char ID;  // NOLINT: LLVM's name
  explicit MachineFault(const llvm::Twine& message)
      : ErrorInfo(message, llvm::inconvertibleErrorCode()) {}
};

/// The machine with a preset's name or from a file: JSON, or a foreign format (foreign.h). Errors
/// name file, key and value.
llvm::Expected<Machine> findMachine(llvm::StringRef name_or_path);

/// Reads JSON; `origin` names it in errors, which are MachineFaults.
llvm::Expected<Machine> parseMachine(llvm::StringRef json, llvm::StringRef origin);

/// The JSON of a machine; parseMachine restores the machine.
std::string machineJson(const Machine& machine);

/// The presets, in the order of `torc machines`.
llvm::ArrayRef<llvm::StringRef> machinePresets();

/// The machine itself, or a partition of it: dimension i of `shape` has the links of dimension i of
/// the machine (of its last one beyond them), and is a torus or a mesh as in `shape`; `+C` puts C
/// ranks on a node, one for each core. `shape` as for parseTopology; empty: the whole machine;
/// "4x4x8t": a twisted torus, of equal links. A partition of another shape has none of the
/// machine's damage.
llvm::Expected<Machine> partitionOf(const Machine& machine, llvm::StringRef shape);

/// "4x3mx2+4" or "4x4x8t", as for `partitionOf`. A torus dimension of size 2 with one cable appears
/// as a mesh.
std::string shapeOf(const Machine& machine);

/// The topology of a machine, with bandwidths relative to its fastest dimension of more than one
/// node. A torus dimension of size 2 with one cable becomes an equivalent mesh of 2. `order` as in
/// parseTopology.
llvm::Expected<Topology> topologyOf(const Machine& machine, llvm::StringRef order = {});

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_MACHINE_H_
