// Call arguments: a call of a collective as its caller describes it. Everything that takes calls
// fills this in: the functions of the C API, and the table of intercepted MPI functions
// (runtime/pmpi/calls/intercepted_calls.h). runtime/collectives/call.h checks it.
#ifndef TORC_RUNTIME_JOB_CALL_ARGUMENTS_H_
#define TORC_RUNTIME_JOB_CALL_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <mpi.h>

#include "schedules/collective.h"

namespace torc::runtime {

/// Counts or displacements of the caller, one per rank, of int or a wider type of MPI's.
class NumberList {
 public:
  NumberList() = default;
  NumberList(const int* numbers) : numbers_(numbers), type_(Type::kInt) {}
  NumberList(const long* numbers) : numbers_(numbers), type_(Type::kLong) {}
  NumberList(const long long* numbers) : numbers_(numbers), type_(Type::kLongLong) {}
  /// 0, `step`, 2 * `step`, ..., or `first` everywhere. No numbers of the caller.
  static NumberList row(std::int64_t step) { return NumberList(0, step); }
  static NumberList repeated(std::int64_t first) { return NumberList(first, 0); }

  bool isNull() const { return numbers_ == nullptr && type_ != Type::kComputed; }
  const void* address() const { return numbers_; }
  std::size_t numberBytes() const {
    return type_ == Type::kInt    ? sizeof(int)
           : type_ == Type::kLong ? sizeof(long)
                                  : sizeof(long long);
  }
  /// Whether they lie in memory of the caller.
  bool isStored() const { return numbers_ != nullptr; }
  /// The same numbers, somewhere else.
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
      case Type::kComputed:
        return first_ + step_ * rank;
      case Type::kLongLong:
        break;
    }
    return static_cast<const long long*>(numbers_)[at];
  }

 private:
  enum class Type : std::uint8_t { kInt, kLong, kLongLong, kComputed };
  NumberList(std::int64_t first, std::int64_t step)
      : type_(Type::kComputed), first_(first), step_(step) {}

  const void* numbers_ = nullptr;
  Type type_ = Type::kInt;
  std::int64_t first_ = 0, step_ = 0;
};

/// Whose rules say what is right.
enum class CallRules : std::uint8_t {
  kTorc,  // those of torc.h
  kMpi,   // MPICH's. What moves data serves every datatype, and each rank may describe the data in
          // its own way
};

/// What a collective lacks stays as it is here.
struct CallArguments {
  Collective collective = Collective::kAllreduce;
  CallRules rules = CallRules::kTorc;
  bool has_buffers = true;  // false: it is only asked whether such a call would be served
  bool has_counts = false;  // `counts`, one per rank, instead of `count`
  bool has_displacements = false;
  // Lists, and `type`, are the root's alone; other ranks know nothing but their own block.
  bool lists_at_root = false;
  int root = 0;
  const void* in = nullptr;  // MPI_IN_PLACE: the call is in place
  void* out = nullptr;       // likewise, where the own block is of `out`
  std::int64_t count = 0;  // elements of the vector or of every block, as the collective's row says
  NumberList counts;
  NumberList displacements;  // where blocks begin in the buffer that has them all, in elements
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  // Where the row says that calls describe the own block, in the buffer that has it alone. In a
  // rooted collective the root's `count` and `type` count, and of the others these.
  std::int64_t own_count = 0;
  MPI_Datatype own_type = MPI_DATATYPE_NULL;
  // Of pairs whose counts differ: lists as those above, of the blocks to all ranks, in `in`. What
  // is above are the blocks from all ranks, in `out`. Of neighbours in any case, by neighbour.
  NumberList own_counts;
  NumberList own_displacements;
  // A datatype for each block, in place of the one for all, with displacements in bytes; or null.
  const MPI_Datatype* types = nullptr;
  const MPI_Datatype* own_types = nullptr;
  int neighbours = 0;         // of a neighbourhood collective: how many the grid has
  std::uint32_t missing = 0;  // bit by neighbour: there is none, and its block is none

  /// Whether every block of a pair has a count of its own, which only its two ranks know. Ranks
  /// then know nothing of the size of the call.
  bool hasPairLists() const { return has_counts && rowOf(collective).blocks != BlockSpace::kNode; }
  /// Of neighbours: lists for a call that has one count for its blocks, or one block for all.
  void listNeighbours() {
    if (!rowOf(collective).isOfNeighbours()) return;
    has_counts = has_displacements = true;
    counts = NumberList::repeated(count);
    displacements = NumberList::row(count);
    own_counts = NumberList::repeated(own_count);
    own_displacements = NumberList::row(rowOf(collective).in == Holds::kOwn ? 0 : own_count);
  }
  bool isMissing(int neighbour) const { return neighbours > 0 && (missing >> neighbour & 1) != 0; }
  /// How many numbers a list has.
  int listLength(int ranks) const {
    return rowOf(collective).isOfNeighbours() ? neighbours : ranks;
  }
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_CALL_ARGUMENTS_H_
