// The cluster descriptions of studies/cluster/presets/, embedded by the build.
#ifndef TORC_STUDIES_CLUSTER_CLUSTER_PRESETS_H_
#define TORC_STUDIES_CLUSTER_CLUSTER_PRESETS_H_

#include <span>

#include "model/machines/presets.h"

namespace torc::studies {

/// In the order of studies/BUILD.
std::span<const model::Preset> clusterDescriptions();

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_CLUSTER_PRESETS_H_
