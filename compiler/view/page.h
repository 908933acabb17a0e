// The page of `torc view`: one HTML file with its data, for use without a network.
#ifndef TORC_COMPILER_VIEW_PAGE_H_
#define TORC_COMPILER_VIEW_PAGE_H_

#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace torc::compiler {

/// The page for `json` (docs/schemas/view.schema.json): viewer/ with the compressed data. `title`
/// is its heading; `text`, cut to a maximal length, is for browsers without scripts. Errors: this
/// build of LLVM cannot compress.
llvm::Expected<std::string> viewPage(llvm::StringRef title, llvm::StringRef json,
                                     llvm::StringRef text);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_PAGE_H_
