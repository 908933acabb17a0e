// Calls with a root: their buffers, what must be in them, and MPI's functions. What MPI ignores on
// ranks that are not the root is nonsense here, and its buffers must not change.
#include <algorithm>

#include "tests/runtime/pmpi/conformance/call.h"
#include "tests/runtime/pmpi/conformance/call_parts.h"

namespace conformance {

void Call::findRoot() {
  const auto place = [&](const std::vector<int>& group) {
    return shape_.root % static_cast<int>(group.size());
  };
  root_ = place(contributors_);
  root_world_rank_ = contributors_[root_];
  if (!communicator_->is_inter) return;
  // The root is in the group of the lowest rank.
  MPI_Group own;
  MPI_Comm_group(communicator_->handle, &own);
  const std::vector<int> group = worldRanks(own);
  if (std::ranges::min(group) < std::ranges::min(contributors_)) {
    root_world_rank_ = group[place(group)];
    root_ = root_world_rank_ == world_rank_ ? MPI_ROOT : MPI_PROC_NULL;
  }
}

/// Buffers of all ranks are there, whether MPI reads them or not.
void Call::layOutRooted() {
  findRoot();
  is_in_place_here_ = shape_.in_place && isRoot() && !communicator_->is_inter;
  const auto blocks = static_cast<int64_t>(contributors_.size());
  const bool reduces = isReduction(shape_.collective);
  receive_count_ = reduces ? shape_.count : elementsOf(shape_.count, *shape_.type);
  send_count_ = reduces ? shape_.count : elementsOf(shape_.count, *shape_.send_type);
  const bool gathers = shape_.collective == Collective::kGather;
  const bool scatters = shape_.collective == Collective::kScatter;
  out_ = std::make_unique<Buffer>(*shape_.type, receive_count_ * (gathers ? blocks : 1));
  out_expected_ = std::make_unique<Buffer>(*out_);
  if (shape_.collective == Collective::kBcast || (is_in_place_here_ && !scatters)) return;
  in_ = std::make_unique<Buffer>(*shape_.send_type, send_count_ * (scatters ? blocks : 1));
  in_expected_ = std::make_unique<Buffer>(*in_);
}

void Call::fillRooted(int round) {
  if (root_ == MPI_PROC_NULL) {  // takes no part
    if (in_) *in_expected_ = *in_;
    return;
  }
  switch (shape_.collective) {
    case Collective::kReduce:
      fillReduction(round);
      // Only the root has the result.
      if (!isRoot()) *out_expected_ = *out_;
      return;
    case Collective::kBcast:
      storeAll(*out_expected_, root_world_rank_, round, 0, receive_count_, 0);
      if (isRoot()) storeAll(*out_, root_world_rank_, round, 0, receive_count_, 0);
      return;
    case Collective::kGather:
      if (in_) storeAll(*in_, world_rank_, round, 0, send_count_, 0);
      if (isRoot()) {
        for (size_t block = 0; block < contributors_.size(); ++block) {
          const int64_t first = static_cast<int64_t>(block) * receive_count_;
          storeAll(*out_expected_, contributors_[block], round, first, receive_count_, 0);
          const bool is_own = contributors_[block] == world_rank_;
          if (is_in_place_here_ && is_own) {
            storeAll(*out_, world_rank_, round, first, receive_count_, 0);
          }
        }
      }
      break;
    default: {  // scatter
      const auto blocks = static_cast<int64_t>(contributors_.size());
      if (isRoot()) storeAll(*in_, world_rank_, round, 0, send_count_ * blocks, 0);
      const bool gets = root_ != MPI_ROOT && !is_in_place_here_;
      const int64_t first = rank_ * receive_count_;
      if (gets) storeAll(*out_expected_, root_world_rank_, round, 0, receive_count_, first);
      break;
    }
  }
  if (in_) *in_expected_ = *in_;
}

/// Stores the elements `from` + 0, 1, ... of what a rank contributes, at element `at` and behind.
void Call::storeAll(Buffer& buffer, int world_rank, int round, int64_t at, int64_t count,
                    int64_t from) {
  const auto atoms = static_cast<int64_t>(buffer.atomsOfElement());
  for (int64_t i = 0; i < count * atoms; ++i) {
    buffer.store(at + i / atoms, static_cast<size_t>(i % atoms),
                 movedValue(world_rank, round, from * atoms + i));
  }
}

int Call::invokeRooted() {
  const bool is_root = isRoot();
  const bool scatters = shape_.collective == Collective::kScatter;
  const bool in_place = is_in_place_here_;
  const void* in = !in_ ? MPI_IN_PLACE : in_->address();
  void* out = in_place && scatters ? MPI_IN_PLACE : out_->address();
  MPI_Datatype type = shape_.type->handle(), send_type = shape_.send_type->handle();
  int64_t sent = send_count_, received = receive_count_;
  const auto ignore = [](MPI_Datatype& ignored_type, int64_t& ignored_count) {
    ignored_type = MPI_DATATYPE_NULL;
    ignored_count = -1;
  };
  if (shape_.collective == Collective::kGather) {
    if (!is_root) ignore(type, received);
    if (in_place) ignore(send_type, sent);
  }
  if (scatters) {
    if (!is_root) ignore(send_type, sent);
    if (in_place) ignore(type, received);
  }
  const MPI_Op op = shape_.operation != nullptr ? shape_.operation->handle() : MPI_OP_NULL;
  const MPI_Comm comm = communicator_->handle;
  const int narrow = static_cast<int>(received), narrow_send = static_cast<int>(sent);
  const MPI_Count wide = received, wide_send = sent;
  const Form form = shape_.form;
  switch (shape_.collective) {
    case Collective::kBcast:
      return shape_.wide ? dispatch(form, MPI_Bcast_c, MPI_Ibcast_c, MPI_Bcast_init_c, &request_,
                                    out, wide, type, root_, comm)
                         : dispatch(form, MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, &request_, out,
                                    narrow, type, root_, comm);
    case Collective::kReduce:
      return shape_.wide ? dispatch(form, MPI_Reduce_c, MPI_Ireduce_c, MPI_Reduce_init_c, &request_,
                                    in, out, wide, type, op, root_, comm)
                         : dispatch(form, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, &request_, in,
                                    out, narrow, type, op, root_, comm);
    case Collective::kGather:
      return shape_.wide ? dispatch(form, MPI_Gather_c, MPI_Igather_c, MPI_Gather_init_c, &request_,
                                    in, wide_send, send_type, out, wide, type, root_, comm)
                         : dispatch(form, MPI_Gather, MPI_Igather, MPI_Gather_init, &request_, in,
                                    narrow_send, send_type, out, narrow, type, root_, comm);
    case Collective::kScatter:
      return shape_.wide
                 ? dispatch(form, MPI_Scatter_c, MPI_Iscatter_c, MPI_Scatter_init_c, &request_, in,
                            wide_send, send_type, out, wide, type, root_, comm)
                 : dispatch(form, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, &request_, in,
                            narrow_send, send_type, out, narrow, type, root_, comm);
    default:
      return MPI_ERR_INTERN;
  }
}

}  // namespace conformance
