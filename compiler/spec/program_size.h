// Estimates of a program's size before it is built, and limits for candidates.
#ifndef TORC_COMPILER_SPEC_PROGRAM_SIZE_H_
#define TORC_COMPILER_SPEC_PROGRAM_SIZE_H_

#include <cstdint>
#include <string>

#include "schedules/schedule.h"

namespace torc::compiler {

/// Steps of a proof that search long lists, at most a microsecond each: the limit for a candidate,
/// and the limit for any compilation.
inline constexpr double kMostProofSteps = 6.1e6;
inline constexpr double kMaxProofSteps = 1.2e8;
/// Limit of the verifier's counted steps (ir/verifier/verifier.h) for a candidate: estimates are
/// within a factor of two.
inline constexpr double kMostCellSteps = 0.5e9;
/// Limit of operations before the schedule is cut into chunks: more make a file above 100 MiB.
inline constexpr double kMaxPlannedOperations = 1 << 20;
/// Limit of a schedule file's bytes: for operations that are equal on all nodes, and for a list of
/// operations of single nodes.
inline constexpr double kMostFileBytes = 1 << 20;
inline constexpr double kMostFileBytesOfNodes = 4 << 20;

struct ProgramSize {
  double operations = 0;
  double pieces = 0;  // of lists of blocks
  double boxes = 0;
  double proof_steps = 0;  // that grow faster than the program; for one part
  double cell_steps = 0;   // of a proof with different nodes; for all parts
  bool of_nodes = false;   // a list of the operations of single nodes
  bool in_loops = false;   // the file has most of the operations once for many iterations

  /// Bytes of the file if the program is cut into `chunks`, with two or three dependences per
  /// operation. Boxes are those of the uncut program.
  double fileBytes(double chunks) const;
};

/// The exceeded limit for a program of that size, as `its schedule would have about 4e+06
/// operations, more than 1048576`; empty if there is none.
std::string beyondLimits(const ProgramSize& size);

/// The size of an existing program, without an estimate of its proof.
ProgramSize sizeOf(const ScheduleView& schedule);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_SPEC_PROGRAM_SIZE_H_
