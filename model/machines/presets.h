// The machine descriptions of model/machines/presets/, embedded by the build.
#ifndef TORC_MODEL_MACHINES_PRESETS_H_
#define TORC_MODEL_MACHINES_PRESETS_H_

#include <span>

#include <llvm/ADT/StringRef.h>

namespace torc::model {

struct Preset {
  llvm::StringRef name;  // of the file, without .json
  llvm::StringRef json;
};

/// In the order of model/BUILD.
std::span<const Preset> presets();

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_PRESETS_H_
