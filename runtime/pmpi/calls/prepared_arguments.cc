// Arguments of a served call: widening, and packing of derived datatypes.
#include "runtime/pmpi/calls/prepared_arguments.h"

#include <algorithm>
#include <limits>

#include "runtime/execution/mpi_reduction.h"
#include "runtime/pmpi/calls/call_report.h"
#include "runtime/transport/mpi_transport.h"

namespace torc::pmpi {
namespace {

struct Element {
  std::int64_t bytes = 0, extent = 0;
  bool is_bytes = false;  // its data, byte after byte in the order of the type, and nothing else
};

Element describe(MPI_Datatype type) {
  MPI_Count size = 0, lower = 0, extent = 0;
  PMPI_Type_size_x(type, &size);
  PMPI_Type_get_extent_x(type, &lower, &extent);
  Element element{size, extent, lower == 0 && extent == size};
  if (element.is_bytes) {
    int integers = 0, addresses = 0, types = 0, combiner = 0;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
      const StatusOr<ElementType> derived = describeType(type);
      element.is_bytes = derived.ok() && derived->simple;
    }
  }
  return element;
}

/// Whether memory that the caller contributes lies within what the blocks of `out` span, somewhere
/// else than MPI_IN_PLACE says. MPICH lets that pass and reads it before it writes.
bool liesIn(const void* in, const CollectiveCall& call, int size, std::int64_t element_bytes) {
  std::int64_t begin = 0, end = call.count * size;
  if (call.has_counts) {
    begin = std::numeric_limits<std::int64_t>::max();
    end = std::numeric_limits<std::int64_t>::min();
    for (std::size_t r = 0; r < static_cast<std::size_t>(size); ++r) {
      if (call.counts[r] == 0) continue;
      begin = std::min(begin, call.displacements[r]);
      end = std::max(end, call.displacements[r] + call.counts[r]);
    }
  }
  if (begin >= end) return false;
  const auto out = reinterpret_cast<std::intptr_t>(call.out);
  const auto first = reinterpret_cast<std::intptr_t>(in);
  MPI_Count in_size = 0;
  PMPI_Type_size_x(call.in_type, &in_size);
  return first < out + end * element_bytes &&
         out + begin * element_bytes < first + call.in_count * in_size;
}

/// Calls copy(data, count, type) -> Status. MPICH 4.0.2's MPI_Pack and MPI_Unpack refuse
/// MPI_BOTTOM: elements there are described from another address, `anchor`.
template <typename Data, typename Copy>
Status fromAnchor(Data* data, MPI_Count count, MPI_Datatype type, std::byte* anchor, Copy copy) {
  if (data != nullptr) return copy(data, count, type);
  const MPI_Count place = -static_cast<MPI_Count>(reinterpret_cast<std::intptr_t>(anchor));
  MPI_Datatype moved = MPI_DATATYPE_NULL;
  int code = PMPI_Type_create_hindexed_c(1, &count, &place, type, &moved);
  if (code == MPI_SUCCESS) code = PMPI_Type_commit(&moved);
  if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Type_create_hindexed");
  const Status status = copy(anchor, 1, moved);
  PMPI_Type_free(&moved);
  return status;
}

void widen(const NumberList& from, int size, std::int64_t scale, std::vector<std::int64_t>& to) {
  to.resize(static_cast<std::size_t>(size));
  for (std::size_t r = 0; r < to.size(); ++r)
    to[r] = from[r] * scale;
}

}  // namespace

void PreparedArguments::prepare(const CollectiveCall& call, int rank, int size) {
  arguments_.function = functionName(call.id, call.form);
  arguments_.collective = *call.collective;
  arguments_.in = call.in;
  arguments_.out = call.out;
  arguments_.count = call.count;
  arguments_.type = call.type;
  arguments_.op = call.op;
  // The program's own handle, for its operation may compare it or ask for its attributes. The
  // wrapper of MPI_Type_free sees to it that it outlives the call.
  arguments_.keep_type = Keep::kOriginal;
  arguments_.null_is_bottom = true;  // where it is not, the call was not let through
  if (*call.collective == Collective::kAllgather) {
    prepareAllgather(call, rank, size);
  } else if (call.has_counts) {
    widen(call.counts, size, 1, counts_);
    arguments_.has_counts = true;
    arguments_.counts = counts_.data();
  }
}

void PreparedArguments::prepareAllgather(const CollectiveCall& call, int rank, int size) {
  const Element element = describe(call.type);
  arguments_.type = arguments_.in_type = MPI_BYTE;
  arguments_.count = call.count * element.bytes;
  arguments_.in_count =
      element.bytes * (call.has_counts ? call.counts[static_cast<std::size_t>(rank)] : call.count);
  arguments_.has_counts = arguments_.has_displacements = call.has_counts;
  if (call.has_counts) widen(call.counts, size, element.bytes, counts_);
  arguments_.counts = counts_.data();

  const bool in_place = call.in == MPI_IN_PLACE;
  Block own{};  // in `out`
  if (element.is_bytes) {
    if (call.has_counts) widen(call.displacements, size, element.extent, displacements_);
  } else {
    for (int r = 0; r < size; ++r) {
      const auto at = static_cast<std::size_t>(r);
      const std::int64_t place = call.has_counts ? call.displacements[at] : r * call.count;
      const Block block{static_cast<std::byte*>(call.out) + place * element.extent,
                        call.has_counts ? call.counts[at] : call.count, all_.length};
      if (call.has_counts) displacements_.push_back(all_.length);
      all_.length += block.count * element.bytes;
      if (r == rank) own = block;
      // In place, the own block is there already.
      if (block.count > 0 && !(in_place && r == rank)) blocks_.push_back(block);
    }
    all_.bytes = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(all_.length));
    all_.type = call.type;
    arguments_.out = all_.bytes.get();
  }
  arguments_.displacements = displacements_.data();

  const bool stays = in_place
                         ? element.is_bytes
                         : describe(call.in_type).is_bytes &&
                               !(element.is_bytes && liesIn(call.in, call, size, element.bytes));
  if (stays) return;
  own_.length = arguments_.in_count;
  own_.bytes = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(own_.length));
  own_.type = in_place ? call.type : call.in_type;
  own_data_ = in_place ? own.data : call.in;
  own_count_ = in_place ? own.count : call.in_count;
  arguments_.in = own_.bytes.get();
}

Status PreparedArguments::pack() {
  if (own_.bytes == nullptr || own_.length == 0) return {};
  return fromAnchor(own_data_, own_count_, own_.type, own_.bytes.get(),
                    [&](const void* data, MPI_Count count, MPI_Datatype type) {
                      MPI_Count at = 0;
                      return mpiStatus(PMPI_Pack_c(data, count, type, own_.bytes.get(), own_.length,
                                                   &at, MPI_COMM_SELF),
                                       "MPI_Pack");
                    });
}

Status PreparedArguments::unpack() {
  if (all_.bytes == nullptr) return {};
  for (const Block& block : blocks_) {
    const Status status = fromAnchor(
        block.data, block.count, all_.type, all_.bytes.get(),
        [&](void* data, MPI_Count count, MPI_Datatype type) {
          MPI_Count at = block.offset;
          return mpiStatus(
              PMPI_Unpack_c(all_.bytes.get(), all_.length, &at, data, count, type, MPI_COMM_SELF),
              "MPI_Unpack");
        });
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace torc::pmpi
