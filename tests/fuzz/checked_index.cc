// Reads bytes as a library's index, looks up its content and writes it again.
#include <algorithm>
#include <array>
#include <cstdint>

#include "schedules/library/index.h"
#include "tests/fuzz/checked.h"

namespace torc::fuzz {
namespace {

/// Whether an entry of the index is the one for the sizes of its range.
bool isFound(const LibraryIndex& index, const LibraryEntry& entry) {
  return std::ranges::all_of(
      std::array{entry.lowest, entry.predicted_to, entry.highest}, [&](std::uint64_t bytes) {
        return index.findEntry(entry.shape, entry.collective, bytes) == &entry;
      });
}

/// What is wrong with an index that was accepted; empty: nothing.
std::string indexFault(const LibraryIndex& index, std::span<const std::byte> bytes) {
  if (const Status status = validate(index); !status.ok()) return status.message();
  if (!std::ranges::equal(writeLibraryIndex(index), bytes)) {
    return "gives other bytes when it is written again";
  }
  for (const LibrarySubTorus& sub_torus : index.sub_tori) {
    if (index.findSubTorus(sub_torus.partition, sub_torus.extents) != &sub_torus)
      return "a sub-torus is not found";
  }
  for (const LibraryEntry& entry : index.tuned) {
    if (!isFound(index, entry)) return "a tuned entry is not found";
    if (entry.file >= index.files.size() && entry.file != kMpisOwn) {
      return "a tuned entry has no file";
    }
  }
  LibraryIndex untuned = index;
  untuned.tuned.clear();
  for (const LibraryEntry& entry : untuned.entries) {
    if (!isFound(untuned, entry)) return "an entry is not found";
    if (entry.file >= index.files.size()) return "an entry has no file";
  }
  for (const LibraryCandidate& candidate : index.candidates) {
    if (candidate.file >= index.files.size()) return "a candidate has no file";
  }
  for (const LibraryFile& file_entry : index.files) {
    if (file_entry.name.find('/') != std::string::npos) return "a file's name has a slash";
  }
  return {};
}

}  // namespace

Outcome checkIndex(std::span<const std::byte> bytes) {
  Outcome outcome;
  const StatusOr<LibraryIndex> index = readLibraryIndex(bytes, "i");
  outcome.accepted = index.ok();
  if (outcome.accepted) {
    outcome.violation = indexFault(*index, bytes);
    return outcome;
  }
  outcome.refusal = index.status().message();
  const bool is_line =
      std::ranges::all_of(outcome.refusal, [](char c) { return c >= ' ' && c <= '~'; });
  if (!is_line || !outcome.refusal.starts_with("i: ")) {
    outcome.violation = "refused with: " + outcome.refusal;
  }
  return outcome;
}

}  // namespace torc::fuzz
