// Scan and exscan as a pipeline from neighbour to neighbour, for long vectors: prefixes go up along
// the lines of one axis after another, and what comes before a line comes back down along it, round
// what is dead.
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

/// Up along all axes, and down along all but the last: the whole vector on each link of the way.
TreePipeline lineScanPipeline(const Topology& topology);

ProgramSize estimateLineScan(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCAN_LINE_SCAN_H_
