#include "runtime/run/tuned_entries.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/job/contenders.h"
#include "support/columns.h"

namespace torc::runtime {
namespace {

using Measurements = std::span<const LibraryMeasurement>;

/// A size with its server.
struct Winner {
  std::uint64_t bytes = 0;
  std::uint32_t file = 0;
  double seconds = 0;
  std::string reason;
};

std::string nameOf(const LibraryIndex& index, std::uint32_t file) {
  return file == kMpisOwn ? "MPI's own" : index.files[file].name;
}

std::string microseconds(double seconds) {
  return formatted("%.2f us", 1e6 * seconds);
}

/// The index of the measurement of `file`; the end if it was not measured.
std::size_t numberOf(Measurements of_size, std::uint32_t file) {
  const auto found = std::ranges::find(of_size, file, &LibraryMeasurement::file);
  return static_cast<std::size_t>(found - of_size.begin());
}

/// For one size. `before`: the winner of the next smaller size, if any.
Winner winnerOf(const LibraryIndex& index, Measurements of_size, const Winner* before) {
  std::vector<double> seconds;
  for (const LibraryMeasurement& measured : of_size)
    seconds.push_back(measured.seconds);
  std::vector<std::size_t> preferred;
  const auto prefer = [&](std::uint32_t file) {
    const std::size_t number = numberOf(of_size, file);
    if (number < of_size.size()) preferred.push_back(number);
  };
  const LibraryMeasurement& what = of_size.front();
  for (const LibraryEntry& entry : index.entries) {
    if (entry.shape == what.shape && entry.collective == what.collective &&
        entry.lowest <= what.bytes && what.bytes <= entry.highest) {
      prefer(entry.file);
    }
  }
  if (before != nullptr) prefer(before->file);
  const std::size_t mpis = numberOf(of_size, kMpisOwn);
  const LibraryMeasurement& won = of_size[pickWinner(seconds, mpis, preferred)];
  Winner winner{what.bytes, won.file, won.seconds, {}};
  winner.reason =
      "measured " + microseconds(winner.seconds) + " at " + std::to_string(winner.bytes);
  const LibraryMeasurement* next = nullptr;
  for (const LibraryMeasurement& measured : of_size) {
    if (measured.file == winner.file) continue;
    if (next == nullptr || measured.seconds < next->seconds) next = &measured;
  }
  if (next != nullptr) {
    winner.reason +=
        "; the next, " + nameOf(index, next->file) + ", " + microseconds(next->seconds);
  }
  if (mpis < of_size.size() && winner.file != kMpisOwn && next != &of_size[mpis]) {
    winner.reason += "; MPI's own " + microseconds(of_size[mpis].seconds);
  }
  return winner;
}

std::uint64_t between(std::uint64_t low, std::uint64_t high) {
  const double mean = std::sqrt(static_cast<double>(low) * static_cast<double>(high));
  return std::clamp(static_cast<std::uint64_t>(mean), low, high - 1);
}

}  // namespace

std::vector<LibraryEntry> tunedEntries(const LibraryIndex& index, Measurements measurements,
                                       std::uint64_t asked) {
  if (measurements.empty()) return {};
  std::vector<Winner> winners;
  for (auto rest = measurements; !rest.empty();) {
    const auto end = std::ranges::find_if(rest, [&](const LibraryMeasurement& measured) {
      return measured.bytes != rest.front().bytes;
    });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    winners.push_back(
        winnerOf(index, rest.first(count), winners.empty() ? nullptr : &winners.back()));
    rest = rest.subspan(count);
  }
  const LibraryMeasurement& what = measurements.front();
  std::uint64_t lowest = winners.front().bytes, highest = winners.back().bytes;
  for (const LibraryEntry& entry : index.entries) {
    if (entry.shape != what.shape || entry.collective != what.collective) continue;
    if (entry.highest > kNoSize) lowest = std::min(lowest, std::max(entry.lowest, kNoSize + 1));
    if (winners.back().bytes >= asked) highest = std::max(highest, entry.highest);
  }
  std::vector<LibraryEntry> entries;
  for (std::size_t i = 0; i < winners.size(); ++i) {
    const Winner& winner = winners[i];
    const bool is_last = i + 1 == winners.size();
    if (i == 0 || winner.file != winners[i - 1].file) {
      entries.push_back({.shape = what.shape,
                         .collective = what.collective,
                         .lowest = i == 0 ? lowest : entries.back().highest + 1,
                         .highest = 0,
                         .file = winner.file,
                         .predicted_to = 0,
                         .lowest_s = winner.seconds,
                         .highest_s = 0,
                         .reason = winner.reason});
    }
    LibraryEntry& entry = entries.back();
    entry.highest = is_last ? highest : between(winner.bytes, winners[i + 1].bytes);
    entry.predicted_to = entry.highest == kOpenEnd ? winner.bytes : entry.highest;
    entry.highest_s = winner.seconds;
  }
  return entries;
}

}  // namespace torc::runtime
