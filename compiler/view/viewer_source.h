// The page of viewer/, embedded into the program by the build.
#ifndef TORC_COMPILER_VIEW_VIEWER_SOURCE_H_
#define TORC_COMPILER_VIEW_VIEWER_SOURCE_H_

#include <llvm/ADT/StringRef.h>

namespace torc::compiler {

/// HTML with style and scripts, and the placeholders @@TITLE@@, @@TEXT@@ and @@DATA@@.
llvm::StringRef viewerSource();

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_VIEWER_SOURCE_H_
