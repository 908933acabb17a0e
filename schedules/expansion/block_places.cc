// Sums over blocks.
#include "schedules/expansion/block_places.h"

#include <algorithm>

#include "support/message.h"

namespace torc {
namespace {

Status overflow() {
  return {StatusCode::kOverflow, "the elements of all blocks do not fit 63 bits"};
}

}  // namespace

Status BlockPlaces::prepare(std::uint64_t ranks, const char* of) {
  end_ = 0;
  packed_.clear();
  for (const auto& table : {per_rank_, displacements_}) {
    if (!table.empty() && table.size() != ranks) {
      return {StatusCode::kMismatch,
              message("counts for ", table.size(), " ", of, ", schedule has ", ranks)};
    }
  }
  if (inRow()) {
    if (count_ > kMaxElements / ranks) return overflow();
    end_ = count_ * ranks;
    return {};
  }
  const bool packed = displacements_.empty();
  if (packed) packed_.reserve(ranks);
  std::uint64_t total = 0;
  for (std::uint64_t r = 0; r < ranks; ++r) {
    if (packed) packed_.push_back(total);
    const std::uint64_t count = alike() ? count_ : per_rank_[r];
    const std::uint64_t offset = packed ? total : displacements_[r];
    if (count > kMaxElements - total || offset > kMaxElements || count > kMaxElements - offset) {
      return overflow();
    }
    total += count;
    if (count > 0) end_ = std::max(end_, offset + count);
  }
  return {};
}

}  // namespace torc
