// The bucket algorithm as a plan: ring reduce-scatters and allgathers, axis by axis.
#ifndef TORC_COMPILER_ALGORITHMS_BUCKET_BUCKET_H_
#define TORC_COMPILER_ALGORITHMS_BUCKET_BUCKET_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The plan of the bucket algorithm in a single color that visits the axes in their natural order,
/// the cores of a node first.
llvm::Expected<ir::Program> lowerBucket(const CollectiveSpec& spec);

/// The same plan with other operations: `divides` along one axis after another, if every node
/// begins with the whole vector, then `gathers` along them in reverse, if every node ends with it.
ir::Program planAxisByAxis(const CollectiveSpec& spec, ir::PlanKind divides, ir::PlanKind gathers);

/// Estimate of the program after the passes: in a color for each axis, and in one color.
ProgramSize estimateBucket(const CollectiveSpec& spec);
ProgramSize estimateBucketOfOneColor(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_BUCKET_BUCKET_H_
