#include "runtime/job/contenders.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace torc::runtime {
namespace {

/// Doublings between `bytes` and the sizes of an entry.
double distance(const LibraryEntry& entry, std::uint64_t bytes) {
  const auto log = [](std::uint64_t size) { return std::log2(static_cast<double>(size) + 1); };
  if (bytes < entry.lowest) return log(entry.lowest) - log(bytes);
  return bytes > entry.highest ? log(bytes) - log(entry.highest) : 0;
}

}  // namespace

double typicalSeconds(std::span<const double> turns) {
  std::vector<double> sorted(turns.begin(), turns.end());
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 4];
}

double predictedSeconds(const LibraryEntry& entry, std::uint64_t bytes) {
  const double span = static_cast<double>(entry.predicted_to) - static_cast<double>(entry.lowest);
  if (span <= 0) return entry.lowest_s;
  const double way = (static_cast<double>(bytes) - static_cast<double>(entry.lowest)) / span;
  return entry.lowest_s + way * (entry.highest_s - entry.lowest_s);
}

std::size_t pickWinner(std::span<const double> seconds, std::size_t mpis,
                       std::span<const std::size_t> preferred) {
  const auto inProgram = [&](std::size_t i) { return seconds[i] + (i == mpis ? kHandingBack : 0); };
  double limit = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < seconds.size(); ++i)
    limit = std::min(limit, 1.03 * inProgram(i));
  for (const std::size_t contender : preferred) {
    if (inProgram(contender) <= limit) return contender;
  }
  std::size_t best = mpis;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (i != mpis && seconds[i] <= limit && (best == mpis || seconds[i] < seconds[best])) best = i;
  }
  return best;
}

std::vector<std::uint32_t> contenders(const LibraryIndex& index, std::uint32_t shape,
                                      Collective collective, std::uint64_t bytes) {
  std::vector<const LibraryEntry*> entries;
  for (const LibraryEntry& entry : index.entries) {
    if (entry.shape == shape && entry.collective == collective) entries.push_back(&entry);
  }
  std::ranges::stable_sort(entries, {},
                           [bytes](const LibraryEntry* entry) { return distance(*entry, bytes); });
  std::vector<std::uint32_t> files;
  const auto add = [&files](std::uint32_t file) {
    if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  };
  for (const LibraryEntry* entry : entries)
    add(entry->file);
  for (const LibraryCandidate& candidate : index.candidates) {
    if (candidate.shape == shape && candidate.collective == collective) add(candidate.file);
  }
  return files;
}

LibraryEntry entryOfContender(std::uint32_t shape, Collective collective, std::uint32_t file) {
  LibraryEntry entry;
  entry.shape = shape;
  entry.collective = collective;
  entry.lowest = entry.highest = kNoSize + 1;
  entry.file = file;
  return entry;
}

}  // namespace torc::runtime
