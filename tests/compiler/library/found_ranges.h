// Ranges of sizes for tests: found on a small shape, with their files in memory.
#ifndef TORC_TESTS_COMPILER_LIBRARY_FOUND_RANGES_H_
#define TORC_TESTS_COMPILER_LIBRARY_FOUND_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>

#include "compiler/library/library_shapes.h"
#include "compiler/library/ranges.h"
#include "compiler/sizes.h"
#include "compiler/target.h"

namespace torc::compiler {

Target target(llvm::StringRef shape);
PlannedShape shapeFor(llvm::StringRef name);

/// The ranges of one collective on a shape, with the files that they name.
struct Found {
  std::vector<ScheduleRange> ranges;
  std::map<std::string, std::vector<std::byte>> files;
};

Found rangesOf(const PlannedShape& shape, Collective collective, const SizeRange& sizes,
               std::uint32_t candidates = 1, unsigned threads = 2);
/// The first error of finding them with `sink` as the receiver of files.
std::string errorOf(const PlannedShape& shape, Collective collective, const SizeRange& sizes,
                    std::uint32_t candidates, unsigned threads, const FileSink& sink);

}  // namespace torc::compiler

#endif  // TORC_TESTS_COMPILER_LIBRARY_FOUND_RANGES_H_
