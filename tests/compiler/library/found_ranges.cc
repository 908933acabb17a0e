// Finds ranges for tests.
#include "tests/compiler/library/found_ranges.h"

#include <mutex>
#include <span>

#include <gtest/gtest.h>

#include "compiler/progress_line.h"
#include "support/work_queue.h"

namespace torc::compiler {
namespace {

/// Finds ranges; the first error.
std::string findRanges(const PlannedShape& shape, Collective collective, const SizeRange& sizes,
                       std::uint32_t candidates, unsigned threads, const FileSink& sink,
                       std::vector<ScheduleRange>& ranges) {
  WorkQueue queue;
  Progress progress(/*quiet=*/true);
  RangeFinder finder(shape, collective, sizes, candidates, sink, queue, progress);
  finder.start();
  queue.run(threads);
  if (finder.error().empty()) ranges = finder.rangesFor(collective);
  return finder.error();
}

}  // namespace

Target target(llvm::StringRef shape) {
  return cantFail(readTarget(shape, "", "generic"));
}

PlannedShape shapeFor(llvm::StringRef name) {
  const Target whole = target(name);
  return {.topology = whole.topology, .machine = whole.machine, .sub_tori = 1};
}

std::string errorOf(const PlannedShape& shape, Collective collective, const SizeRange& sizes,
                    std::uint32_t candidates, unsigned threads, const FileSink& sink) {
  std::vector<ScheduleRange> ranges;
  return findRanges(shape, collective, sizes, candidates, threads, sink, ranges);
}

Found rangesOf(const PlannedShape& shape, Collective collective, const SizeRange& sizes,
               std::uint32_t candidates, unsigned threads) {
  Found found;
  std::mutex mutex;
  const FileSink sink = [&](const std::string& name, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex);
    found.files[name] = {bytes.begin(), bytes.end()};
    return llvm::Error::success();
  };
  EXPECT_EQ(findRanges(shape, collective, sizes, candidates, threads, sink, found.ranges), "");
  return found;
}

}  // namespace torc::compiler
