// How large a program is, before it is built: what is too large is not tried.
#ifndef TORC_COMPILER_SPEC_PROGRAM_SIZE_H_
#define TORC_COMPILER_SPEC_PROGRAM_SIZE_H_

#include <cstdint>
#include <string>

#include "schedules/schedule.h"

namespace torc::compiler {

/// Steps of a proof that look through long lists, of a microsecond at most, that may be taken for
/// one schedule among others that are there to choose from; and for any that is compiled.
inline constexpr double kMostProofSteps = 6.1e6;
inline constexpr double kMaxProofSteps = 1.2e8;
/// Of the steps that the verifier counts (ir/verifier/verifier.h) for one to choose from: estimates
/// are half of what it takes, or twice.
inline constexpr double kMostCellSteps = 0.5e9;
/// Operations of a schedule before it is cut into chunks: its file has more than 100 MiB.
inline constexpr double kMaxPlannedOperations = 1 << 20;
/// Bytes of a schedule's file: of one that looks the same from every node, and of one that is a
/// list of the operations of single nodes.
inline constexpr double kMostFileBytes = 1 << 20;
inline constexpr double kMostFileBytesOfNodes = 4 << 20;

struct ProgramSize {
  double operations = 0;
  double pieces = 0;  // of lists of blocks
  double boxes = 0;
  double proof_steps = 0;  // that grow faster than the program; of one part
  double cell_steps = 0;   // of a proof where nodes differ; of all parts
  bool of_nodes = false;   // a list of the operations of single nodes
  bool in_loops = false;   // the file has most of the operations once for many iterations

  /// Bytes of the file if the program is cut into `chunks`, with two or three dependences of an
  /// operation. Boxes are those of the program uncut.
  double fileBytes(double chunks) const;
};

/// What of a program of that size is beyond what is compiled, as `its schedule would have about
/// 4e+06 operations, more than 1048576`; empty: nothing.
std::string beyondLimits(const ProgramSize& size);

/// The size of a program that is there; its proof is not estimated.
ProgramSize sizeOf(const ScheduleView& schedule);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_SPEC_PROGRAM_SIZE_H_
