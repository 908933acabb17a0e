// Makes a picture of a page with a browser without a window.
#ifndef TORC_COMPILER_VIEW_PICTURE_H_
#define TORC_COMPILER_VIEW_PICTURE_H_

#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace torc::compiler {

/// The path of Chromium. Errors: PATH has none.
llvm::Expected<std::string> findChromium();

/// The PNG of the top of the page in the file `page`, 1400 pixels wide and 1850 high, drawn by
/// `chromium` without a network. Errors: it draws nothing within a minute, it fails, or its output
/// is no PNG. A signal that ends torc takes effect after the browser and its files are gone.
llvm::Expected<std::string> pictureOf(llvm::StringRef page, llvm::StringRef chromium);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_PICTURE_H_
