// A hash table with open addressing: a rank of a large torus forwards millions of blocks.
#include "schedules/expansion/pair_counts.h"

#include <utility>

namespace torc {

std::size_t PairCounts::find(std::uint64_t pair) const {
  const std::size_t mask = entries_.size() - 1;
  std::uint64_t mixed = pair * 0x9e3779b97f4a7c15u;
  mixed ^= mixed >> 32;
  std::size_t at = static_cast<std::size_t>(mixed) & mask;
  while (entries_[at].pair != pair && entries_[at].pair != kNobody)
    at = (at + 1) & mask;
  return at;
}

void PairCounts::grow() {
  std::vector<Entry> before(entries_.empty() ? 64 : 2 * entries_.size());
  std::swap(before, entries_);
  for (const Entry& entry : before) {
    if (entry.pair != kNobody) entries_[find(entry.pair)] = entry;
  }
}

void PairCounts::set(std::int32_t source, std::int32_t destination, std::uint64_t elements) {
  if (2 * (size_ + 1) > entries_.size()) grow();
  const std::uint64_t pair = pairOf(source, destination);
  Entry& entry = entries_[find(pair)];
  if (entry.pair == kNobody) ++size_;
  entry = {pair, elements};
}

std::uint64_t PairCounts::countOf(std::int32_t source, std::int32_t destination) const {
  if (entries_.empty()) return 0;
  return entries_[find(pairOf(source, destination))].elements;
}

}  // namespace torc
