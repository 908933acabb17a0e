// The text of a pipeline: `assign-colors{weights=equal},expand-rings,pipeline{chunks=16}`.
//
//   pipeline = [ pass { "," pass } ]
//   pass     = name [ "{" [ option { "," option } ] "}" ]
//   option   = name "=" value
// Blanks may stand between any two of these. Names and values are letters, digits, `-`, `_`, `.`.
#ifndef TORC_PASSES_PIPELINE_TEXT_H_
#define TORC_PASSES_PIPELINE_TEXT_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "passes/pass_manager.h"

namespace torc {

/// Adds the passes of `text` to `manager`. Errors are one line and name the column:
/// `passes:1:15: error: there is no pass 'frob'; torc opt --list-passes names them`.
llvm::Error parsePipeline(llvm::StringRef text, PassManager& manager);

}  // namespace torc

#endif  // TORC_PASSES_PIPELINE_TEXT_H_
