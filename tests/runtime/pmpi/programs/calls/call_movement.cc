// Collectives that move data: which block goes where, in which spelling.
#include <algorithm>
#include <numeric>

#include "tests/runtime/pmpi/programs/calls/call.h"
#include "tests/runtime/pmpi/programs/calls/mpi_faults.h"

namespace programs {

void Extent::include(const Block& block) {
  if (block.elements == 0) return;
  const Layout& layout = *block.layout;
  const int64_t last = block.at + (block.elements - 1) * layout.extent;
  const bool is_empty = low == high;
  low = is_empty ? block.at + layout.lowest : std::min(low, block.at + layout.lowest);
  high = is_empty ? last + layout.highest : std::max(high, last + layout.highest);
}

int64_t Call::unitsOf(int source, int dest) const {
  if (!shape_.collective->uneven || shape_.units == 0) return shape_.units;
  uint64_t drawn = 0;
  switch (shape_.collective->flow) {
    case Flow::kGather:
    case Flow::kAllgather:
      drawn = mix(shape_.key, source);
      break;
    case Flow::kScatter:
      drawn = mix(shape_.key, dest);
      break;
    default:
      // What is exchanged in place has one size in both directions.
      drawn = shape_.in_place ? mix(shape_.key, std::min(source, dest), std::max(source, dest))
                              : mix(shape_.key, source, dest);
      break;
  }
  if (drawn % 5 == 0) return 0;
  return static_cast<int64_t>((drawn >> 8) % static_cast<uint64_t>(2 * shape_.units + 1));
}

const Layout& Call::spelling(int side, int peer) const {
  return shape_.spellings[mix(shape_.key, rank_, side, peer) % shape_.spellings.size()];
}

Block Call::block(int side, int peer, int source, int dest) const {
  Block block;
  block.layout = &spelling(side, shape_.collective->each_type ? peer : 0);
  block.elements = unitsOf(source, dest) * shape_.unitAtoms() / block.layout->atomCount();
  block.source = source;
  block.dest = dest;
  return block;
}

/// Gives each block its place. `first`: elements that stay free at the beginning of an uneven list.
Extent Call::place(Side& side, int64_t first) const {
  const bool scattered = side.for_each_rank && shape_.collective->uneven;
  std::vector<size_t> order(side.blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Random random(mix(shape_.key, rank_, 77));
  if (scattered) random.shuffle(order);
  int64_t cursor = 0;
  Extent extent;
  if (scattered) cursor = first * side.blocks.front().layout->extent;
  for (const size_t i : order) {
    Block& block = side.blocks[i];
    const Layout& layout = *block.layout;
    block.at = cursor;
    cursor += block.elements * layout.extent;
    // Alltoallw counts in bytes, others in elements of the one layout.
    if (scattered && shape_.collective->each_type) {
      block.at = (cursor - block.elements * layout.extent - layout.lowest + 15) / 16 * 16;
      cursor = block.at + block.elements * layout.extent + 16 * random.below(3);
    } else if (scattered) {
      cursor += layout.extent * random.below(3);
    }
    extent.include(block);
  }
  return extent;
}

/// Whether the contribution may lie at the beginning of the result: not where a rank's own block
/// is, into which MPI copies it. Other ranks' blocks may come to lie there: strictly, MPI forbids
/// that too, but MPICH does not mind, and there are programs that do it.
bool Call::mayShare(Extent in) const {
  Extent own;
  own.include(out_.blocks[rank_]);
  return !in.overlaps(own) && in_.blocks[0].elements > 0;
}

void Call::passCounts(const Side& side, int number) {
  if (side.memory == nullptr) return;
  const auto pass = [&](auto& numbers) {
    auto& counts = number == 1 ? numbers.in_counts : numbers.counts;
    auto& displacements = number == 1 ? numbers.in_displacements : numbers.displacements;
    auto& count = number == 1 ? numbers.in_count : numbers.count;
    count = static_cast<std::decay_t<decltype(count)>>(side.blocks.front().elements);
    if (!side.for_each_rank || !shape_.collective->uneven) return;
    for (const Block& block : side.blocks) {
      const int64_t unit = shape_.collective->each_type ? 1 : block.layout->extent;
      counts.push_back(static_cast<std::decay_t<decltype(count)>>(block.elements));
      displacements.push_back(
          static_cast<typename std::decay_t<decltype(displacements)>::value_type>(block.at / unit));
    }
  };
  pass(arguments_.narrow);
  pass(arguments_.large);
}

void Call::layOutMovement() {
  const Flow flow = shape_.collective->flow;
  if (flow == Flow::kNothing) return;
  const auto forEach = [&](Side& side, int number, bool outgoing) {
    side.for_each_rank = true;
    for (int peer = 0; peer < size_; ++peer)
      side.blocks.push_back(block(number, peer, outgoing ? rank_ : peer, outgoing ? peer : rank_));
  };
  if (flow == Flow::kBroadcast) {
    out_.blocks = {block(2, 0, shape_.root, 0)};
  } else if (flow == Flow::kAlltoall) {
    if (!shape_.in_place) forEach(in_, 1, true);
    forEach(out_, 2, false);
  } else if (flow == Flow::kScatter) {
    if (isRoot()) forEach(in_, 1, true);
    if (!isRoot() || !shape_.in_place) out_.blocks = {block(2, 0, shape_.root, rank_)};
  } else {
    const bool receives = flow == Flow::kAllgather || isRoot();
    if (!receives || !shape_.in_place) in_.blocks = {block(1, 0, rank_, 0)};
    if (receives) forEach(out_, 2, false);
  }

  Extent in, out;
  if (!in_.blocks.empty()) in = place(in_, 0);
  int64_t first = 0;
  // An uneven list leaves room for the contribution, or lets it be overwritten.
  if (shape_.share_base && mix(shape_.key, 6) % 2 == 0 &&
      !ignoresDisplacements(*shape_.collective, size_))
    first =
        in_.blocks[0].elements * in_.blocks[0].layout->extent / out_.blocks[0].layout->extent + 2;
  if (!out_.blocks.empty()) out = place(out_, first);
  if (shape_.share_base && mix(shape_.key, rank_, 5) % 2 == 0 && mayShare(in)) {
    in_.memory = out_.memory =
        std::make_shared<Memory>(std::min(in.low, out.low), std::max(in.high, out.high));
  } else {
    if (!in_.blocks.empty()) in_.memory = std::make_shared<Memory>(in.low, in.high);
    if (!out_.blocks.empty()) out_.memory = std::make_shared<Memory>(out.low, out.high);
  }
  passCounts(in_, 1);
  passCounts(out_, 2);
}

uint64_t Call::dataKey(int source, int dest) const {
  const Flow flow = shape_.collective->flow;
  const bool one_for_all = flow != Flow::kScatter && flow != Flow::kAlltoall;
  return mix(shape_.key, round_, members_[source], one_for_all ? 0 : 1 + members_[dest]);
}

void Call::fillMovement() {
  const auto valueOf = [this](int source, int dest) {
    return [key = dataKey(source, dest)](int64_t number) {
      return static_cast<int64_t>(mix(key + static_cast<uint64_t>(number)));
    };
  };
  for (const Block& block : in_.blocks)
    in_.memory->put(*block.layout, block.at, block.elements, valueOf(block.source, block.dest));
  const Flow flow = shape_.collective->flow;
  for (const Block& block : out_.blocks) {
    const auto value = valueOf(block.source, block.dest);
    const bool is_mine =
        flow == Flow::kBroadcast ? isRoot() : in_.blocks.empty() && block.source == rank_;
    // In place, blocks of an exchange start with what the other rank gets.
    if (flow == Flow::kAlltoall && in_.blocks.empty())
      out_.memory->put(*block.layout, block.at, block.elements, valueOf(block.dest, block.source));
    if (is_mine)
      out_.memory->put(*block.layout, block.at, block.elements, value);
    else
      out_.memory->expect(*block.layout, block.at, block.elements, value);
  }
}

}  // namespace programs
