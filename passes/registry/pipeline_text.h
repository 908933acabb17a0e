// The text of a pipeline: `assign-colors{weights=equal},expand-rings,pipeline{chunks=16}`.
//
//   pipeline = [ pass { "," pass } ]
//   pass     = name [ "{" [ option { "," option } ] "}" ]
//   option   = name "=" value
// Blanks are allowed between any two of these. Names and values are letters, digits, `-`, `_`, `.`.
#ifndef TORC_PASSES_REGISTRY_PIPELINE_TEXT_H_
#define TORC_PASSES_REGISTRY_PIPELINE_TEXT_H_

#include <memory>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "passes/manager/pass.h"

namespace torc::passes {

/// The passes of `text`, in order. Errors are one line and name the column:
/// `passes:1:15: error: there is no pass 'frob'; torc opt --list-passes names them`.
llvm::Expected<std::vector<std::unique_ptr<Pass>>> parsePipeline(llvm::StringRef text);

/// The text of `passes`; parsePipeline reads it back.
std::string pipelineText(llvm::ArrayRef<std::unique_ptr<Pass>> passes);

}  // namespace torc::passes

#endif  // TORC_PASSES_REGISTRY_PIPELINE_TEXT_H_
