// Where the hosts of a job lie on Slurm's tori, as a mapping file (schedules/sub_torus/mapping.h).
#ifndef TORC_MODEL_MACHINES_HOST_MAPPING_H_
#define TORC_MODEL_MACHINES_HOST_MAPPING_H_

#include <cstdint>
#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "model/machines/slurm_machine.h"

namespace torc::model {

/// The mapping file of a job whose ranks fill the hosts of `hostlist` in its order,
/// `ranks_per_host` (at least 1) on each. Hosts that fill a box, which may go round the torus, have
/// coordinates from its corner on; others have the torus'. The first line says the shape, for
/// TORC_TORUS: an axis that the box does not fill is a mesh. Errors: a host of the tori in two
/// places; one of the list that is on no torus, is named twice, or on another torus than the first.
llvm::Expected<std::string> mappingOfHosts(llvm::ArrayRef<SlurmTorus> tori,
                                           llvm::StringRef hostlist, std::uint32_t ranks_per_host);

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_HOST_MAPPING_H_
