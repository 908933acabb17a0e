// Tori of Slurm: topology.yaml's torus3d and ring, topology.conf's rings, and the boxes of node
// names of topology/3d_torus (`NodeName=tux[000x733]`). Slurm describes places of hosts, and no
// links.
#ifndef TORC_MODEL_MACHINES_SLURM_MACHINE_H_
#define TORC_MODEL_MACHINES_SLURM_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "model/machines/yaml_tree.h"

namespace torc::model {

inline constexpr std::size_t kMostSlurmHosts = 1u << 17;

struct SlurmTorus {
  std::string name;
  std::size_t line = 0;
  std::vector<std::uint32_t> sizes;  // X first
  std::vector<std::string> hosts;    // by place, X fastest; empty if there is none

  /// "4x4x2".
  std::string shape() const;
  std::vector<std::uint32_t> coordinatesOf(std::size_t place) const;
};

/// Whether a line is in Slurm's `Key=Value` format, and in the YAML of its list of topologies.
bool isSlurmLine(llvm::StringRef line);
bool isSlurmYaml(const YamlNode& root);

/// The tori of one topology: the cluster's default, or the first one with tori. At least one.
/// Errors: `topology.yaml:7: error: ...`; switches and blocks are named.
llvm::Expected<std::vector<SlurmTorus>> readSlurmYaml(const YamlNode& root, llvm::StringRef origin);
llvm::Expected<std::vector<SlurmTorus>> readSlurmLines(llvm::StringRef text,
                                                       llvm::StringRef origin);

/// The tori of a file in either format.
llvm::Expected<std::vector<SlurmTorus>> readSlurmTori(llvm::StringRef text, llvm::StringRef origin);

/// The machine of `tori`, which have one shape, with the links of the machine `generic`. A place
/// without a host is a dead node. An error of `tori` is returned.
llvm::Expected<Machine> slurmMachine(llvm::Expected<std::vector<SlurmTorus>> tori,
                                     llvm::StringRef origin);

/// The mapping file of a job whose ranks fill the hosts of `hostlist` in order, `ranks_per_host`
/// (at least 1) on each. Hosts that fill a box, which may wrap around the torus, have coordinates
/// relative to its corner; others have those of the torus. The first line has the shape, for
/// TORC_TORUS: an axis that the box does not fill is a mesh. Errors: a host of the tori in two
/// places; a host of the list that is on no torus, is repeated, or is on another torus than the
/// first.
llvm::Expected<std::string> mappingOfHosts(llvm::ArrayRef<SlurmTorus> tori,
                                           llvm::StringRef hostlist, std::uint32_t ranks_per_host);

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_SLURM_MACHINE_H_
