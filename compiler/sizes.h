// Sizes on the command line: 4096, 64K, 3MB, 1GiB (powers of 1024), and ranges of them.
#ifndef TORC_COMPILER_SIZES_H_
#define TORC_COMPILER_SIZES_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace torc::compiler {

/// Sizes in bytes, both included; equal for a single size.
struct SizeRange {
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;

  /// `lowest`, its doubles below `highest`, and `highest`. After 0 comes 1.
  std::vector<std::uint64_t> sizes() const;
};

/// Parses "64K", at most 1024G; errors name `option`.
llvm::Expected<std::uint64_t> parseSize(llvm::StringRef text, llvm::StringRef option);

/// Parses "64K" or "64K:16M".
llvm::Expected<SizeRange> parseSizeRange(llvm::StringRef text, llvm::StringRef option);

/// Parses sizes and ranges, separated by commas, like "1K,64K:1M": all their sizes, in this order.
llvm::Expected<std::vector<std::uint64_t>> parseSizeList(llvm::StringRef text,
                                                         llvm::StringRef option);

/// "64K", "3M", "1000": in the largest unit that divides the size.
std::string sizeText(std::uint64_t bytes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_SIZES_H_
