// Fills the template of viewer/.
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Base64.h>
#include <llvm/Support/Compression.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/view/schedule_page.h"
#include "compiler/view/viewer_source.h"
#include "ir/make_error.h"
#include "support/version.h"

namespace torc::compiler {
namespace {

// Length of the text for browsers without scripts.
constexpr std::size_t kMostText = 40'000;
/// The version of the page's data.
constexpr int kViewVersion = 1;

std::string escaped(llvm::StringRef text) {
  std::string html;
  llvm::raw_string_ostream out(html);
  llvm::printHTMLEscaped(text, out);
  return html;
}

}  // namespace

llvm::Expected<std::string> viewPage(llvm::StringRef title, const char* key,
                                     nlohmann::ordered_json data, llvm::StringRef text) {
  namespace zlib = llvm::compression::zlib;
  if (!zlib::isAvailable()) return makeError("view: LLVM was built without zlib");
  const nlohmann::ordered_json document = {
      {"torc_view", kViewVersion}, {"torc", kVersion}, {key, std::move(data)}};
  llvm::SmallVector<std::uint8_t, 0> deflated;
  zlib::compress(llvm::arrayRefFromStringRef(documentText(document)), deflated,
                 zlib::BestSizeCompression);
  std::string shown = escaped(text.take_front(kMostText));
  if (text.size() > kMostText) shown += "\n... (torc dump prints all of it)";

  std::string page;
  llvm::StringRef rest = viewerSource();
  while (!rest.empty()) {
    const auto [before, behind] = rest.split("@@");
    const auto [name, after] = behind.split("@@");
    page += before;
    if (name == "TITLE") page += escaped(title);
    if (name == "TEXT") page += shown;
    if (name == "DATA") page += llvm::encodeBase64(deflated);
    rest = after;
  }
  return page;
}

}  // namespace torc::compiler
