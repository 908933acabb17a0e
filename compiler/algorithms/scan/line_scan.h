// Scan and exscan as a pipeline between neighbours, for long vectors: prefixes go up along the
// lines of one axis after another, and the prefix of a line comes back down along it, around
// damage.
#ifndef TORC_COMPILER_ALGORITHMS_SCAN_LINE_SCAN_H_
#define TORC_COMPILER_ALGORITHMS_SCAN_LINE_SCAN_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The steps of a scan or an exscan for one segment.
llvm::Expected<ir::Program> lowerLineScan(const CollectiveSpec& spec);

/// Up along all axes, and down along all but the last: the whole vector on each link of the path.
TreePipeline lineScanPipeline(const Topology& topology);

ProgramSize estimateLineScan(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCAN_LINE_SCAN_H_
