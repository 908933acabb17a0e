// How large a program is, before it is built: what is too large is not tried.
#ifndef TORC_COMPILER_ALGORITHMS_PROGRAM_SIZE_H_
#define TORC_COMPILER_ALGORITHMS_PROGRAM_SIZE_H_

#include <cstdint>

#include "schedules/schedule.h"

namespace torc::compiler {

/// Steps of a proof, of a microsecond at most, that may be taken for one schedule.
inline constexpr double kMostProofSteps = 6.1e6;
/// Bytes of a schedule's file: of one that looks the same from every node, and of one that is a
/// list of the operations of single nodes.
inline constexpr double kMostFileBytes = 1 << 20;
inline constexpr double kMostFileBytesOfNodes = 4 << 20;

struct ProgramSize {
  double operations = 0;
  double pieces = 0;  // of lists of blocks
  double boxes = 0;
  double proof_steps = 0;  // that grow faster than the program; of one part

  /// Bytes of the file if the program is cut into `chunks`, with two or three dependences of an
  /// operation. Boxes are those of the program uncut.
  double fileBytes(double chunks) const;
};

/// The size of a program that is there; its proof is not estimated.
ProgramSize sizeOf(const ScheduleView& schedule);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_PROGRAM_SIZE_H_
