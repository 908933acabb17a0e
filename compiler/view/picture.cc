// Starts Chromium with a fixed list of arguments, by no shell.
#include "compiler/view/picture.h"

#include <llvm/ADT/ScopeExit.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>

#include "compiler/tool.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace {

constexpr unsigned kMostSeconds = 60;

/// The address of a file; characters that mean something in one are written by their numbers.
std::string addressOf(llvm::StringRef path) {
  std::string address = "file://";
  for (const char letter : path) {
    if (llvm::isAlnum(letter) || llvm::StringRef("/-._~").contains(letter)) {
      address += letter;
    } else {
      address += '%';
      address += llvm::toHex(llvm::StringRef(&letter, 1));
    }
  }
  return address;
}

}  // namespace

llvm::Expected<std::string> findChromium() {
  llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName("chromium");
  if (!path) return makeError("view: --png needs chromium, and there is none on PATH");
  return *path;
}

llvm::Expected<std::string> pictureOf(llvm::StringRef page, llvm::StringRef chromium) {
  namespace fs = llvm::sys::fs;
  llvm::SmallString<128> file(page);
  if (const std::error_code error = fs::make_absolute(file))
    return makeError("cannot find '" + page.str() + "': " + error.message());
  llvm::SmallString<128> folder;
  if (const std::error_code error = fs::createUniqueDirectory("torc-view", folder))
    return makeError("cannot make a folder for chromium: " + error.message());
  const auto remove = llvm::make_scope_exit([&] { fs::remove_directories(folder); });
  llvm::SmallString<128> picture = folder;
  llvm::sys::path::append(picture, "page.png");
  const std::string profile = "--user-data-dir=" + folder.str().str(),
                    screenshot = "--screenshot=" + picture.str().str(), address = addressOf(file);
  const llvm::StringRef arguments[] = {chromium,
                                       "--headless=new",
                                       "--no-sandbox",
                                       "--disable-gpu",
                                       "--hide-scrollbars",
                                       "--host-resolver-rules=MAP * ~NOTFOUND",
                                       "--window-size=1400,1850",
                                       "--virtual-time-budget=8000",
                                       profile,
                                       screenshot,
                                       address};
  const std::optional<llvm::StringRef> nowhere[] = {"", "", ""};
  std::string fault;
  llvm::sys::ExecuteAndWait(chromium, arguments, std::nullopt, nowhere, kMostSeconds, 0, &fault);
  llvm::Expected<std::string> png = readBytes(picture);
  if (!png) {
    llvm::consumeError(png.takeError());
    return makeError("chromium has drawn no picture" + (fault.empty() ? "" : ": " + fault));
  }
  return png;
}

}  // namespace torc::compiler
