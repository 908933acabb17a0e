// Shares of colors as whole chunks.
#include "ir/exchange/writers/msccl_chunks.h"

#include <algorithm>
#include <numeric>

#include "ir/make_error.h"

namespace torc::ir {

llvm::Expected<std::uint64_t> wholeCount(const ScheduleView& schedule) {
  using Wide = unsigned __int128;
  constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;
  std::uint64_t weights = 0, count = 1;
  for (const Color& color : schedule.colors)
    weights += color.weight;
  // Part-major, the blocks of a part are shares of it; else a block is what is counted.
  const bool cuts_blocks = rowOf(schedule.collective).layout == Layout::kPartMajor;
  for (const Color& color : schedule.colors) {
    const Wide pieces = Wide{color.directions} * color.chunks * schedule.segments *
                        (cuts_blocks ? schedule.topology.sites() : 1);
    // The least multiple of `weights` x `pieces` over what it has in common with the weight.
    const std::uint64_t in_weights = std::gcd(color.weight, weights);
    const Wide in_pieces = std::gcd(color.weight / in_weights, static_cast<std::uint64_t>(pieces));
    const Wide least = weights / in_weights * (pieces / in_pieces);
    const Wide both = least > kMostElements
                          ? least
                          : least / std::gcd(static_cast<std::uint64_t>(least), count) * count;
    if (both > kMostElements) {
      return makeError(
          "the colors' shares are not whole in 2^40 chunks of the vector (torc compile "
          "--weights equal makes simple ones)");
    }
    count = static_cast<std::uint64_t>(both);
  }
  return count;
}

std::uint64_t commonDivisor(const FlatProgram& program, std::uint64_t divisor) {
  const auto add = [&](std::uint64_t number) { divisor = std::gcd(divisor, number); };
  add(program.in_elements);
  add(program.out_elements);
  for (const StridedExtent& extent : program.extents) {
    add(extent.offset);
    add(extent.length);
  }
  for (const RunLoop& loop : program.loops) {
    add(loop.stride);
    add(loop.back);
  }
  return divisor;
}

ChunkRuns runsOf(const FlatProgram& program, const FlatRegion& region, std::uint64_t chunk) {
  ChunkRuns runs;
  for (const Extent& extent : program.extentsOf(region)) {
    const ChunkRun run{extent.offset / chunk, extent.length / chunk};
    if (!runs.empty() && runs.back().first + runs.back().count == run.first) {
      runs.back().count += run.count;
    } else {
      runs.push_back(run);
    }
  }
  return runs;
}

std::vector<std::uint64_t> commonRuns(llvm::ArrayRef<ChunkRuns> lists) {
  std::vector<std::uint64_t> ends;
  for (const ChunkRuns& runs : lists) {
    std::uint64_t end = 0;
    for (const ChunkRun& run : runs)
      ends.push_back(end += run.count);
  }
  std::sort(ends.begin(), ends.end());
  std::vector<std::uint64_t> lengths;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends) {
    for (; begin < end; begin += lengths.back())
      lengths.push_back(std::min(end - begin, kMostChunksOfStep));
  }
  return lengths;
}

}  // namespace torc::ir
