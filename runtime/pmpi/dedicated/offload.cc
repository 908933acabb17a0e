// Offloading: the rule, and the translation of a call's arguments for dedicated ranks.
#include "runtime/pmpi/dedicated/offload.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/collectives/call.h"
#include "runtime/dedicated/client.h"
#include "runtime/dedicated/program_world.h"
#include "runtime/non_copyable.h"
#include "runtime/pmpi/engine/call_report.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/reductions/mpi_reduction.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/which_mpi.h"
#include "schedules/collective.h"
#include "support/message.h"
#include "support/mutex.h"

namespace torc::runtime::pmpi {
namespace {

using dedicated::Client;
using dedicated::OffloadedCall;
using dedicated::OffloadedCommunicator;

/// A communicator of the program. Its attribute holds this, and so do persistent calls, which may
/// outlive the program's handle.
struct KnownCommunicator : NonCopyable {
  ~KnownCommunicator();

  bool is_served = false;  // otherwise its calls are not offloaded
  bool tells = false;      // this rank has announced it, and announces its end
  int rank = 0, size = 1;
  OffloadedCommunicator at_servers;
};
using KnownPointer = std::shared_ptr<KnownCommunicator>;

/// Value of the attribute.
struct Attribute {
  KnownPointer communicator;
  Attribute* next_freed = nullptr;
};

struct PersistentCall {
  KnownPointer communicator;
  OffloadedCall call;
  /// A duplicate of the contribution's datatype, which the program may free before a start packs
  /// it.
  MPI_Datatype own_type = MPI_DATATYPE_NULL;
};

Mutex offloading_mutex;

struct Offloading {
  Offloading(std::unique_ptr<dedicated::Wire> given, int application, const OffloadLimits& allowed)
      : wire(std::move(given)), client(*wire, application), limits(allowed) {}

  std::unique_ptr<dedicated::Wire> wire;
  Client client TORC_GUARDED_BY(offloading_mutex);
  OffloadLimits limits;
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Group world = MPI_GROUP_NULL;
  // Communicator of the latest call, with its data.
  MPI_Comm last_comm TORC_GUARDED_BY(offloading_mutex) = MPI_COMM_NULL;
  KnownPointer last TORC_GUARDED_BY(offloading_mutex);
  std::unordered_map<MPI_Request, PersistentCall> persistent TORC_GUARDED_BY(offloading_mutex);
};

Offloading* offloading = nullptr;
std::atomic<Attribute*> freed{nullptr};  // a list

/// Whether the current call itself reports errors on the wire, as it holds no lock.
thread_local bool tells_itself = false;

/// Reports other errors on the wire, found while the program waits for a request. The request's
/// communicator is unknown there.
void tellProgram(MPI_Comm*, int* code, ...) {
  if (tells_itself) return;
  const MPI_Comm world = dedicated::program_world;
  PMPI_Comm_call_errhandler(world != MPI_COMM_NULL ? world : MPI_COMM_SELF, *code);
}

/// Collectives that move data are offloaded only if all blocks have one length.
std::optional<OffloadedCollective> offloadedCollective(const CollectiveCall& call) {
  const CallArguments& arguments = call.arguments;
  if (arguments.has_displacements || !isOffloaded(rowOf(arguments.collective))) return std::nullopt;
  return OffloadedCollective{arguments.collective, call.id() == CallId::kBarrier};
}

/// With the lock.
KnownCommunicator::~KnownCommunicator() {
  if (is_served && offloading != nullptr) offloading->client.forget(at_servers, tells);
}

/// Callback of the attribute: all ranks of the communicator are freeing it. MPI may call this late,
/// inside any of its functions, also while the lock is held.
int forget(MPI_Comm, int, void* value, void*) {
  auto* gone = static_cast<Attribute*>(value);
  gone->next_freed = freed.load(std::memory_order_relaxed);
  while (!freed.compare_exchange_weak(gone->next_freed, gone, std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
  return MPI_SUCCESS;
}

/// Drops freed communicators; their handles may be in use for others by now.
void forgetFreed() TORC_REQUIRES(offloading_mutex) {
  if (freed.load(std::memory_order_relaxed) == nullptr) return;
  offloading->last_comm = MPI_COMM_NULL;
  offloading->last.reset();
  for (Attribute* gone = freed.exchange(nullptr, std::memory_order_acquire); gone != nullptr;)
    delete std::exchange(gone, gone->next_freed);
}

KnownPointer find(MPI_Comm comm) TORC_REQUIRES(offloading_mutex) {
  forgetFreed();
  if (comm == offloading->last_comm) return offloading->last;
  Attribute* known = nullptr;
  int is_set = 0;
  PMPI_Comm_get_attr(comm, offloading->keyval, &known, &is_set);
  if (!is_set) return nullptr;
  offloading->last_comm = comm;
  offloading->last = known->communicator;
  return offloading->last;
}

/// Collective over the communicator.
KnownPointer define(MPI_Comm comm) TORC_EXCLUDES(offloading_mutex) {
  auto known = std::make_shared<KnownCommunicator>();
  int is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  if (!is_inter) {
    known->rank = commRank(comm);
    known->size = commSize(comm);
  }
  const std::vector<int> members = translatedRanks(comm, 0, known->size, offloading->world);
  if (known->size > 1 && std::ranges::count(members, MPI_UNDEFINED) == 0) {
    known->is_served = true;
    known->tells = known->rank == 0;
    std::uint64_t id = 0;
    if (known->tells) {
      const MutexLock lock(offloading_mutex);
      id = offloading->client.newIdentifier();
    }
    MPI_Request request = MPI_REQUEST_NULL;
    waitFor(PMPI_Ibcast(&id, 1, MPI_UINT64_T, 0, comm, &request), &request);
    const MutexLock lock(offloading_mutex);
    known->at_servers = offloading->client.define(id, members, known->tells);
  }
  PMPI_Comm_set_attr(comm, offloading->keyval, new Attribute{known});
  return known;
}

/// Whether MPI accepts a datatype in messages: it refuses an uncommitted one even without elements.
bool isAccepted(MPI_Datatype type) {
  std::byte nothing{};
  int at = 0;
  return isPredefinedType(type) ||
         PMPI_Pack(&nothing, 0, type, &nothing, 1, &at, offloading->wire->comm) == MPI_SUCCESS;
}

/// Whether dedicated ranks support the datatypes and the operation of a checked call.
bool areSupported(const CallArguments& arguments, const Call& checked) {
  const CollectiveRow& row = rowOf(arguments.collective);
  if (row.reduces()) return checked.type.predefined && isPredefinedReduction(arguments.op);
  const bool has_own_type = row.describesOwn() && arguments.in != MPI_IN_PLACE;
  return isAccepted(arguments.type) && (!has_own_type || isAccepted(arguments.own_type));
}

/// Sets the parts of a reduction that the request has. Pairs travel with their gaps.
void setReduction(OffloadedCall& made, const CallArguments& arguments, const Call& checked,
                  int rank) {
  std::int64_t own = arguments.count, before = own * rank;  // elements
  if (arguments.has_counts) {
    own = arguments.counts[rank];
    before = 0;
    for (int i = 0; i < rank; ++i)
      before += arguments.counts[i];
  }
  made.bytes = made.data_bytes = checked.elements.in * checked.type.bytes;
  made.type = PMPI_Type_c2f(arguments.type);
  made.op = PMPI_Op_c2f(arguments.op);
  made.result_count = static_cast<int>(made.bytes);
  if (rowOf(arguments.collective).outWhole()) return;
  made.own_offset = static_cast<std::uint64_t>(before) * checked.type.bytes;
  made.own_bytes = static_cast<std::uint64_t>(own) * checked.type.bytes;
  made.result_count = static_cast<int>(made.own_bytes);
}

/// Sets a rank's contribution to a call that moves data, and the elements of its result.
void setMove(OffloadedCall& made, const CallArguments& arguments, const Call& checked, int rank,
             int size) {
  const CollectiveRow& row = rowOf(arguments.collective);
  const bool is_of_pairs = row.blocks == BlockSpace::kPair;
  const bool is_own = row.describesOwn() && arguments.in != MPI_IN_PLACE;
  made.bytes = checked.count;
  made.result_count = static_cast<int>(arguments.count) * (row.describesOwn() ? size : 1);
  made.result_type = arguments.type;
  if (row.inAt(rank == arguments.root) == Holds::kNothing) return;
  made.data_bytes = made.bytes * static_cast<std::uint64_t>(is_of_pairs ? size : 1);
  made.count =
      static_cast<int>(is_own ? arguments.own_count : arguments.count) * (is_of_pairs ? size : 1);
  made.data_type = is_own ? arguments.own_type : arguments.type;
  made.is_data_in_row = !checked.packs_in;
  if (row.inWhole() || is_of_pairs || is_own) return;
  // The own block in place.
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_get_extent(arguments.type, &lower, &extent);
  made.data = static_cast<const std::byte*>(arguments.out) + rank * arguments.count * extent;
}

/// The call for dedicated ranks, if its whole vector has at most `most` bytes; sets call.bytes.
/// std::nullopt: they do not support it, or its arguments are wrong, which MPI reports.
std::optional<OffloadedCall> describe(CollectiveCall& call, OffloadedCollective collective,
                                      const KnownCommunicator& known, std::uint32_t most) {
  OffloadedCall made;
  made.collective = collective;
  made.has_result = true;
  if (collective.is_barrier) return made;
  const CallArguments& arguments = call.arguments;
  const CollectiveRow& row = collective.row();
  const bool is_root = known.rank == arguments.root;
  Call checked;
  if (!check(arguments, known.rank, known.size, checked).ok() ||
      !areSupported(arguments, checked)) {
    return std::nullopt;
  }
  const std::uint64_t bytes =
      row.reduces() ? checked.elements.in * checked.type.bytes : checked.bytes;
  // Elements without data may be many.
  if (bytes > most || std::max(arguments.count, arguments.own_count) > kMostOffloadedBytes ||
      (row.blocks == BlockSpace::kPair && !offloading->wire->roles.canExchange(bytes))) {
    return std::nullopt;
  }
  made.root = arguments.root;
  made.is_data_in_place = arguments.in == MPI_IN_PLACE;
  made.data = made.is_data_in_place ? arguments.out : arguments.in;
  if (row.reduces()) {
    setReduction(made, arguments, checked, known.rank);
  } else {
    setMove(made, arguments, checked, known.rank, known.size);
  }
  // The buffer of a broadcast's root is the result already.
  made.has_result =
      row.outAt(is_root) != Holds::kNothing && !(is_root && row.in_elsewhere == Holds::kNothing);
  if (made.has_result) {
    made.result = arguments.out;
  } else {
    made.result_count = 0;
  }
  call.bytes = bytes;
  return made;
}

}  // namespace

void beginOffloading(std::unique_ptr<dedicated::Wire> wire, int application, MPI_Comm world,
                     const OffloadLimits& limits) {
  offloading = new Offloading(std::move(wire), application, limits);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &forget, &offloading->keyval, nullptr);
  PMPI_Comm_group(world, &offloading->world);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_create_errhandler(tellProgram, &handler);
  PMPI_Comm_set_errhandler(offloading->wire->comm, handler);
  PMPI_Errhandler_free(&handler);
  auto known = std::make_shared<KnownCommunicator>();
  known->rank = commRank(world);
  known->size = commSize(world);
  known->is_served = true;
  PMPI_Comm_set_attr(world, offloading->keyval, new Attribute{known});
  has_dedicated.store(true);
}

void endOffloading() {
  has_dedicated.store(false);
  const MutexLock lock(offloading_mutex);
  offloading->persistent.clear();
  forgetFreed();
  offloading->client.end();
  PMPI_Group_free(&offloading->world);
  PMPI_Comm_free_keyval(&offloading->keyval);
  PMPI_Comm_free(&offloading->wire->comm);
  // Communicators that the program has not freed are not announced any more.
  delete std::exchange(offloading, nullptr);
}

void noteCommunicator(MPI_Comm comm) {
  KnownPointer known;
  {
    const MutexLock lock(offloading_mutex);
    known = find(comm);
  }
  if (known == nullptr) define(comm);
}

bool startOffloaded(MPI_Request request) {
  if (!mayOffload()) return false;
  const MutexLock lock(offloading_mutex);
  const auto found = offloading->persistent.find(request);
  if (found == offloading->persistent.end()) return false;
  PersistentCall& call = found->second;
  if (offloading->client.startAgain(call.communicator->at_servers, call.call) != MPI_SUCCESS) {
    complainAndAbort("a persistent collective cannot be sent to its dedicated rank");
  }
  return true;
}

bool forgetOffloaded(MPI_Request request) {
  if (!mayOffload()) return false;
  const MutexLock lock(offloading_mutex);
  const auto found = offloading->persistent.find(request);
  if (found == offloading->persistent.end()) return false;
  if (found->second.own_type != MPI_DATATYPE_NULL) PMPI_Type_free(&found->second.own_type);
  offloading->persistent.erase(found);
  return true;
}

bool offload(CollectiveCall& call, MPI_Request* request) {
  const std::optional<OffloadedCollective> collective = offloadedCollective(call);
  if (!collective || call.comm == MPI_COMM_NULL) return false;
  const OffloadLimits& limits = offloading->limits;
  const bool blocks = call.form == Form::kBlocking;
  const std::optional<std::uint32_t> most =
      (blocks ? limits.blocking : limits.nonblocking)[collective->index()];
  if (!most) return false;
  KnownPointer known;
  {
    const MutexLock lock(offloading_mutex);
    known = find(call.comm);
  }
  if (known == nullptr) {
    if (call.form == Form::kNonblocking) return false;
    known = define(call.comm);
  }
  if (!known->is_served) return false;
  tells_itself = true;
  const std::optional<OffloadedCall> made = describe(call, *collective, *known, *most);
  if (!made) {
    tells_itself = false;
    return false;
  }
  call.verdict = Reason::kServed;
  MPI_Request own = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  {
    const MutexLock lock(offloading_mutex);
    if (call.form == Form::kPersistent) {
      code = offloading->client.makePersistent(known->at_servers, *made, request);
      if (code == MPI_SUCCESS) {
        PersistentCall kept{known, *made};
        if (!kept.call.is_data_in_row) {
          PMPI_Type_dup(kept.call.data_type, &kept.own_type);
          kept.call.data_type = kept.own_type;
        }
        offloading->persistent[*request] = std::move(kept);
        persistent_handles.fetch_add(1, std::memory_order_relaxed);
      }
    } else {
      code = offloading->client.start(known->at_servers, *made, blocks ? &own : request);
    }
  }
  if (blocks) code = waitFor(code, &own);
  tells_itself = false;
  endOffloadedCall(call);
  if (code != MPI_SUCCESS) call.verdict = Verdict::over(code);
  return true;
}

}  // namespace torc::runtime::pmpi
