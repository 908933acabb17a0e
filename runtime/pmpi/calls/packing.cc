// Packing: copies the program's data by MPI_Pack and MPI_Unpack.
#include "runtime/pmpi/calls/packing.h"

#include <algorithm>
#include <cstring>

#include "runtime/transport/large_counts.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::pmpi {

namespace {

PackedBytes packedAt(const DataMemory& copy, std::int64_t offset) {
  return {copy.data(), static_cast<MPI_Count>(copy.bytes()), offset};
}

}  // namespace

void Packing::prepare(const CallArguments& arguments, int rank, int ranks, Call& call) {
  const CollectiveRow& row = rowOf(call.collective);
  if (arguments.hasPairLists()) return preparePairs(arguments, arguments.listLength(ranks), call);
  if (row.reduces()) return prepareReduction(arguments, call);
  if (call.unpacks_out) prepareOut(arguments, rank, ranks, call);
  if (!call.packs_in || packed_ != nullptr) return;
  const bool was_in_place = arguments.in == MPI_IN_PLACE;
  if (!was_in_place || !row.servesInPlace()) takeContribution(arguments, rank, ranks, call);
  in_.allocate(call.elements.in);
  packed_ = &in_;
  call.in = in_.data();
  if (call.in_place && row.describesOwnOut()) call.out = in_.data();  // the own block stays there
}

/// Blocks of pairs with lists are contiguous in copies, with any datatypes.
void Packing::preparePairs(const CallArguments& arguments, int blocks, Call& call) {
  if (call.unpacks_out) {
    results_ = elementsOf(PairBlocks(arguments, false), blocks, call.per_rank);
    out_.allocate(call.elements.out);
    call.out = out_.data();
  }
  if (call.packs_in) {
    contributions_ = elementsOf(PairBlocks(arguments, true), blocks, call.in_per_rank);
    in_.allocate(call.elements.in);
    call.in = in_.data();
    packed_ = &in_;
  }
}

std::vector<Packing::Elements> Packing::elementsOf(const PairBlocks& of, int blocks,
                                                   const std::vector<std::uint64_t>& lengths) {
  std::vector<Elements> elements;
  std::int64_t offset = 0;
  for (int i = 0; i < blocks; ++i) {
    const PairBlocks::Block block = of.block(i);
    const auto length = static_cast<std::int64_t>(lengths[static_cast<std::size_t>(i)]);
    if (length > 0) elements.push_back(elementsIn(block.data, length, block.type, offset));
    offset += length;
  }
  return elements;
}

Packing::Elements Packing::elementsIn(std::byte* data, std::int64_t bytes, MPI_Datatype type,
                                      std::int64_t offset) {
  ElementType element;
  static_cast<void>(lookAtType(type, element));
  const auto size = std::max<std::int64_t>(1, static_cast<std::int64_t>(element.size));
  return {data, bytes / size, type, offset, bytes % size};
}

/// The contents of `in`: the own block, or all blocks, contiguous in the copy. A block that is
/// shorter than its place in the result is sent together with the bytes behind it there, as in MPI.
void Packing::takeContribution(const CallArguments& arguments, int rank, int ranks,
                               const Call& call) {
  const CollectiveRow& row = rowOf(call.collective);
  const bool is_in_out = arguments.in == MPI_IN_PLACE;
  auto* const in =
      static_cast<std::byte*>(is_in_out ? arguments.out : const_cast<void*>(arguments.in));
  if (row.describesOwnOut()) {
    forEachBlock(arguments, in, ranks, call, [&](int, const Elements& block) {
      if (block.count > 0) contributions_.push_back(block);
    });
    return;
  }
  ElementType own;
  if (row.outWhole() && !is_in_out && lookAtType(arguments.own_type, own).ok() &&
      static_cast<std::uint64_t>(arguments.own_count) * own.size < call.elements.in) {
    forEachBlock(arguments, static_cast<std::byte*>(arguments.out), ranks, call,
                 [&](int r, const Elements& block) {
                   if (r == rank) contributions_.push_back({block.data, block.count, block.type});
                 });
  }
  const std::int64_t blocks = row.blocks == BlockSpace::kPair ? ranks : 1;
  const std::int64_t count = is_in_out ? arguments.count : arguments.own_count;
  const bool has_own_type = row.describesOwn() && !is_in_out;
  contributions_.push_back(
      {in, blocks * count, has_own_type ? arguments.own_type : arguments.type, 0});
}

/// Calls visit(rank, elements) for the blocks of all ranks, in a buffer of the program that begins
/// at `whole`. Their lengths come from `call`, their positions from the arguments.
template <typename Visit>
void Packing::forEachBlock(const CallArguments& arguments, std::byte* whole, int ranks,
                           const Call& call, Visit visit) {
  ElementType element;
  static_cast<void>(lookAtType(arguments.type, element));
  const auto extent = static_cast<std::int64_t>(element.bytes);
  std::int64_t offset = 0;
  for (int r = 0; r < ranks; ++r) {
    const auto length = static_cast<std::int64_t>(
        call.per_rank.empty() ? call.count : call.per_rank[static_cast<std::size_t>(r)]);
    const std::int64_t displacement =
        arguments.has_displacements ? arguments.displacements[r] : r * arguments.count;
    visit(r, elementsIn(whole + displacement * extent, length, arguments.type, offset));
    offset += length;
  }
}

/// The blocks of the result are contiguous in the copy.
void Packing::prepareOut(const CallArguments& arguments, int rank, int ranks, Call& call) {
  const CollectiveRow& row = rowOf(call.collective);
  const bool is_own = row.describesOwnOut();
  out_.allocate(call.elements.out);
  call.out = out_.data();
  auto* const out = static_cast<std::byte*>(arguments.out);
  const bool was_in_place = arguments.in == MPI_IN_PLACE;
  if (is_own) {
    results_.push_back(
        elementsIn(out, static_cast<std::int64_t>(call.elements.out), arguments.own_type, 0));
    return;
  }
  if (row.counts == CountOf::kVector) {
    const Elements whole{out, arguments.count, arguments.type, 0};
    // In place, a rank either contributes the vector or receives it.
    if (was_in_place && row.inAt(rank == call.root) == Holds::kWhole) {
      contributions_.push_back(whole);
      packed_ = &out_;
    } else {
      results_.push_back(whole);
    }
    return;
  }
  forEachBlock(arguments, out, ranks, call, [&](int r, const Elements& block) {
    if (was_in_place && row.servesInPlace() && r == rank) {  // the block is in place
      contributions_.push_back({block.data, block.count, block.type});
    } else if (block.count > 0 || block.rest > 0) {
      results_.push_back(block);
    }
  });
}

/// In place, contribution and result share their memory, in the copy too.
void Packing::prepareReduction(const CallArguments& arguments, Call& call) {
  if (!call.packs_in && !call.unpacks_out) return;
  const auto held = [&](std::uint64_t elements) { return elements * call.type.bytes; };
  if (call.in_place || call.unpacks_out) {
    out_.allocate(
        held(call.in_place ? std::max(call.elements.in, call.elements.out) : call.elements.out));
    call.out = out_.data();
  }
  if (call.unpacks_out) {
    data_.allocate(call.elements.out * call.type.size);
    results_.push_back({static_cast<std::byte*>(arguments.out),
                        static_cast<std::int64_t>(call.elements.out), arguments.type, 0});
  }
  if (!call.packs_in) return;
  if (!call.in_place) {
    in_.allocate(held(call.elements.in));
    call.in = in_.data();
  }
  packed_ = call.in_place ? &out_ : &in_;
  contributions_.push_back(
      {static_cast<std::byte*>(call.in_place ? arguments.out : const_cast<void*>(arguments.in)),
       static_cast<std::int64_t>(call.elements.in), arguments.type, 0});
  // The memory may end with the data of the last element.
  MPI_Count from = 0, extent = 0;
  PMPI_Type_get_true_extent_x(arguments.type, &from, &extent);
  contributed_from_ = from;
  contributed_bytes_ = static_cast<std::int64_t>(held(call.elements.in - 1)) + extent;
}

Status Packing::pack() {
  if (packed_ == nullptr || packed_->bytes() == 0) return {};
  if (contributed_bytes_ > 0) {
    // The address may be MPI_BOTTOM.
    const auto data = reinterpret_cast<std::intptr_t>(contributions_[0].data) + contributed_from_;
    std::memcpy(packed_->data() + contributed_from_, reinterpret_cast<const std::byte*>(data),
                static_cast<std::size_t>(contributed_bytes_));
    return {};
  }
  for (const Elements& block : contributions_) {
    const int code =
        packElements(block.data, block.count, block.type, packedAt(*packed_, block.offset));
    if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Pack");
  }
  return {};
}

Status Packing::unpack(std::span<const ShortMessage> shorter) {
  const bool has_gaps = data_.bytes() > 0;
  const DataMemory& copy = has_gaps ? data_ : out_;
  for (Elements block : results_) {
    int code = MPI_SUCCESS;
    for (const ShortMessage& message : shorter) {
      if (message.at != out_.data() + block.offset) continue;
      block = elementsIn(block.data, static_cast<std::int64_t>(message.bytes), block.type,
                         block.offset);
    }
    if (has_gaps) {
      code = packElements(out_.data(), block.count, block.type, packedAt(data_, 0));
      if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Pack");
    }
    code = unpackElements(packedAt(copy, block.offset), block.data, block.count, block.type);
    if (code == MPI_SUCCESS && block.rest > 0) code = unpackRest(block);
    if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Unpack");
  }
  return {};
}

/// For a block that ends within an element: its first bytes are new, the others are those of the
/// program.
int Packing::unpackRest(const Elements& block) {
  ElementType element;
  static_cast<void>(lookAtType(block.type, element));
  const auto size = static_cast<std::int64_t>(element.size);
  std::byte* const data = block.data + block.count * static_cast<std::int64_t>(element.bytes);
  const auto bytes = std::make_unique_for_overwrite<std::byte[]>(element.size);
  const PackedBytes one{bytes.get(), size, 0};
  const int code = packElements(data, 1, block.type, one);
  if (code != MPI_SUCCESS) return code;
  std::memcpy(bytes.get(), out_.data() + block.offset + block.count * size,
              static_cast<std::size_t>(block.rest));
  return unpackElements(one, data, 1, block.type);
}

}  // namespace torc::runtime::pmpi
