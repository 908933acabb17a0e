// Collectives that combine data.
#include <numeric>

#include "tests/runtime/pmpi/programs/calls/call.h"

namespace programs {

void Call::layOutReduction() {
  const Flow flow = shape_.collective->flow;
  const Layout& layout = shape_.reduction.layout;
  int64_t total = shape_.units, mine = shape_.units;
  if (flow == Flow::kReduceScatter) {
    for (int rank = 0; rank < size_; ++rank)
      scattered_.push_back(unitsOf(0, rank));
    total = std::accumulate(scattered_.begin(), scattered_.end(), int64_t{0});
    mine = scattered_[rank_];
  }
  const auto makeSide = [&](Side& side, int64_t elements) {
    Block whole;
    whole.layout = &layout;
    whole.elements = elements;
    side.blocks = {whole};
    const int64_t last = elements > 0 ? (elements - 1) * layout.extent : 0;
    side.memory = std::make_shared<Memory>(layout.lowest, last + layout.highest);
  };
  const bool receives = flow != Flow::kReduce || isRoot();
  const bool in_place = shape_.in_place && receives;
  if (!in_place) makeSide(in_, total);
  if (receives) makeSide(out_, in_place ? total : mine);
  arguments_.narrow.count = static_cast<int>(mine);
  arguments_.large.count = mine;
  if (!shape_.collective->uneven) return;
  arguments_.narrow.counts.assign(scattered_.begin(), scattered_.end());
  arguments_.large.counts.assign(scattered_.begin(), scattered_.end());
}

std::vector<int64_t> Call::combined(int64_t first, int64_t elements, int ranks) const {
  const int64_t atoms = shape_.reduction.layout.atomCount();
  std::vector<int64_t> results, sum(atoms), next(atoms);
  results.reserve(elements * atoms);
  for (int64_t element = first; element < first + elements; ++element) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<int64_t>& values = rank == 0 ? sum : next;
      for (int64_t atom = 0; atom < atoms; ++atom)
        values[atom] = shape_.reduction.contribution(dataKey(rank, 0), element * atoms + atom);
      if (rank > 0) shape_.reduction.combine(sum, next);
    }
    results.insert(results.end(), sum.begin(), sum.end());
  }
  return results;
}

void Call::fillReduction() {
  const Flow flow = shape_.collective->flow;
  const Layout& layout = shape_.reduction.layout;
  const Side& source = in_.blocks.empty() ? out_ : in_;
  const int64_t total = source.blocks[0].elements;
  source.memory->put(layout, 0, total, [&, key = dataKey(rank_, 0)](int64_t number) {
    return shape_.reduction.contribution(key, number);
  });
  if (out_.blocks.empty()) return;
  int64_t first = 0, mine = total;
  if (flow == Flow::kReduceScatter) {
    first = std::accumulate(scattered_.begin(), scattered_.begin() + rank_, int64_t{0});
    mine = scattered_[rank_];
  }
  const int ranks = flow == Flow::kScan ? rank_ + 1 : flow == Flow::kExscan ? rank_ : size_;
  if (ranks == 0) {
    // MPI leaves it undefined.
    out_.memory->leaveOpen(layout, 0, mine);
    return;
  }
  const std::vector<int64_t> results = combined(first, mine, ranks);
  out_.memory->expect(layout, 0, mine, [&](int64_t number) { return results[number]; });
  // So it does the rest of a vector that is reduced in place.
  if (in_.blocks.empty()) out_.memory->leaveOpen(layout, mine * layout.extent, total - mine);
}

}  // namespace programs
