// Parses and prints sizes.
#include "compiler/sizes.h"

#include <algorithm>

#include <llvm/ADT/StringExtras.h>

#include "ir/make_error.h"
#include "support/setting_values.h"

namespace torc::compiler {

std::vector<std::uint64_t> SizeRange::sizes() const {
  std::vector<std::uint64_t> listed;
  for (std::uint64_t size = lowest; size < highest; size = std::max<std::uint64_t>(1, size * 2))
    listed.push_back(size);
  listed.push_back(highest);
  return listed;
}

llvm::Expected<std::uint64_t> parseSize(llvm::StringRef text, llvm::StringRef option) {
  if (const std::optional<std::uint64_t> bytes = parseBytes({text.data(), text.size()}))
    return *bytes;
  return makeError(option + ": '" + text + "' is not a size; write 64K, 16M or 1G (at most 1024G)");
}

llvm::Expected<SizeRange> parseSizeRange(llvm::StringRef text, llvm::StringRef option) {
  const std::size_t colon = text.find(':');
  llvm::Expected<std::uint64_t> lowest = parseSize(text.substr(0, colon), option);
  if (!lowest) return lowest.takeError();
  if (colon == llvm::StringRef::npos) return SizeRange{*lowest, *lowest};
  llvm::Expected<std::uint64_t> highest = parseSize(text.substr(colon + 1), option);
  if (!highest) return highest.takeError();
  if (*lowest > *highest) {
    return makeError(option + " " + text + ": the first size is the larger one");
  }
  return SizeRange{*lowest, *highest};
}

llvm::Expected<std::vector<std::uint64_t>> parseSizeList(llvm::StringRef text,
                                                         llvm::StringRef option) {
  std::vector<std::uint64_t> listed;
  for (llvm::StringRef one : llvm::split(text, ',')) {
    llvm::Expected<SizeRange> range = parseSizeRange(one, option);
    if (!range) return range.takeError();
    const std::vector<std::uint64_t> sizes = range->sizes();
    listed.insert(listed.end(), sizes.begin(), sizes.end());
  }
  return listed;
}

std::string sizeText(std::uint64_t bytes) {
  return bytesText(bytes);
}

}  // namespace torc::compiler
