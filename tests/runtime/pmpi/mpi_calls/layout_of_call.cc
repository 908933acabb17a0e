// Collectives that move data: the destination of each block, and its spelling.
#include <algorithm>
#include <numeric>

#include "tests/runtime/pmpi/mpi_calls/call.h"
#include "tests/runtime/pmpi/mpi_calls/mpi_faults.h"

namespace mpi_calls {

using torc::Holds;

void Extent::include(const Block& block) {
  if (block.elements == 0) return;
  const Layout& layout = *block.layout;
  const int64_t last = block.at + (block.elements - 1) * layout.extent;
  const bool is_empty = low == high;
  low = is_empty ? block.at + layout.lowest : std::min(low, block.at + layout.lowest);
  high = is_empty ? last + layout.highest : std::max(high, last + layout.highest);
}

int64_t Call::unitsOf(int source, int dest) const {
  const Collective& collective = *shape_.collective;
  if (!collective.uneven || shape_.units == 0) return shape_.units;
  const bool by_source = !collective.reduces() && collective.receivesEach();
  const bool by_dest = collective.reduces() || collective.sendsEach();
  // A block exchanged in place has one size in both directions.
  const uint64_t drawn = !by_dest     ? mix(shape_.key, source)
                         : !by_source ? mix(shape_.key, dest)
                         : shape_.in_place
                             ? mix(shape_.key, std::min(source, dest), std::max(source, dest))
                             : mix(shape_.key, source, dest);
  if (drawn % 5 == 0) return 0;
  return static_cast<int64_t>((drawn >> 8) % static_cast<uint64_t>(2 * shape_.units + 1));
}

const Layout& Call::spelling(int side, int peer) const {
  return shape_.spellings[mix(shape_.key, world_rank_, side, peer) % shape_.spellings.size()];
}

Block Call::block(int side, int number, int source, int dest) const {
  Block block;
  block.layout = &spelling(side, shape_.collective->each_type ? number : 0);
  block.elements = unitsOf(source, dest) * shape_.unitAtoms() / block.layout->atomCount();
  block.source = source;
  block.dest = dest;
  return block;
}

/// Gives each block its place. `first`: elements that stay free at the beginning of an uneven list.
Extent Call::place(Side& side, int64_t first) const {
  const bool scattered = side.for_each && shape_.collective->uneven;
  std::vector<size_t> order(side.blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Random random(mix(shape_.key, world_rank_, 77));
  if (scattered) random.shuffle(order);
  int64_t cursor = 0;
  Extent extent;
  if (scattered && !ignoresDisplacements(*shape_.collective, size_))
    cursor = (first + random.below(3)) * side.blocks.front().layout->extent;
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

/// Where addresses are multiples of what displacements count.
bool Call::mayBeAddressed(const Side& side, int number) const {
  const bool has_room = shape_.wide && side.for_each && shape_.collective->uneven;
  if (!shape_.at_bottom || !has_room || mix(shape_.key, rank_, number, 8) % 2 == 0) return false;
  return std::ranges::all_of(side.blocks, [&](const Block& block) {
    const bool fits = shape_.collective->each_type || 16 % block.layout->extent == 0;
    return fits && !block.layout->is_predefined;
  });
}

void Call::passCounts(const Side& side, int number) {
  const auto pass = [&](auto& numbers) {
    auto& counts = number == 1 ? numbers.in_counts : numbers.counts;
    auto& displacements = number == 1 ? numbers.in_displacements : numbers.displacements;
    auto& count = number == 1 ? numbers.in_count : numbers.count;
    using Count = std::decay_t<decltype(count)>;
    // MPI ignores that of the root's buffer elsewhere, and in place.
    const bool is_nobodys = arguments_.root == MPI_PROC_NULL || !shape_.collective->isRooted();
    if (!side.isUsed()) count = is_nobodys ? 0 : -1;
    if (!side.isUsed()) return;
    count = static_cast<Count>(side.blocks.front().elements);
    if (!side.for_each || !shape_.collective->uneven) return;
    MPI_Aint address = 0;
    if (side.is_addressed) MPI_Get_address(side.memory->address(), &address);
    for (const Block& block : side.blocks) {
      const int64_t unit = shape_.collective->each_type ? 1 : block.layout->extent;
      counts.push_back(static_cast<Count>(block.elements));
      displacements.push_back(
          static_cast<typename std::decay_t<decltype(displacements)>::value_type>(
              (address + block.at) / unit));
    }
  };
  pass(arguments_.narrow);
  pass(arguments_.large);
}

void Call::layOutMovement() {
  const Collective& collective = *shape_.collective;
  const bool drops_out = is_in_place_here_ && collective.row->in_place == torc::InPlace::kOwnResult;
  const auto layOut = [&](Side& side, int number, bool has_each) {
    side.for_each = has_each;
    const bool is_sent = number == 1;
    // Of one block: what a rank sends to all, or gets from the root.
    if (!has_each) {
      side.blocks = {block(number, 0, is_sent ? world_rank_ : root_world_rank_, world_rank_)};
      return;
    }
    for (size_t i = 0; i < peers_.size(); ++i)
      side.blocks.push_back(block(number, static_cast<int>(i), is_sent ? world_rank_ : peers_[i],
                                  is_sent ? peers_[i] : world_rank_));
  };
  const bool sends = in_holds_ != Holds::kNothing && !collective.isBroadcast();
  if (sends && (!is_in_place_here_ || drops_out)) layOut(in_, 1, collective.sendsEach());
  if (out_holds_ != Holds::kNothing && !drops_out) layOut(out_, 2, collective.receivesEach());

  Extent in, out;
  if (in_.isUsed()) in = place(in_, 0);
  int64_t first = 0;
  // An uneven list leaves room for the contribution, or lets it be overwritten.
  if (shape_.share_base && mix(shape_.key, 6) % 2 == 0)
    first =
        in_.blocks[0].elements * in_.blocks[0].layout->extent / out_.blocks[0].layout->extent + 2;
  if (out_.isUsed()) out = place(out_, first);
  if (shape_.share_base && mix(shape_.key, rank_, 5) % 2 == 0 && mayShare(in)) {
    in_.memory = out_.memory =
        std::make_shared<Memory>(std::min(in.low, out.low), std::max(in.high, out.high));
  } else {
    if (in_.isUsed()) in_.memory = std::make_shared<Memory>(in.low, in.high);
    if (out_.isUsed()) out_.memory = std::make_shared<Memory>(out.low, out.high);
  }
  in_.is_addressed = mayBeAddressed(in_, 1);
  out_.is_addressed = mayBeAddressed(out_, 2);
  passCounts(in_, 1);
  passCounts(out_, 2);
}

void Call::fillMovement() {
  const Collective& collective = *shape_.collective;
  const auto valuesOf = [this](int source, int dest) {
    return [key = dataKey(source, dest)](int64_t number) { return valueOf(key, number); };
  };
  for (const Block& block : in_.blocks)
    in_.memory->put(*block.layout, block.at, block.elements, valuesOf(block.source, block.dest));
  for (const Block& block : out_.blocks) {
    if (block.source == MPI_PROC_NULL) continue;  // stays as it is
    const auto value = valuesOf(block.source, block.dest);
    // In place, blocks of an exchange start with what the other rank gets.
    if (is_in_place_here_ && collective.isExchange())
      out_.memory->put(*block.layout, block.at, block.elements, valuesOf(block.dest, block.source));
    const bool is_mine =
        collective.isBroadcast() ? is_root_ : is_in_place_here_ && block.source == world_rank_;
    if (is_mine)
      out_.memory->put(*block.layout, block.at, block.elements, value);
    else
      out_.memory->expect(*block.layout, block.at, block.elements, value);
  }
}

}  // namespace mpi_calls
