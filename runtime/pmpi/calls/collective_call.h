// One call of a collective as the program made it, in one form for all: what the adapters of the
// table (runtime/pmpi/wrappers/served_calls.h) make of MPI's arguments.
#ifndef TORC_RUNTIME_PMPI_CALLS_COLLECTIVE_CALL_H_
#define TORC_RUNTIME_PMPI_CALLS_COLLECTIVE_CALL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <mpi.h>

#include "runtime/pmpi/calls/reason.h"
#include "runtime/pmpi/wrappers/served_calls.h"
#include "schedules/schedule.h"

namespace torc::pmpi {

/// Counts or displacements of the program, one per rank, 32 or 64 bits wide.
class NumberList {
 public:
  NumberList() = default;
  explicit NumberList(const int* numbers) : narrow_(numbers) {}
  explicit NumberList(const MPI_Count* numbers) : wide_(numbers) {}

  bool empty() const { return narrow_ == nullptr && wide_ == nullptr; }
  bool isWide() const { return wide_ != nullptr; }
  const void* address() const {
    return isWide() ? static_cast<const void*>(wide_) : static_cast<const void*>(narrow_);
  }
  std::int64_t operator[](std::size_t rank) const {
    return wide_ != nullptr ? std::int64_t{wide_[rank]} : narrow_[rank];
  }

 private:
  const int* narrow_ = nullptr;
  const MPI_Count* wide_ = nullptr;
};
static_assert(sizeof(MPI_Count) == sizeof(MPI_Aint) && sizeof(MPI_Count) == 8);

/// Lists of the program that a call reads after it has returned, copied: a program may free them at
/// once.
class KeptLists {
 public:
  /// Copies a list of `ranks` numbers, which `list` names from now on. Throws std::bad_alloc.
  void keep(NumberList& list, int ranks) {
    if (list.empty()) return;
    const auto count = static_cast<std::size_t>(ranks);
    const std::size_t bytes = count * (list.isWide() ? sizeof(MPI_Count) : sizeof(int));
    copies_.push_back({list.address(), std::make_unique_for_overwrite<std::byte[]>(bytes)});
    std::byte* copy = copies_.back().bytes.get();
    std::memcpy(copy, list.address(), bytes);
    list = list.isWide() ? NumberList(reinterpret_cast<const MPI_Count*>(copy))
                         : NumberList(reinterpret_cast<const int*>(copy));
  }

  /// The copy of a list of the program; the list itself where there is none.
  template <typename Number>
  const Number* find(const Number* list) const {
    for (const Copy& copy : copies_) {
      if (copy.original == list) return reinterpret_cast<const Number*>(copy.bytes.get());
    }
    return list;
  }

 private:
  struct Copy {
    const void* original;
    std::unique_ptr<std::byte[]> bytes;
  };
  std::vector<Copy> copies_;
};

/// The call as MPI's own nonblocking one, on whichever communicator: a small function object whose
/// captures are the program's arguments.
class MpiCall {
 public:
  MpiCall() = default;
  template <typename Function>
  explicit MpiCall(const Function& function) : invoke_(&invoke<Function>) {
    static_assert(sizeof(Function) <= sizeof(storage_) && std::is_trivially_copyable_v<Function>);
    std::memcpy(storage_, &function, sizeof(Function));
  }

  int operator()(const KeptLists& kept, MPI_Comm comm, MPI_Request* request) const {
    return invoke_(storage_, kept, comm, request);
  }

 private:
  template <typename Function>
  static int invoke(const std::byte* storage, const KeptLists& kept, MPI_Comm comm,
                    MPI_Request* request) {
    return (*reinterpret_cast<const Function*>(storage))(kept, comm, request);
  }

  alignas(std::max_align_t) std::byte storage_[80] = {};
  int (*invoke_)(const std::byte*, const KeptLists&, MPI_Comm, MPI_Request*) = nullptr;
};

struct CollectiveCall {
  CollectiveCall(CallId call, Form call_form, MPI_Comm communicator)
      : id(call), form(call_form), comm(communicator) {}

  CallId id;
  Form form;
  MPI_Comm comm;
  MpiCall mpi;

  bool only_blocking =
      false;  // MPI's nonblocking form must not be used in place of the blocking one

  // Filled by adapters; `collective` is set where torc has such schedules.
  std::optional<Collective> collective;
  const void* in = nullptr;
  void* out = nullptr;
  std::int64_t count = 0;   // elements: of the vector (allreduce), of each block otherwise
  bool has_counts = false;  // `counts` instead, one per rank
  NumberList counts;
  bool has_displacements = false;
  NumberList displacements;  // where blocks of `out` begin, in elements
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  std::int64_t in_count = 0;  // allgather: the caller's own block, in `in`
  MPI_Datatype in_type = MPI_DATATYPE_NULL;

  // Filled on the way through: what came of it.
  std::uint64_t number = 0;  // among the collective calls of its communicator, from 1 on; 0: none
  std::uint64_t bytes = 0;   // of the whole vector
  Reason reason = Reason::kCollective;
  double began = 0;  // seconds, when statistics are kept
};

template <typename... Arguments>
void adaptNotServed(CollectiveCall&, const Arguments&...) {}

/// MPICH 4.0.2's nonblocking MPI_Alltoallw is wrong in place, where ranks describe their data
/// differently; whether it is in place all ranks say alike.
template <typename... Arguments>
void adaptNotServedW(CollectiveCall& call, const void* in, const Arguments&...) {
  call.only_blocking = in == MPI_IN_PLACE;
}

template <typename Count>
void adaptAllreduce(CollectiveCall& call, const void* in, void* out, Count count, MPI_Datatype type,
                    MPI_Op op, MPI_Comm) {
  call.collective = Collective::kAllreduce;
  call.in = in;
  call.out = out;
  call.count = count;
  call.type = type;
  call.op = op;
}

template <typename Count>
void adaptReduceScatterBlock(CollectiveCall& call, const void* in, void* out, Count count,
                             MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  adaptAllreduce(call, in, out, count, type, op, comm);
  call.collective = Collective::kReduceScatter;
}

template <typename Count>
void adaptReduceScatter(CollectiveCall& call, const void* in, void* out, const Count* counts,
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  adaptReduceScatterBlock(call, in, out, 0, type, op, comm);
  call.has_counts = true;
  call.counts = NumberList(counts);
}

template <typename Count>
void adaptAllgather(CollectiveCall& call, const void* in, Count in_count, MPI_Datatype in_type,
                    void* out, Count count, MPI_Datatype type, MPI_Comm) {
  call.collective = Collective::kAllgather;
  call.in = in;
  call.in_count = in_count;
  call.in_type = in_type;
  call.out = out;
  call.count = count;
  call.type = type;
}

template <typename Count, typename Offset>
void adaptAllgatherv(CollectiveCall& call, const void* in, Count in_count, MPI_Datatype in_type,
                     void* out, const Count* counts, const Offset* displacements, MPI_Datatype type,
                     MPI_Comm comm) {
  adaptAllgather(call, in, in_count, in_type, out, Count{0}, type, comm);
  call.has_counts = true;
  call.counts = NumberList(counts);
  call.has_displacements = true;
  call.displacements = NumberList(displacements);
}

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_COLLECTIVE_CALL_H_
