// Generates rounds and messages of Bruck's, the direct and the pairwise all-to-all.
#include "studies/cluster/mpi_alltoalls.h"

#include <bit>

namespace torc::studies {

const char* nameOf(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::kBruck:
      return "bruck";
    case ExchangeKind::kDirect:
      return "direct";
    case ExchangeKind::kPairwise:
      break;
  }
  return "pairwise";
}

ExchangeKind tunedExchange(const Cluster& cluster, double bytes) {
  if (bytes <= cluster.bruck_limit) return ExchangeKind::kBruck;
  return bytes <= cluster.direct_limit ? ExchangeKind::kDirect : ExchangeKind::kPairwise;
}

Exchange::Exchange(const Cluster& cluster, ExchangeKind kind, std::uint32_t nodes,
                   std::uint32_t per_node, double bytes)
    : cluster_(cluster),
      kind_(kind),
      nodes_(nodes),
      per_node_(per_node),
      ranks_(std::uint64_t{nodes} * per_node),
      bytes_(bytes),
      exceeds_cache_(2 * bytes * static_cast<double>(ranks_) > cluster.cache) {}

std::uint64_t Exchange::rounds() const {
  switch (kind_) {
    case ExchangeKind::kBruck:
      return static_cast<std::uint64_t>(std::bit_width(ranks_ - 1));
    case ExchangeKind::kDirect:
      return 1;
    case ExchangeKind::kPairwise:
      break;
  }
  return ranks_ - 1;
}

/// The number of distances from 0 to ranks - 1 with the bit 2^round.
double Exchange::blocksOf(std::uint64_t round) const {
  if (kind_ != ExchangeKind::kBruck) return 1;
  const std::uint64_t bit = std::uint64_t{1} << round;
  const std::uint64_t whole = ranks_ / (2 * bit) * bit, rest = ranks_ % (2 * bit);
  return static_cast<double>(whole + (rest > bit ? rest - bit : 0));
}

bool Exchange::isRead(double bytes) const {
  const bool pushed = cluster_.pio_limit > 0 && bytes <= cluster_.pio_limit;
  return !pushed && bytes > cluster_.buffered;
}

bool Exchange::isWritten(double bytes) const {
  return bytes > cluster_.buffered;
}

bool Exchange::readsInPlace() const {
  return kind_ != ExchangeKind::kBruck && isRead(bytes_);
}

bool Exchange::writesInPlace() const {
  return kind_ != ExchangeKind::kBruck && isWritten(bytes_);
}

bool Exchange::isOfBits() const {
  return kind_ == ExchangeKind::kPairwise && std::has_single_bit(ranks_);
}

Round Exchange::round(std::uint64_t index) const {
  Round round;
  const auto ranks = static_cast<double>(ranks_);
  const Copy own{bytes_, 1, exceeds_cache_};
  if (kind_ != ExchangeKind::kBruck) {
    round.sends = round.receives = kind_ == ExchangeKind::kDirect ? ranks_ - 1 : 1;
    if (index == 0) round.before = own;
    return round;
  }
  // Blocks are rotated, then packed and unpacked for every message, and sorted at the end.
  const double blocks = blocksOf(index), data = blocks * bytes_;
  round.sends = round.receives = 1;
  round.before = {data, blocks, exceeds_cache_ || isRead(data)};
  round.after = {data, blocks, exceeds_cache_ || isWritten(data)};
  if (index == 0) {
    round.before.bytes += ranks * bytes_;
    round.before.runs += 2;
  }
  if (index + 1 == rounds()) {
    round.after.bytes += ranks * bytes_;
    round.after.runs += ranks;
  }
  return round;
}

Exchange::Way Exchange::way(std::uint32_t of, std::uint64_t round, std::uint64_t send) const {
  std::uint64_t shift = 0;  // ranks up
  switch (kind_) {
    case ExchangeKind::kBruck:
      shift = std::uint64_t{1} << round;
      break;
    case ExchangeKind::kDirect:  // MPICH starts with the rank below
      shift = ranks_ - 1 - send;
      break;
    case ExchangeKind::kPairwise:
      shift = round + 1;
      break;
  }
  Way way;
  way.blocks = blocksOf(round);
  if (isOfBits()) {
    way.peer = of ^ static_cast<std::uint32_t>(shift % per_node_);
    way.out = way.in = static_cast<std::uint32_t>(shift / per_node_);
    return way;
  }
  const std::uint64_t there = of + shift;
  way.peer = static_cast<std::uint32_t>(there % per_node_);
  way.out = static_cast<std::uint32_t>(there / per_node_ % nodes_);
  way.in = (nodes_ - way.out) % nodes_;
  return way;
}

}  // namespace torc::studies
