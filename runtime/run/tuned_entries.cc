#include "runtime/run/tuned_entries.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/job/contenders.h"
#include "support/columns.h"

namespace torc::runtime {
namespace {

using Measurements = std::span<const LibraryMeasurement>;

/// A size with what serves it.
struct Winner {
  std::uint64_t bytes = 0;
  std::uint32_t file = 0;
  double seconds = 0;
  std::string reason;
};

std::string nameOf(const LibraryIndex& index, std::uint32_t file) {
  return file == kMpisOwn ? "MPI's own" : index.files[file].name;
}

/// Seconds of a program's call.
double callSeconds(const LibraryMeasurement& measured) {
  return measured.seconds + (measured.file == kMpisOwn ? 0 : kCallAdds);
}

std::string microseconds(double seconds) {
  return formatted("%.2f us", 1e6 * seconds);
}

/// That of `file`; nullptr where it was not measured.
const LibraryMeasurement* measurementOf(Measurements of_size, std::uint32_t file) {
  const auto found = std::ranges::find(of_size, file, &LibraryMeasurement::file);
  return found == of_size.end() ? nullptr : &*found;
}

/// Of one size. `before`: the winner of the size below, if there is one.
Winner winnerOf(const LibraryIndex& index, Measurements of_size, const Winner* before) {
  const LibraryMeasurement& fastest = *std::ranges::min_element(of_size, {}, callSeconds);
  const auto isAsFast = [&](std::uint32_t file) {
    const LibraryMeasurement* measured = measurementOf(of_size, file);
    return measured != nullptr && callSeconds(*measured) <= kAsFast * callSeconds(fastest);
  };
  const LibraryMeasurement* best_schedule = nullptr;
  for (const LibraryMeasurement& measured : of_size) {
    if (measured.file == kMpisOwn) continue;
    if (best_schedule == nullptr || measured.seconds < best_schedule->seconds) {
      best_schedule = &measured;
    }
  }
  Winner winner{.bytes = fastest.bytes, .file = fastest.file, .seconds = 0, .reason = {}};
  if (best_schedule != nullptr && isAsFast(best_schedule->file)) winner.file = best_schedule->file;
  if (before != nullptr && isAsFast(before->file)) winner.file = before->file;
  for (const LibraryEntry& entry : index.entries) {
    if (entry.shape == fastest.shape && entry.collective == fastest.collective &&
        entry.lowest <= fastest.bytes && fastest.bytes <= entry.highest && isAsFast(entry.file)) {
      winner.file = entry.file;
    }
  }
  winner.seconds = measurementOf(of_size, winner.file)->seconds;
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
  const LibraryMeasurement* mpi = measurementOf(of_size, kMpisOwn);
  if (mpi != nullptr && winner.file != kMpisOwn && next != mpi) {
    winner.reason += "; MPI's own " + microseconds(mpi->seconds);
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
