// The page of `torc view`: one HTML file that needs no network, which holds its data.
#ifndef TORC_COMPILER_VIEW_PAGE_H_
#define TORC_COMPILER_VIEW_PAGE_H_

#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace torc::compiler {

/// The page that shows `json` (docs/schemas/view.schema.json): viewer/ with the data in it,
/// deflated. `title` heads it; `text` is for who has no scripts, cut where it is long. Errors: this
/// build of LLVM cannot compress.
llvm::Expected<std::string> viewPage(llvm::StringRef title, llvm::StringRef json,
                                     llvm::StringRef text);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_PAGE_H_
