// Rootless call: buffers that replace missing ones.
#include "runtime/collectives/rootless_call.h"

#include <cstring>
#include <numeric>

namespace torc::runtime {

Status RootlessCall::prepare(const Call& call, Collective serving, int rank, int ranks) {
  const CollectiveRow& row = rowOf(call.collective);
  const CollectiveRow& served_by = rowOf(serving);
  const bool at_root = rank == call.root;
  call_ = call;
  call_.collective = serving;
  call_.root = 0;
  sums_bytes_ = served_by.reduces() && !row.reduces();
  if (sums_bytes_) {
    Status status = lookAtType(MPI_BYTE, byte_);
    if (status.ok()) status = lookAtReduction(byte_, MPI_BOR, bits_);
    if (!status.ok()) return status;
    countBytes();
  }
  const std::uint64_t whole =
      !call_.per_rank.empty() ? std::reduce(call_.per_rank.begin(), call_.per_rank.end())
                              : call_.count * row.countedBlocks(static_cast<std::uint64_t>(ranks));
  const std::uint64_t own = row.counts == CountOf::kVector ? whole
                            : call_.per_rank.empty()
                                ? call_.count
                                : call_.per_rank[static_cast<std::size_t>(rank)];
  const std::size_t bytes = sums_bytes_ ? 1 : call.type.bytes;
  gets_zeros_ = row.inAt(at_root) == Holds::kNothing;
  keeps_own_ = served_by.outWhole() && row.outAt(at_root) == Holds::kOwn;
  // In place, a scatter leaves the root's block in `in`.
  drops_ = row.outAt(at_root) == Holds::kNothing || keeps_own_ ||
           (call.in_place && row.in_place == InPlace::kOwnResult);
  if (gets_zeros_) {
    call_.elements.in = whole;
    zeros_.allocateZeros(whole * bytes);
  }
  if (drops_) {
    call_.elements.out = served_by.outWhole() ? whole : own;
    dropped_.allocate(call_.elements.out * bytes);
  }
  if (keeps_own_) {
    own_bytes_ = own * bytes;
    own_offset_ = bytes * (call_.per_rank.empty() ? call_.count * static_cast<std::uint64_t>(rank)
                                                  : std::reduce(call_.per_rank.begin(),
                                                                call_.per_rank.begin() + rank));
    call_.count = whole;
    call_.per_rank.clear();
  }
  if (gets_zeros_ || drops_) {
    call_.in_place = false;
    if (!at_root) call_.displacements.clear();
  }
  bind(call);
  return {};
}

/// Changes to elements of one byte, as many as there are bytes.
void RootlessCall::countBytes() {
  const std::uint64_t bytes = call_.type.bytes;
  call_.count *= bytes;
  call_.elements.in *= bytes;
  call_.elements.out *= bytes;
  for (std::uint64_t& count : call_.per_rank)
    count *= bytes;
  for (std::uint64_t& displacement : call_.displacements)
    displacement *= bytes;
}

void RootlessCall::bind(const Call& call) {
  static_cast<CallBinding&>(call_) = call;
  if (sums_bytes_) {
    call_.type = byte_;
    call_.reduction = bits_;
  }
  if (keeps_own_ && call.in_place) {  // the contribution is in `out`
    call_.in = call.out;
    call_.in_displaced = call.out_displaced;
  }
  if (gets_zeros_) {
    call_.in = zeros_.data();
    call_.in_displaced = 0;
  }
  if (drops_) {
    call_.out = dropped_.data();
    call_.out_displaced = 0;
  }
  own_home_ = call.outBegin();
}

void RootlessCall::finishRound() {
  if (keeps_own_ && own_bytes_ > 0)
    std::memcpy(own_home_, dropped_.data() + own_offset_, own_bytes_);
}

}  // namespace torc::runtime
