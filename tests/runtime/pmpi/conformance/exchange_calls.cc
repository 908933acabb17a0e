// Calls in which every rank has a block for every rank: their buffers, what must be in them, and
// MPI's functions. Counts that differ are the same in both directions of a pair, as MPI_IN_PLACE
// asks.
#include "tests/runtime/pmpi/conformance/call.h"
#include "tests/runtime/pmpi/conformance/call_parts.h"

namespace conformance {
namespace {

/// What a rank sends to another.
Value exchangedValue(int source, int destination, int round, int64_t atom) {
  return movedValue(source, round, int64_t{destination} * 7919 + atom);
}

}  // namespace

/// Blocks of equal size follow one another. Others lie in reverse order, an element apart.
int64_t Call::layOutBlocks(const Type& type, Lists& lists) const {
  const auto blocks = static_cast<int64_t>(contributors_.size());
  std::vector<int64_t> counts, displacements(blocks);
  int64_t total = 0;
  if (shape_.collective == Collective::kAlltoall) {
    counts.assign(blocks, elementsOf(shape_.count, type));
    for (int64_t block = 0; block < blocks; ++block)
      displacements[block] = block * counts[block];
    total = blocks * elementsOf(shape_.count, type);
  } else {
    for (int64_t block = 0; block < blocks; ++block)
      counts.push_back(elementsOf(unevenCount(rank_ + block), type));
    for (int64_t block = blocks; block-- > 0;) {
      displacements[block] = total;
      total += counts[block] + 1;
    }
  }
  lists.set(std::move(counts), std::move(displacements));
  return total;
}

void Call::layOutExchange() {
  const int64_t received = layOutBlocks(*shape_.type, lists_);
  out_ = std::make_unique<Buffer>(*shape_.type, received);
  out_expected_ = std::make_unique<Buffer>(*out_);
  if (shape_.in_place) return;
  const int64_t sent = layOutBlocks(*shape_.send_type, in_lists_);
  in_ = std::make_unique<Buffer>(*shape_.send_type, sent);
  in_expected_ = std::make_unique<Buffer>(*in_);
}

void Call::fillExchange(int round) {
  const auto store = [](Buffer& buffer, const Lists& lists, size_t block, auto value) {
    const auto atoms = static_cast<int64_t>(buffer.atomsOfElement());
    for (int64_t i = 0; i < lists.counts[block] * atoms; ++i)
      buffer.store(lists.displacements[block] + i / atoms, static_cast<size_t>(i % atoms),
                   value(i));
  };
  for (size_t block = 0; block < contributors_.size(); ++block) {
    const int other = contributors_[block];
    const auto sent = [&](int64_t i) { return exchangedValue(world_rank_, other, round, i); };
    const auto received = [&](int64_t i) { return exchangedValue(other, world_rank_, round, i); };
    store(in_ ? *in_ : *out_, in_ ? in_lists_ : lists_, block, sent);
    store(*out_expected_, lists_, block, received);
  }
  if (in_) *in_expected_ = *in_;
}

int Call::invokeExchange() {
  const void* in = in_ ? in_->address() : MPI_IN_PLACE;
  void* out = out_->address();
  const MPI_Datatype type = shape_.type->handle();
  const MPI_Datatype send_type = in_ ? shape_.send_type->handle() : MPI_DATATYPE_NULL;
  const MPI_Comm comm = communicator_->handle;
  const Form form = shape_.form;
  const Lists &from = in_lists_, &to = lists_;
  if (shape_.collective == Collective::kAlltoall) {
    const MPI_Count sent = in_ ? from.counts.front() : 0, received = to.counts.front();
    const auto narrow_sent = static_cast<int>(sent), narrow_received = static_cast<int>(received);
    return shape_.wide ? dispatch(form, MPI_Alltoall_c, MPI_Ialltoall_c, MPI_Alltoall_init_c,
                                  &request_, in, sent, send_type, out, received, type, comm)
                       : dispatch(form, MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, &request_,
                                  in, narrow_sent, send_type, out, narrow_received, type, comm);
  }
  const int* const nowhere = nullptr;  // in place, what is sent is ignored
  const MPI_Count* const wide_nowhere = nullptr;
  return shape_.wide
             ? dispatch(form, MPI_Alltoallv_c, MPI_Ialltoallv_c, MPI_Alltoallv_init_c, &request_,
                        in, in_ ? from.wide_counts.data() : wide_nowhere,
                        static_cast<const MPI_Aint*>(from.wide_displacements.data()), send_type,
                        out, to.wide_counts.data(), to.wide_displacements.data(), type, comm)
             : dispatch(form, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, &request_, in,
                        in_ ? from.narrow_counts.data() : nowhere,
                        static_cast<const int*>(from.narrow_displacements.data()), send_type, out,
                        to.narrow_counts.data(), to.narrow_displacements.data(), type, comm);
}

}  // namespace conformance
