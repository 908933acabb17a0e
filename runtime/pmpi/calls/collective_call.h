// One call of a collective as the program made it: function, arguments in the form of
// runtime/collectives, the equivalent MPI call for a fallback, the verdict, and a note
// by which waiting ranks compare their calls.
#ifndef TORC_RUNTIME_PMPI_CALLS_COLLECTIVE_CALL_H_
#define TORC_RUNTIME_PMPI_CALLS_COLLECTIVE_CALL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <mpi.h>

#include "runtime/job/call_arguments.h"
#include "runtime/job/call_table.h"
#include "runtime/job/reason.h"
#include "schedules/library/index.h"

namespace torc::runtime::pmpi {

/// Copies of the program's lists that a call reads after it has returned: a program may free its
/// lists at once.
class KeptLists {
 public:
  /// Copies a list of `ranks` numbers; `list` then refers to the copy. Throws std::bad_alloc.
  void keep(NumberList& list, int ranks) {
    if (list.address() == nullptr) return;
    list = list.at(copyOf(list.address(), static_cast<std::size_t>(ranks) * list.numberBytes()));
  }
  void keep(const MPI_Datatype*& types, int ranks) {
    if (types == nullptr) return;
    const std::size_t bytes = static_cast<std::size_t>(ranks) * sizeof(MPI_Datatype);
    types = reinterpret_cast<const MPI_Datatype*>(copyOf(types, bytes));
  }

  /// The copy of a list of the program; the list itself if it was not copied.
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
  const std::byte* copyOf(const void* list, std::size_t bytes) {
    copies_.push_back({list, std::make_unique_for_overwrite<std::byte[]>(bytes)});
    std::memcpy(copies_.back().bytes.get(), list, bytes);
    return copies_.back().bytes.get();
  }

  std::vector<Copy> copies_;
};

/// The call as MPI's own nonblocking function, on any communicator: a small function object that
/// captures the program's arguments.
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

  alignas(std::max_align_t) std::byte storage_[80];  // the used part depends on the function
  int (*invoke_)(const std::byte*, const KeptLists&, MPI_Comm, MPI_Request*) = nullptr;
};

/// The server of a call, and the reason of a fallback. It is found in one place (engine/decide.h).
/// It changes when the ranks together find another one, in the set-up of a communicator, in a trial
/// or for an unusable schedule, and when the call fails.
class Verdict {
 public:
  /// No verdict yet.
  Verdict() = default;
  /// Falls back to MPI for this reason; kServed: dedicated ranks serve it.
  Verdict(Reason reason)
      : kind_(reason == Reason::kServed ? Kind::kServed : Kind::kMpis), reason_(reason) {}
  /// The schedule of this entry of the index, or of a trial; the entry outlives the call.
  Verdict(const LibraryEntry& entry) : kind_(Kind::kServed), entry_(&entry) {}
  /// The call has ended, with this error class for the program.
  static Verdict over(int code) {
    Verdict verdict;
    verdict.kind_ = Kind::kOver;
    verdict.code_ = code;
    return verdict;
  }

  bool isOpen() const { return kind_ == Kind::kOpen; }
  bool isMpis() const { return kind_ == Kind::kMpis; }
  bool isOver() const { return kind_ == Kind::kOver; }
  /// Reason of the fallback; otherwise kServed.
  Reason reason() const { return reason_; }
  /// Error class for the program of a call that does not fall back.
  int code() const { return code_; }
  /// nullptr: no schedule serves it.
  const LibraryEntry* entry() const { return entry_; }

 private:
  enum class Kind : std::uint8_t { kOpen, kServed, kMpis, kOver };

  Kind kind_ = Kind::kOpen;
  Reason reason_ = Reason::kServed;
  int code_ = MPI_SUCCESS;
  const LibraryEntry* entry_ = nullptr;
};

struct CallTrial;

struct CollectiveCall {
  /// `described`: a BriefCall or CallArguments.
  template <typename Described>
  CollectiveCall(Form call_form, const Described& described, MPI_Comm communicator)
      : form(call_form), comm(communicator), arguments(described) {
    arguments.rules = CallRules::kMpi;
  }
  CallId id() const { return arguments.id; }

  Form form;
  MPI_Comm comm;
  MpiCall mpi;  // for a nonblocking call
  CallArguments arguments;

  // Results, filled in by the layers that the call passes:
  std::uint64_t number = 0;   // among the collective calls of its communicator, from 1 on; 0: none
  std::uint64_t ordinal = 0;  // the same among calls of its function; identifies it on all ranks
  std::uint64_t bytes = 0;    // of the whole vector
  Verdict verdict = Reason::kCollective;
  double began = 0;            // seconds, if statistics are kept
  CallTrial* trial = nullptr;  // the trial of this call (runtime/pmpi/tuning); null: none
};

/// "MPI_Iallreduce": a row's function of this form.
const char* functionName(CallId id, Form form);
inline const char* functionName(const CollectiveCall& call) {
  return functionName(call.id(), call.form);
}

/// A hash of the values that MPI requires to be the same on all ranks: collective, bytes,
/// operation, root.
std::uint64_t signatureOf(const CollectiveCall& call);

/// A call and its server. Plain data, sent to other ranks.
struct CallNote {
  std::uint64_t number = 0;   // of the call on its communicator; 0: none
  std::uint64_t ordinal = 0;  // the same among those of its function
  std::uint64_t signature = 0;
  std::uint64_t refused = 0;  // refused by MPI, of the same function, since the call before
  std::uint64_t bytes = 0;    // of the whole vector, if torc has checked the call
  MPI_Fint op = 0;            // a predefined operation as Fortran integer; otherwise MPI_OP_NULL
  bool has_op = false;        // possibly user-defined
  std::int32_t root = -1;     // of a rooted collective, if torc has checked the call
  CallId id = CallId::kBarrier;
  Reason reason = Reason::kServed;  // of a fallback
  bool stands_still = false;        // other ranks have been asked

  bool isMpis() const { return reason != Reason::kServed; }
  bool isLike(const CallNote& other) const {
    return signature == other.signature && isMpis() == other.isMpis();
  }
};

CallNote noteOn(const CollectiveCall& call);

/// "MPI_Allreduce of 80 bytes, MPI_SUM", "MPI_Reduce", "MPI_Bcast of 80 bytes, root 3",
/// "MPI_Allreduce of 80 bytes, a user-defined operation, handed to MPI there (an operation that
/// does not commute)".
std::string describe(const CallNote& note);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_COLLECTIVE_CALL_H_
