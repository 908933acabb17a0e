// Call arguments: a collective call as its caller describes it, filled in by the functions of the C
// API and the wrappers of MPI's functions (runtime/job/describe_call.h), and checked by
// runtime/collectives/call.h.
#ifndef TORC_RUNTIME_JOB_CALL_ARGUMENTS_H_
#define TORC_RUNTIME_JOB_CALL_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include <mpi.h>

#include "runtime/job/call_table.h"
#include "schedules/collective.h"

namespace torc::runtime {

/// Counts or displacements of the caller, one per rank, of int or a wider MPI integer type.
class NumberList {
 public:
  NumberList() = default;
  NumberList(const int* numbers) : numbers_(numbers), type_(Type::kInt) {}
  NumberList(const long* numbers) : numbers_(numbers), type_(Type::kLong) {}
  NumberList(const long long* numbers) : numbers_(numbers), type_(Type::kLongLong) {}
  /// A list without memory: 0, `step`, 2 * `step`, ..., or `number` for all.
  static NumberList row(std::int64_t step) { return NumberList(Type::kRow, step); }
  static NumberList repeated(std::int64_t number) { return NumberList(Type::kRepeated, number); }

  bool isNull() const { return address() == nullptr && !isComputed(); }
  const void* address() const { return isComputed() ? nullptr : numbers_; }
  std::size_t numberBytes() const {
    return type_ == Type::kInt    ? sizeof(int)
           : type_ == Type::kLong ? sizeof(long)
                                  : sizeof(long long);
  }
  /// The same list with its numbers copied to `copy`.
  NumberList at(const void* copy) const {
    NumberList list = *this;
    list.numbers_ = copy;
    return list;
  }
  std::int64_t operator[](int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    switch (type_) {
      case Type::kInt:
        return static_cast<const int*>(numbers_)[at];
      case Type::kLong:
        return static_cast<const long*>(numbers_)[at];
      case Type::kLongLong:
        return static_cast<const long long*>(numbers_)[at];
      case Type::kRow:
        return number_ * rank;
      case Type::kRepeated:
        break;
    }
    return number_;
  }

 private:
  enum class Type : std::uint8_t { kInt, kLong, kLongLong, kRow, kRepeated };
  NumberList(Type type, std::int64_t number) : number_(number), type_(type) {}
  bool isComputed() const { return type_ >= Type::kRow; }

  union {
    const void* numbers_ = nullptr;
    std::int64_t number_;
  };
  Type type_ = Type::kInt;
};

/// The rules that define a correct call.
enum class CallRules : std::uint8_t {
  kTorc,  // torc.h's
  kMpi,   // MPICH's: a collective that moves data serves every datatype, and each rank may describe
          // the data in its own way
};

/// Arguments without buffers, as the program passes them. Arguments that a collective lacks keep
/// their defaults, here and below.
struct CallKey {
  bool operator==(const CallKey&) const = default;
  std::uint64_t hash() const {
    const auto pair = [](int high, int low) {
      return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 |
             static_cast<std::uint32_t>(low);
    };
    const std::hash<MPI_Datatype> of_type;
    // A sum of products with odd numbers, which the processor computes in parallel: every call
    // needs this. The upper half of such a sum depends on all bits.
    const std::uint64_t sum =
        pair(static_cast<int>(id) * 4 + in_is_out * 2 + out_is_in, root) * 0x9e3779b97f4a7c15u +
        of_type(type) * 0xc2b2ae3d27d4eb4fu + of_type(own_type) * 0x165667b19e3779f9u +
        std::hash<MPI_Op>()(op) * 0xd6e8feb86659fd93u +
        static_cast<std::uint64_t>(count) * 0xff51afd7ed558ccdu +
        static_cast<std::uint64_t>(own_count) * 0xc4ceb9fe1a85ec53u;
    return sum ^ sum >> 32;
  }

  CallId id = CallId::kBarrier;
  bool in_is_out = false, out_is_in = false;  // MPI_IN_PLACE
  int root = 0;
  std::int64_t count = 0;  // elements of the vector or of every block, as the collective's row
                           // defines
  // If the row describes the own block: its elements in the buffer that holds it alone. In a rooted
  // collective the root's `count` and `type` are significant, and these on the other ranks.
  std::int64_t own_count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL, own_type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
};
static_assert(sizeof(CallKey) <= 64);

/// A call without lists: the key of repeated calls, needed in every call.
struct BriefCall : CallKey {
  BriefCall() = default;
  BriefCall(CallId function, const void* contribution, void* result)
      : in(contribution), out(result) {
    id = function;
    in_is_out = in == MPI_IN_PLACE;
    out_is_in = out == MPI_IN_PLACE;
  }

  const void* in = nullptr;  // MPI_IN_PLACE: the call is in place
  void* out = nullptr;       // likewise, if the own block is in `out`
};

struct CallArguments : BriefCall {
  CallArguments() = default;
  CallArguments(const BriefCall& brief) : BriefCall(brief), collective(collectiveOf(id)) {
    if (id >= CallId::kNeighbor_allgather && id <= CallId::kNeighbor_alltoallw) listNeighbours();
  }

  Collective collective = Collective::kAllreduce;
  CallRules rules = CallRules::kTorc;
  bool has_buffers = true;  // false: only a question whether such a call would be served
  bool has_counts = false;  // `counts`, one per rank, instead of `count`
  bool has_displacements = false;
  // Lists, and `type`, are significant at the root only; other ranks know only their own block.
  bool lists_at_root = false;
  NumberList counts;
  NumberList displacements;  // beginnings of blocks in the buffer that has all of them, in elements
  // For pairs with different counts: lists like those above, for the blocks to all ranks, in `in`.
  // Those above are for the blocks from all ranks, in `out`. For neighbours always, by neighbour.
  NumberList own_counts;
  NumberList own_displacements;
  // A datatype for each block, with displacements in bytes; or null: one for all.
  const MPI_Datatype* types = nullptr;
  const MPI_Datatype* own_types = nullptr;
  int neighbours = 0;         // of a neighbourhood collective: number of neighbours in the grid
  std::uint32_t missing = 0;  // bit by neighbour: no neighbour, and no block

  /// Whether every block of a pair has its own count, known only to the two ranks. Then no rank
  /// knows the size of the call.
  bool hasPairLists() const { return has_counts && rowOf(collective).blocks != BlockSpace::kNode; }
  /// For neighbours: makes lists for a call that has one count for its blocks, or one block for
  /// all.
  void listNeighbours() {
    has_counts = has_displacements = true;
    counts = NumberList::repeated(count);
    displacements = NumberList::row(count);
    own_counts = NumberList::repeated(own_count);
    own_displacements = NumberList::row(rowOf(collective).in == Holds::kOwn ? 0 : own_count);
  }
  bool isMissing(int neighbour) const { return neighbours > 0 && (missing >> neighbour & 1) != 0; }
  /// The length of a list.
  int listLength(int ranks) const {
    return rowOf(collective).isOfNeighbours() ? neighbours : ranks;
  }
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_CALL_ARGUMENTS_H_
