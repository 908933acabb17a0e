#include "tests/runtime/pmpi/conformance/call.h"

#include <algorithm>
#include <numeric>

#include "tests/runtime/pmpi/conformance/call_parts.h"
#include "tests/runtime/pmpi/conformance/checks.h"

namespace conformance {
namespace {

const char* stemOf(Collective collective) {
  switch (collective) {
    case Collective::kAllreduce:
      return "allreduce";
    case Collective::kReduceScatter:
      return "reduce_scatter";
    case Collective::kReduceScatterBlock:
      return "reduce_scatter_block";
    case Collective::kAllgather:
      return "allgather";
    case Collective::kAllgatherv:
      return "allgatherv";
    case Collective::kBcast:
      return "bcast";
    case Collective::kReduce:
      return "reduce";
    case Collective::kScan:
      return "scan";
    case Collective::kExscan:
      return "exscan";
    case Collective::kGather:
      return "gather";
    case Collective::kScatter:
      return "scatter";
    case Collective::kAlltoall:
      return "alltoall";
    case Collective::kAlltoallv:
      return "alltoallv";
  }
  return "";
}

/// With int, where MPI has no functions of MPI_Count.
Shape possible(Shape shape) {
  shape.wide = shape.wide && kHasLargeCounts;
  return shape;
}

}  // namespace

bool isReduction(Collective collective) {
  return collective < kCollectives[kReductionCount];
}

bool isPrefix(Collective collective) {
  return collective == Collective::kScan || collective == Collective::kExscan;
}

bool isRooted(Collective collective) {
  return collective == Collective::kReduce || collective == Collective::kBcast ||
         collective == Collective::kGather || collective == Collective::kScatter;
}

bool isExchange(Collective collective) {
  return collective >= Collective::kAlltoall;
}

void Lists::set(std::vector<int64_t> counts_of_blocks, std::vector<int64_t> places) {
  counts = std::move(counts_of_blocks);
  displacements = std::move(places);
  narrow_counts.assign(counts.begin(), counts.end());
  narrow_displacements.assign(displacements.begin(), displacements.end());
  wide_counts.assign(counts.begin(), counts.end());
  wide_displacements.assign(displacements.begin(), displacements.end());
}

std::string describe(const Shape& shape) {
  std::string stem = stemOf(shape.collective);
  if (shape.form == Form::kNonblocking)
    stem = "MPI_I" + stem;
  else
    stem = "MPI_" + std::string(1, static_cast<char>(stem[0] - 'a' + 'A')) + stem.substr(1);
  if (shape.form == Form::kPersistent) stem += "_init";
  if (shape.wide) stem += "_c";
  stem += "(";
  if (shape.send_type != nullptr) stem += shape.send_type->name() + " to ";
  stem += shape.type->name() + " x " + std::to_string(shape.count);
  if (isReduction(shape.collective)) stem += std::string(", ") + shape.operation->name();
  if (isRooted(shape.collective)) stem += ", root " + std::to_string(shape.root);
  if (shape.in_place) stem += ", in place";
  return stem + ")";
}

Call::Call(const Shape& shape, const Communicator& communicator)
    : shape_(possible(shape)),
      communicator_(&communicator),
      name_(communicator.name + ": " + describe(shape_)) {
  if (shape_.send_type == nullptr) shape_.send_type = shape_.type;
  findContributors();
  if (isRooted(shape.collective))
    layOutRooted();
  else if (isExchange(shape.collective))
    layOutExchange();
  else if (isReduction(shape.collective))
    layOutReduction();
  else
    layOutGather();
}

Call::~Call() {
  freeRequest();
}

void Call::freeRequest() {
  if (isPersistent() && request_ != MPI_REQUEST_NULL)
    checkCall(MPI_Request_free(&request_), name_ + ": MPI_Request_free");
}

void Call::findContributors() {
  MPI_Comm_rank(communicator_->handle, &rank_);
  MPI_Comm_size(communicator_->handle, &size_);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
  MPI_Group group;
  if (communicator_->is_inter)
    MPI_Comm_remote_group(communicator_->handle, &group);
  else
    MPI_Comm_group(communicator_->handle, &group);
  contributors_ = worldRanks(group);
}

int64_t Call::unevenCount(int64_t rank) const {
  // Some ranks have nothing, unless there is one rank only.
  if (shape_.count > 0 && size_ > 1 && (rank + shape_.count) % 3 == 1) return 0;
  return shape_.count + (shape_.count > 1 ? rank % 2 : 0);
}

void Call::layOutReduction() {
  int64_t total = shape_.count;
  int64_t mine = shape_.count;
  if (shape_.collective != Collective::kAllreduce && !isPrefix(shape_.collective)) {
    // Both groups of an intercommunicator scatter vectors of one length.
    const int64_t factor = communicator_->is_inter ? static_cast<int64_t>(contributors_.size()) : 1;
    std::vector<int64_t> counts(size_, shape_.count * factor);
    if (shape_.collective == Collective::kReduceScatter && !communicator_->is_inter)
      for (int rank = 0; rank < size_; ++rank)
        counts[rank] = unevenCount(rank);
    total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    mine = counts[rank_];
    lists_.set(std::move(counts), {});
  }
  send_count_ = total;
  receive_count_ = mine;
  out_ = std::make_unique<Buffer>(*shape_.type, shape_.in_place ? total : mine);
  out_expected_ = std::make_unique<Buffer>(*out_);
  if (shape_.in_place) return;
  in_ = std::make_unique<Buffer>(*shape_.type, total);
  in_expected_ = std::make_unique<Buffer>(*in_);
}

void Call::layOutGather() {
  const auto blocks = static_cast<int64_t>(contributors_.size());
  int64_t total = 0;
  std::vector<int64_t> counts, displacements(blocks);
  if (shape_.collective == Collective::kAllgather) {
    receive_count_ = elementsOf(shape_.count, *shape_.type);
    send_count_ = elementsOf(shape_.count, *shape_.send_type);
    counts.assign(blocks, receive_count_);
    for (int64_t block = 0; block < blocks; ++block)
      displacements[block] = block * receive_count_;
    total = blocks * receive_count_;
  } else {
    // The blocks lie in reverse order, an element apart.
    for (int64_t block = 0; block < blocks; ++block)
      counts.push_back(elementsOf(unevenCount(block), *shape_.type));
    for (int64_t block = blocks; block-- > 0;) {
      displacements[block] = total;
      total += counts[block] + 1;
    }
    send_count_ = elementsOf(unevenCount(rank_), *shape_.send_type);
  }
  lists_.set(std::move(counts), std::move(displacements));
  out_ = std::make_unique<Buffer>(*shape_.type, total);
  out_expected_ = std::make_unique<Buffer>(*out_);
  if (shape_.in_place) return;
  in_ = std::make_unique<Buffer>(*shape_.send_type, send_count_);
  in_expected_ = std::make_unique<Buffer>(*in_);
}

void Call::fillReduction(int round) {
  const std::vector<Atom>& atoms = shape_.type->atoms();
  const size_t per_element = atoms.size();
  const auto contribution = [&](int world_rank, int64_t element, size_t atom) {
    return shape_.operation->contribution(atoms[atom].kind, world_rank, round,
                                          element * static_cast<int64_t>(per_element) + atom);
  };
  Buffer& source = in_ ? *in_ : *out_;
  for (int64_t element = 0; element < send_count_; ++element)
    for (size_t atom = 0; atom < per_element; ++atom)
      source.store(element, atom, contribution(world_rank_, element, atom));
  if (in_) *in_expected_ = *in_;

  const bool whole = shape_.collective == Collective::kAllreduce ||
                     shape_.collective == Collective::kReduce || isPrefix(shape_.collective);
  const size_t own = static_cast<size_t>(rank_);
  const size_t contributors = shape_.collective == Collective::kScan     ? own + 1
                              : shape_.collective == Collective::kExscan ? own
                                                                         : contributors_.size();
  if (contributors == 0) {  // nothing is written
    if (shape_.in_place) *out_expected_ = *out_;
    return;
  }
  const int64_t first =
      whole ? 0 : std::accumulate(lists_.counts.begin(), lists_.counts.begin() + rank_, int64_t{0});
  std::vector<Value> result(per_element), next(per_element);
  for (int64_t element = 0; element < receive_count_; ++element) {
    for (size_t i = 0; i < contributors; ++i) {
      std::vector<Value>& values = i == 0 ? result : next;
      for (size_t atom = 0; atom < per_element; ++atom)
        values[atom] = contribution(contributors_[i], first + element, atom);
      if (i > 0) shape_.operation->combine(result, next, atoms);
    }
    for (size_t atom = 0; atom < per_element; ++atom)
      out_expected_->store(element, atom, result[atom]);
  }
  // What MPI leaves in the rest of an in-place vector is its own affair.
  if (shape_.in_place)
    for (int64_t element = receive_count_; element < send_count_; ++element)
      for (size_t atom = 0; atom < per_element; ++atom)
        out_expected_->leaveOpen(element, atom);
}

void Call::fillGather(int round) {
  const auto per_element = static_cast<int64_t>(shape_.type->atoms().size());
  const auto per_sent = static_cast<int64_t>(shape_.send_type->atoms().size());
  if (in_) {
    for (int64_t i = 0; i < send_count_ * per_sent; ++i)
      in_->store(i / per_sent, i % per_sent, movedValue(world_rank_, round, i));
    *in_expected_ = *in_;
  }
  for (size_t block = 0; block < contributors_.size(); ++block) {
    for (int64_t i = 0; i < lists_.counts[block] * per_element; ++i) {
      const int64_t element = lists_.displacements[block] + i / per_element;
      out_expected_->store(element, i % per_element, movedValue(contributors_[block], round, i));
      if (shape_.in_place && static_cast<int>(block) == rank_)
        out_->store(element, i % per_element, movedValue(world_rank_, round, i));
    }
  }
}

int Call::invoke() {
  if (isRooted(shape_.collective)) return invokeRooted();
  if (isExchange(shape_.collective)) return invokeExchange();
  const void* in = in_ ? in_->address() : MPI_IN_PLACE;
  void* out = out_->address();
  const MPI_Datatype type = shape_.type->handle();
  const MPI_Datatype send_type = in_ ? shape_.send_type->handle() : MPI_DATATYPE_NULL;
  const MPI_Op op = shape_.operation != nullptr ? shape_.operation->handle() : MPI_OP_NULL;
  const MPI_Comm comm = communicator_->handle;
  const int narrow = static_cast<int>(receive_count_);
  const int narrow_send = in_ ? static_cast<int>(send_count_) : 0;
  const MPI_Count wide = receive_count_;
  const MPI_Count wide_send = in_ ? send_count_ : 0;
  const Form form = shape_.form;
  switch (shape_.collective) {
    case Collective::kAllreduce:
      return shape_.wide ? dispatch(form, MPI_Allreduce_c, MPI_Iallreduce_c, MPI_Allreduce_init_c,
                                    &request_, in, out, wide, type, op, comm)
                         : dispatch(form, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init,
                                    &request_, in, out, narrow, type, op, comm);
    case Collective::kReduceScatter:
      return shape_.wide
                 ? dispatch(form, MPI_Reduce_scatter_c, MPI_Ireduce_scatter_c,
                            MPI_Reduce_scatter_init_c, &request_, in, out,
                            static_cast<const MPI_Count*>(lists_.wide_counts.data()), type, op,
                            comm)
                 : dispatch(form, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init,
                            &request_, in, out,
                            static_cast<const int*>(lists_.narrow_counts.data()), type, op, comm);
    case Collective::kReduceScatterBlock:
      return shape_.wide ? dispatch(form, MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block_c,
                                    MPI_Reduce_scatter_block_init_c, &request_, in, out, wide, type,
                                    op, comm)
                         : dispatch(form, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                                    MPI_Reduce_scatter_block_init, &request_, in, out, narrow, type,
                                    op, comm);
    case Collective::kScan:
      return shape_.wide ? dispatch(form, MPI_Scan_c, MPI_Iscan_c, MPI_Scan_init_c, &request_, in,
                                    out, wide, type, op, comm)
                         : dispatch(form, MPI_Scan, MPI_Iscan, MPI_Scan_init, &request_, in, out,
                                    narrow, type, op, comm);
    case Collective::kExscan:
      return shape_.wide ? dispatch(form, MPI_Exscan_c, MPI_Iexscan_c, MPI_Exscan_init_c, &request_,
                                    in, out, wide, type, op, comm)
                         : dispatch(form, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, &request_, in,
                                    out, narrow, type, op, comm);
    case Collective::kAllgather:
      return shape_.wide ? dispatch(form, MPI_Allgather_c, MPI_Iallgather_c, MPI_Allgather_init_c,
                                    &request_, in, wide_send, send_type, out, wide, type, comm)
                         : dispatch(form, MPI_Allgather, MPI_Iallgather, MPI_Allgather_init,
                                    &request_, in, narrow_send, send_type, out, narrow, type, comm);
    case Collective::kAllgatherv:
      return shape_.wide ? dispatch(form, MPI_Allgatherv_c, MPI_Iallgatherv_c,
                                    MPI_Allgatherv_init_c, &request_, in, wide_send, send_type, out,
                                    static_cast<const MPI_Count*>(lists_.wide_counts.data()),
                                    static_cast<const MPI_Aint*>(lists_.wide_displacements.data()),
                                    type, comm)
                         : dispatch(form, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init,
                                    &request_, in, narrow_send, send_type, out,
                                    static_cast<const int*>(lists_.narrow_counts.data()),
                                    static_cast<const int*>(lists_.narrow_displacements.data()),
                                    type, comm);
    default:
      break;
  }
  return MPI_ERR_INTERN;
}

void Call::prepare(int round) {
  out_->clear();
  out_expected_->clear();
  if (in_) in_->clear();
  if (isRooted(shape_.collective))
    fillRooted(round);
  else if (isExchange(shape_.collective))
    fillExchange(round);
  else if (isReduction(shape_.collective))
    fillReduction(round);
  else
    fillGather(round);
  if (!isPersistent() || initialised_) return;
  checkCall(invoke(), name_);
  initialised_ = true;
}

void Call::start(int round) {
  prepare(round);
  if (isPersistent())
    checkCall(MPI_Start(&request_), name_ + ": MPI_Start");
  else
    checkCall(invoke(), name_);
}

void Call::verify() {
  const auto compare = [&](const char* which, const Buffer& found, const Buffer& expected) {
    const int64_t at = found.firstDifference(expected);
    check(at == Buffer::kNowhere, at == Buffer::kNowhere
                                      ? std::string()
                                      : name_ + ": " + which + " is wrong at byte " +
                                            std::to_string(at) + " on rank " +
                                            std::to_string(rank_) + " of " + std::to_string(size_));
  };
  compare("the result", *out_, *out_expected_);
  if (in_) compare("the contribution (it must not change)", *in_, *in_expected_);
}

void Call::run(int round) {
  start(round);
  checkCall(MPI_Wait(&request_, MPI_STATUS_IGNORE), name_ + ": MPI_Wait");
  verify();
}

}  // namespace conformance
