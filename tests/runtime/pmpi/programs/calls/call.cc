#include "tests/runtime/pmpi/programs/calls/call.h"

#include <utility>

#include "tests/runtime/pmpi/programs/random/record.h"

namespace programs {

Call::Call(const Shape& shape, const Communicator& communicator, int number)
    : Activity(number),
      shape_(shape),
      rank_(communicator.rank),
      size_(communicator.size()),
      comm_(communicator.handle),
      members_(communicator.members) {
  shape_.root %= size_;
  description_ = shape_.describe() + " on " + communicator.name + ", rank " +
                 std::to_string(rank_) + " of " + std::to_string(size_);
  arguments_.wide = shape_.wide;
  arguments_.comm = comm_;
  arguments_.root = shape_.root;
  if (shape_.collective->isReduction())
    layOutReduction();
  else
    layOutMovement();
}

Call::~Call() {
  freeArguments();
}

void Call::freeArguments() {
  for (MPI_Datatype& type : made_types_)
    MPI_Type_free(&type);
  made_types_.clear();
  if (made_op_) MPI_Op_free(&arguments_.op);
  made_op_ = false;
}

void Call::freeRequest() {
  if (request != MPI_REQUEST_NULL)
    check(MPI_Request_free(&request), number(), "MPI_Request_free: " + description_);
}

void Call::makeTypes() {
  const auto make = [&](const Layout& layout, MPI_Aint shift) {
    const MPI_Datatype type = layout.make(shift);
    if (shift != 0 || !layout.isPredefined()) made_types_.push_back(type);
    return type;
  };
  const auto shiftOf = [&](const Side& side, uint64_t number) -> MPI_Aint {
    if (!shape_.at_bottom || mix(shape_.key, rank_, number) % 3 == 0) return 0;
    MPI_Aint address;
    MPI_Get_address(side.memory->address(), &address);
    return address;
  };
  const auto prepare = [&](const Side& side, uint64_t number, void*& buffer, MPI_Datatype& type,
                           std::vector<MPI_Datatype>& types) {
    if (side.memory == nullptr) return;
    const MPI_Aint shift = shiftOf(side, number);
    buffer = shift != 0 ? MPI_BOTTOM : side.memory->address();
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
  if (!shape_.collective->isReduction()) return;
  if (in_.memory != nullptr) arguments_.type = arguments_.in_type;
  arguments_.op = shape_.reduction.make();
  made_op_ = shape_.reduction.function != nullptr;
}

int Call::invoke() {
  if (shape_.collective->flow != Flow::kNothing) makeTypes();
  if (shape_.in_place) {
    // Where it has no meaning, the other side's argument is left null.
    if (shape_.collective->flow == Flow::kScatter) {
      if (isRoot()) arguments_.out = MPI_IN_PLACE;
    } else if (!shape_.collective->hasRoot() || isRoot()) {
      arguments_.in = MPI_IN_PLACE;
    }
  }
  const int code = shape_.collective->call(shape_.form, arguments_, &request);
  if (shape_.free_early) freeArguments();
  if (shape_.forget_lists) arguments_.spoil();
  return code;
}

void Call::start() {
  for (const Side* side : {&in_, &out_})
    if (side->memory != nullptr)
      side->memory->fill(mix(shape_.key, rank_, round_, side == &in_ ? 1 : 2));
  if (shape_.collective->isReduction())
    fillReduction();
  else
    fillMovement();
  if (!isPersistent()) {
    check(invoke(), number(), description_);
    if (shape_.form == Form::kBlocking) finish();
    return;
  }
  if (round_ == 0) check(invoke(), number(), description_);
  check(MPI_Start(&request), number(), "MPI_Start: " + description_);
}

void Call::finish() {
  for (const Side* side : {&in_, &out_}) {
    if (side->memory == nullptr || (side == &in_ && in_.memory == out_.memory)) continue;
    const int64_t at = side->memory->firstDifference();
    if (at != Memory::kNowhere)
      fail(number(), std::string(side == &in_ ? "the contribution" : "the result") +
                         " is wrong at byte " + std::to_string(at) + " in round " +
                         std::to_string(round_) + ": " + description_);
    addHash(number(), mix(rank_, round_, side->memory->hash()));
  }
  ++round_;
}

}  // namespace programs
