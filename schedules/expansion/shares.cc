// Cumulative color weights, and the elements of a part.
#include "schedules/expansion/shares.h"

#include <algorithm>

namespace torc {

PartTable::PartTable(const ScheduleView& schedule) {
  std::uint64_t sum = 0;
  for (std::uint32_t c = 0; c < schedule.colors.size(); ++c) {
    const Color& color = schedule.colors[c];
    colors_.push_back({sum, sum + color.weight, color.directions, color.chunks});
    sum += color.weight;
    for (std::uint32_t d = 0; d < color.directions; ++d) {
      for (std::uint32_t k = 0; k < color.chunks; ++k)
        parts_.push_back({c, d, k});
    }
  }
  if (sum > 0) denominator_ = sum;
}

Extent PartTable::extent(std::uint32_t part, const Extent& whole) const {
  const PartIndex& index = parts_[part];
  const ColorShare& color = colors_[index.color];
  const std::uint64_t begin = share(whole.length, color.begin, denominator_);
  const std::uint64_t end = share(whole.length, color.end, denominator_);
  const Extent of_color{whole.offset + begin, end - begin};
  const Extent of_direction = shareOf(of_color, index.direction, color.directions);
  return shareOf(of_direction, index.chunk, color.chunks);
}

Extent PartTable::extent(std::uint32_t part, std::uint32_t parts, const Extent& whole) const {
  const Extent first = extent(part, whole);
  if (parts == 1) return first;
  const Extent last = extent(part + parts - 1, whole);
  return {first.offset, last.offset + last.length - first.offset};
}

VectorShares::VectorShares(const ScheduleView& schedule) : schedule_(schedule) {
  double sum = 0;
  for (const Color& color : schedule.colors)
    sum += static_cast<double>(color.weight);
  for (const Color& color : schedule.colors) {
    const std::uint32_t parts = color.directions * color.chunks;
    const double share = static_cast<double>(color.weight) / sum / parts;
    parts_.insert(parts_.end(), parts, share);
  }
}

double VectorShares::of(const Region& region, const Coordinates& at) const {
  const Topology& topology = schedule_.topology;
  const BlockAxes axes = schedule_.blockAxes();
  // The block of a dead node has no owner if ranks own blocks; otherwise it is part of the vector.
  const bool owned = rowOf(schedule_.collective).layout == Layout::kBlockMajor;
  double share = 0;
  for (const Piece& piece : schedule_.piecesOf(region)) {
    const BlockRanges blocks = schedule_.blocksOf(piece.box, at);
    double parts = 0;
    for (std::uint32_t i = 0; i < piece.parts; ++i)
      parts += parts_[piece.part + i];
    share +=
        parts *
        static_cast<double>(owned ? liveVolume(blocks, axes, topology) : volume(blocks, axes)) /
        static_cast<double>(schedule_.vectorBlocks());
  }
  return share;
}

double VectorShares::scratch() const {
  std::vector<double> slots(schedule_.slot_count, 0.0);
  for (const Frame& frame : schedule_.frames)
    slots[frame.slot] = std::max(slots[frame.slot], of(wholeFrame(frame, kNone), {}));
  double sum = 0;
  for (const double slot : slots)
    sum += slot;
  return sum * schedule_.window / schedule_.segments;
}

}  // namespace torc
