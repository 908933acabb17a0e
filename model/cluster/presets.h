// The cluster descriptions of model/cluster/presets/, which the build puts into the program.
#ifndef TORC_MODEL_CLUSTER_PRESETS_H_
#define TORC_MODEL_CLUSTER_PRESETS_H_

#include <span>

#include "model/machines/presets.h"

namespace torc::model {

/// In the order of model/BUILD.
std::span<const Preset> clusterDescriptions();

}  // namespace torc::model

#endif  // TORC_MODEL_CLUSTER_PRESETS_H_
