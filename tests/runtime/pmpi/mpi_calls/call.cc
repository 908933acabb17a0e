#include "tests/runtime/pmpi/mpi_calls/call.h"

#include <algorithm>
#include <numeric>

#include "tests/runtime/pmpi/mpi_calls/checks.h"

namespace mpi_calls {

using torc::Holds;

Call::Call(const Shape& shape, const Communicator& communicator)
    : shape_(shape), is_inter_(communicator.is_inter) {
  shape_.wide = shape_.wide && MPI_VERSION >= 4 && !shape_.collective->isBarrier();
  MPI_Comm_rank(communicator.handle, &rank_);
  MPI_Comm_size(communicator.handle, &size_);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
  description_ = shape_.describe() + " on " + communicator.name + ", rank " +
                 std::to_string(rank_) + " of " + std::to_string(size_);
  arguments_.wide = shape_.wide;
  arguments_.comm = communicator.handle;
  if (shape_.collective->isBarrier()) return;
  findPeers(communicator);
  in_holds_ = shape_.collective->row->in;
  out_holds_ = shape_.collective->row->out;
  if (shape_.collective->isRooted()) findRoot(communicator.is_inter);
  is_in_place_here_ = shape_.in_place && is_root_;
  if (shape_.collective->reduces())
    layOutReduction();
  else
    layOutMovement();
  // What MPI ignores is nonsense here; between groups MPICH 4.0.2 refuses null pointers all the
  // same.
  for (Side* side : sides()) {
    const bool is_ignored = !side->isUsed() && shape_.collective->isRooted() && !is_in_place_here_;
    if (is_ignored && (is_inter_ || mix(shape_.key, world_rank_, 9) % 2 == 0))
      side->memory = std::make_shared<Memory>(0, 256);
  }
}

Call::~Call() {
  freeRequest();
  freeArguments();
}

void Call::findPeers(const Communicator& communicator) {
  members_ = worldRanks(communicator.handle, false);
  peers_ = is_inter_ ? worldRanks(communicator.handle, true) : members_;
  if (!shape_.collective->isOfNeighbours()) return;
  peers_.clear();
  int dimensions = 0;
  MPI_Cartdim_get(communicator.handle, &dimensions);
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int ranks[2];
    MPI_Cart_shift(communicator.handle, dimension, 1, &ranks[0], &ranks[1]);
    for (const int rank : ranks)
      peers_.push_back(rank == MPI_PROC_NULL ? MPI_PROC_NULL : members_[rank]);
  }
}

/// Between groups, the root is in the one of the lowest rank.
void Call::findRoot(bool is_inter) {
  const torc::CollectiveRow& row = *shape_.collective->row;
  const bool is_with_us = is_inter && std::ranges::min(members_) < std::ranges::min(peers_);
  const std::vector<int>& group = is_with_us ? members_ : peers_;
  const int root = shape_.root % static_cast<int>(group.size());
  root_world_rank_ = group[root];
  is_root_ = root_world_rank_ == world_rank_;
  arguments_.root = !is_with_us ? root : is_root_ ? MPI_ROOT : MPI_PROC_NULL;
  in_holds_ = row.inAt(is_root_);
  out_holds_ = row.outAt(is_root_);
  if (!is_with_us) return;
  // There the root has its own part alone, and the others have none.
  if (!is_root_ || row.in_elsewhere != Holds::kNothing) in_holds_ = Holds::kNothing;
  const bool gets = shape_.collective->isBroadcast() || row.out_elsewhere == Holds::kNothing;
  if (!is_root_ || !gets) out_holds_ = Holds::kNothing;
}

uint64_t Call::dataKey(int source, int dest) const {
  return mix(shape_.key, round_, source, shape_.collective->sendsEach() ? 1 + dest : 0);
}

void Call::layOutReduction() {
  const Layout& layout = shape_.reduction.layout;
  int64_t total = shape_.units, mine = shape_.units;
  if (shape_.collective->scattersSums()) {
    // Both groups of an intercommunicator scatter vectors of one length.
    for (const int rank : members_)
      scattered_.push_back(is_inter_ ? shape_.units * static_cast<int64_t>(peers_.size())
                                     : unitsOf(0, rank));
    total = std::accumulate(scattered_.begin(), scattered_.end(), int64_t{0});
    mine = scattered_[rank_];
  }
  const auto makeSide = [&](Side& side, int64_t elements) {
    side.blocks = {{&layout, elements}};
    const int64_t last = elements > 0 ? (elements - 1) * layout.extent : 0;
    side.memory = std::make_shared<Memory>(layout.lowest, last + layout.highest);
  };
  const bool receives = out_holds_ != Holds::kNothing;
  if (in_holds_ != Holds::kNothing && !is_in_place_here_) makeSide(in_, total);
  if (receives) makeSide(out_, is_in_place_here_ ? total : mine);
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
        values[atom] =
            shape_.reduction.contribution(dataKey(peers_[rank], 0), element * atoms + atom);
      if (rank > 0) shape_.reduction.combine(sum, next);
    }
    results.insert(results.end(), sum.begin(), sum.end());
  }
  return results;
}

void Call::fillReduction() {
  const Layout& layout = shape_.reduction.layout;
  const Side& source = is_in_place_here_ ? out_ : in_;
  if (source.isUsed())
    source.memory->put(layout, 0, source.blocks[0].elements,
                       [&, key = dataKey(world_rank_, 0)](int64_t number) {
                         return shape_.reduction.contribution(key, number);
                       });
  if (!out_.isUsed()) return;
  const int64_t total = out_.blocks[0].elements;
  int64_t first = 0, mine = total;
  if (shape_.collective->scattersSums()) {
    first = std::accumulate(scattered_.begin(), scattered_.begin() + rank_, int64_t{0});
    mine = scattered_[rank_];
  }
  const bool is_prefix = shape_.collective->isPrefix();
  const int ranks =
      is_prefix ? rank_ + shape_.collective->row->includesOwn() : static_cast<int>(peers_.size());
  if (ranks == 0) return;  // nothing is written
  const std::vector<int64_t> results = combined(first, mine, ranks);
  out_.memory->expect(layout, 0, mine, [&](int64_t number) { return results[number]; });
  // What MPI leaves in the rest of an in-place vector is its own affair.
  if (is_in_place_here_) out_.memory->leaveOpen(layout, mine * layout.extent, total - mine);
}

void Call::makeTypes() {
  const auto make = [&](const Layout& layout, MPI_Aint shift) {
    const MPI_Datatype type = layout.make(shift);
    if (shift != 0 || !layout.is_predefined) made_types_.push_back(type);
    return type;
  };
  const auto shiftOf = [&](const Side& side, uint64_t number) -> MPI_Aint {
    if (!shape_.at_bottom || side.is_addressed) return 0;
    if (mix(shape_.key, rank_, number) % 3 == 0) return 0;
    MPI_Aint address;
    MPI_Get_address(side.memory->address(), &address);
    return address;
  };
  const auto prepare = [&](const Side& side, uint64_t number, void*& buffer, MPI_Datatype& type,
                           std::vector<MPI_Datatype>& types) {
    if (side.memory == nullptr) return;
    buffer = side.memory->address();
    if (!side.isUsed()) return;
    const MPI_Aint shift = shiftOf(side, number);
    if (shift != 0 || side.is_addressed) buffer = MPI_BOTTOM;
    if (shape_.collective->each_type) {
      for (const Block& block : side.blocks)
        types.push_back(make(*block.layout, shift));
    } else {
      type = make(*side.blocks.front().layout, shift);
    }
  };
  void* in = nullptr;
  prepare(in_, 1, in, arguments_.in_type, arguments_.in_types);
  prepare(out_, 2, arguments_.out, arguments_.type, arguments_.types);
  arguments_.in = in;
  if (arguments_.root == MPI_PROC_NULL && arguments_.type == MPI_DATATYPE_NULL)
    arguments_.type = arguments_.in_type = MPI_BYTE;
  if (!shape_.collective->reduces()) return;
  if (in_.isUsed()) arguments_.type = arguments_.in_type;
  arguments_.op = shape_.reduction.make();
  made_op_ = !shape_.reduction.isPredefined();
}

void Call::freeArguments() {
  for (MPI_Datatype& type : made_types_)
    MPI_Type_free(&type);
  made_types_.clear();
  if (made_op_) MPI_Op_free(&arguments_.op);
  made_op_ = false;
}

int Call::invoke() {
  if (!shape_.collective->isBarrier()) makeTypes();
  if (is_in_place_here_) {
    if (shape_.collective->row->in_place == torc::InPlace::kOwnResult)
      arguments_.out = MPI_IN_PLACE;
    else
      arguments_.in = MPI_IN_PLACE;
  }
  const int code = shape_.collective->call(shape_.form, arguments_, &request_);
  if (shape_.free_early) freeArguments();
  if (shape_.forget_lists) arguments_.spoil();
  return code;
}

void Call::prepare() {
  for (Side* side : sides())
    if (side->memory != nullptr)
      side->memory->fill(mix(shape_.key, world_rank_, round_, side == &in_ ? 1 : 2));
  if (shape_.collective->reduces())
    fillReduction();
  else
    fillMovement();
  if (!isPersistent() || initialised_) return;
  checkCall(invoke(), description_);
  initialised_ = true;
}

void Call::start() {
  prepare();
  if (isPersistent())
    checkCall(MPI_Start(&request_), "MPI_Start: " + description_);
  else
    checkCall(invoke(), description_);
}

void Call::verify() {
  for (Side* side : sides()) {
    if (side->memory == nullptr || (side == &in_ && in_.memory == out_.memory)) continue;
    const int64_t at = side->memory->firstDifference();
    const char* what = side == &in_ ? "the contribution (it must not change)" : "the result";
    check(at == Memory::kNowhere,
          at == Memory::kNowhere ? std::string()
                                 : std::string(what) + " is wrong at byte " + std::to_string(at) +
                                       " in round " + std::to_string(round_) + ": " + description_);
  }
  ++round_;
}

uint64_t Call::hash() {
  uint64_t hash = mix(rank_, round_);
  for (const Side* side : sides())
    if (side->memory != nullptr) hash = mix(hash, side->memory->hash());
  return hash;
}

void Call::run() {
  start();
  checkCall(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait: " + description_);
  verify();
}

void Call::freeRequest() {
  if (isPersistent() && request_ != MPI_REQUEST_NULL)
    checkCall(MPI_Request_free(&request_), "MPI_Request_free: " + description_);
}

}  // namespace mpi_calls
