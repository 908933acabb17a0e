// Tori of Slurm: topology.yaml's torus3d and ring, topology.conf's rings, and the boxes of node
// names that topology/3d_torus went by (`NodeName=tux[000x733]`). Slurm says where hosts lie, and
// nothing of their links.
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
  std::vector<std::string> hosts;    // by place, X fastest; empty where there is none

  /// "4x4x2".
  std::string shape() const;
  std::vector<std::uint32_t> coordinatesOf(std::size_t place) const;
};

/// Whether a line is of Slurm's `Key=Value` files, and YAML of its list of topologies.
bool isSlurmLine(llvm::StringRef line);
bool isSlurmYaml(const YamlNode& root);

/// The tori of one topology: of the cluster's default one, or of the first that has some. At least
/// one. Errors: `topology.yaml:7: error: ...`; switches and blocks are named.
llvm::Expected<std::vector<SlurmTorus>> readSlurmYaml(const YamlNode& root, llvm::StringRef origin);
llvm::Expected<std::vector<SlurmTorus>> readSlurmLines(llvm::StringRef text,
                                                       llvm::StringRef origin);

/// The tori of a file, whichever of the two it is.
llvm::Expected<std::vector<SlurmTorus>> readSlurmTori(llvm::StringRef text, llvm::StringRef origin);

/// The machine of `tori`, which have one shape, with the links of the machine `generic`. A place
/// without a host is a dead node.
llvm::Expected<Machine> slurmMachine(llvm::ArrayRef<SlurmTorus> tori, llvm::StringRef origin);

/// The mapping file of a job whose ranks fill the hosts of `hostlist` in its order,
/// `ranks_per_host` (at least 1) on each. Hosts that fill a box, which may go round the torus, have
/// coordinates from its corner on; others have the torus'. The first line says the shape, for
/// TORC_TORUS: an axis that the box does not fill is a mesh. Errors: a host of the tori in two
/// places; one of the list that is on no torus, is named twice, or on another torus than the first.
llvm::Expected<std::string> mappingOfHosts(llvm::ArrayRef<SlurmTorus> tori,
                                           llvm::StringRef hostlist, std::uint32_t ranks_per_host);

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_SLURM_MACHINE_H_
