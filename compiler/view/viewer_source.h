// The page of viewer/, which the build puts into the program.
#ifndef TORC_COMPILER_VIEW_VIEWER_SOURCE_H_
#define TORC_COMPILER_VIEW_VIEWER_SOURCE_H_

#include <llvm/ADT/StringRef.h>

namespace torc::compiler {

/// HTML with style and scripts in it, and @@TITLE@@, @@TEXT@@ and @@DATA@@ where these belong.
llvm::StringRef viewerSource();

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_VIEWER_SOURCE_H_
