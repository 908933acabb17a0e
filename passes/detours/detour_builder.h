// DetourBuilder: adds detours around damage to steps. Broken messages are dropped, and added
// operations are executed by single nodes, in streams of their own.
#ifndef TORC_PASSES_DETOURS_DETOUR_BUILDER_H_
#define TORC_PASSES_DETOURS_DETOUR_BUILDER_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>

#include "ir/step_builder.h"

namespace torc::passes {

/// `steps` with broken messages dropped.
Schedule droppingBroken(Schedule steps);

class DetourBuilder : public ir::StepBuilder {
 public:
  /// Has the tables of `steps`, but no operations.
  explicit DetourBuilder(const Schedule& steps);

  /// Stream and node of a detour of a stream's messages.
  ir::StepPlace at(std::uint32_t stream, const Coordinates& node);
  /// All of a new frame of these pieces, alone in its slot.
  Region newFrame(llvm::ArrayRef<Piece> pieces);

 private:
  llvm::DenseMap<std::uint32_t, std::uint32_t> streams_;  // of detours, by stream
};

}  // namespace torc::passes

#endif  // TORC_PASSES_DETOURS_DETOUR_BUILDER_H_
