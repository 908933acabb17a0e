// Offloading: the rule, and the translation of a call's arguments for dedicated ranks.
#include "runtime/pmpi/dedicated/offload.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

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

/// Drops freed communicators.
void forgetFreed() TORC_REQUIRES(offloading_mutex) {
  if (freed.load(std::memory_order_relaxed) == nullptr) return;
  for (Attribute* gone = freed.exchange(nullptr, std::memory_order_acquire); gone != nullptr;)
    delete std::exchange(gone, gone->next_freed);
}

KnownPointer find(MPI_Comm comm) TORC_REQUIRES(offloading_mutex) {
  forgetFreed();
  Attribute* known = nullptr;
  int is_set = 0;
  PMPI_Comm_get_attr(comm, offloading->keyval, &known, &is_set);
  return is_set ? known->communicator : nullptr;
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

/// A datatype that MPI accepts.
std::optional<ElementType> lookAt(MPI_Datatype type) {
  ElementType element;
  if (!lookAtType(type, element).ok()) return std::nullopt;
  // A pack of no elements shows whether MPI accepts the type: it refuses uncommitted types.
  std::byte nothing{};
  int at = 0;
  if (!isPredefinedType(type) &&
      PMPI_Pack(&nothing, 0, type, &nothing, 1, &at, offloading->wire->comm) != MPI_SUCCESS) {
    return std::nullopt;
  }
  return element;
}

/// Bytes of an element, if dedicated ranks support the reduction. Pairs travel with their gaps.
std::optional<std::uint64_t> reducedBytes(MPI_Datatype type, MPI_Op op) {
  struct Last {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    std::uint64_t bytes = 0;
  };
  thread_local Last last;
  if (type == last.type && op == last.op && op != MPI_OP_NULL) return last.bytes;
  if (op == MPI_OP_NULL || !isPredefinedOp(op) || !isPredefinedReduction(op)) return std::nullopt;
  ElementType element;
  Reduction reduction;
  if (!lookAtType(type, element).ok() || !element.predefined ||
      !lookAtReduction(element, op, reduction).ok()) {
    return std::nullopt;
  }
  last = {type, op, element.bytes};
  return element.bytes;
}

bool fits(std::int64_t count) {
  return count >= 0 && count <= kMostOffloadedBytes;
}

/// Describes a reduction; false: dedicated ranks do not support it.
bool setReduction(OffloadedCall& made, const CallArguments& arguments, int rank, int size) {
  const CollectiveRow& row = rowOf(arguments.collective);
  const std::optional<std::uint64_t> bytes = reducedBytes(arguments.type, arguments.op);
  if (!bytes) return false;
  std::uint64_t total = 0, before = 0, own = 0;  // elements
  if (arguments.has_counts) {
    if (arguments.counts.isNull()) return false;
    for (int i = 0; i < size; ++i) {
      if (!fits(arguments.counts[i])) return false;
      if (i == rank) before = total;
      total += static_cast<std::uint64_t>(arguments.counts[i]);
    }
    own = static_cast<std::uint64_t>(arguments.counts[rank]);
  } else {
    own = static_cast<std::uint64_t>(arguments.count);
    total = own * row.countedBlocks(static_cast<std::uint64_t>(size));
    before = own * static_cast<std::uint64_t>(rank);
  }
  made.bytes = made.data_bytes = total * *bytes;
  made.type = PMPI_Type_c2f(arguments.type);
  made.op = PMPI_Op_c2f(arguments.op);
  made.data = arguments.in;
  made.is_data_in_place = arguments.in == MPI_IN_PLACE;
  made.has_result = row.outAt(rank == arguments.root) != Holds::kNothing;
  // Other ranks than the root may have any result arguments.
  if (!made.has_result) return true;
  if (made.is_data_in_place) made.data = arguments.out;
  made.result = arguments.out;
  made.result_count = static_cast<int>(made.bytes);
  if (!row.outWhole()) {
    made.own_offset = before * *bytes;
    made.own_bytes = own * *bytes;
    made.result_count = static_cast<int>(made.own_bytes);
  }
  return true;
}

/// Describes a broadcast: one buffer, which the root reads and the others write.
void setMove(OffloadedCall& made, const CallArguments& arguments, const ElementType& element,
             bool is_root) {
  const auto count = static_cast<int>(arguments.count);
  if (is_root) {
    made.data = arguments.out;
    made.count = count;
    made.data_type = arguments.type;
    made.data_bytes = made.bytes;
    made.is_data_in_row = element.isBytesInRow();
    return;
  }
  made.has_result = true;
  made.result = arguments.out;
  made.result_count = count;
  made.result_type = arguments.type;
}

/// Describes a rank's contribution to an exchange: `blocks` blocks, each of made.bytes bytes.
bool setExchange(OffloadedCall& made, const CallArguments& arguments, const ElementType& element,
                 int rank, int size, int blocks) {
  made.is_data_in_place = arguments.in == MPI_IN_PLACE;
  made.data = arguments.in;
  std::int64_t count = arguments.own_count;
  MPI_Datatype type = arguments.own_type;
  bool is_in_row = false;
  if (made.is_data_in_place) {
    count = arguments.count;
    type = arguments.type;
    is_in_row = element.isBytesInRow();
    const auto extent = static_cast<std::int64_t>(element.bytes);
    const std::int64_t before = blocks == 1 ? rank * count * extent : 0;
    made.data = static_cast<const std::byte*>(arguments.out) + before;
  } else {
    const std::optional<ElementType> own = lookAt(type);
    if (!own || !fits(count)) return false;
    is_in_row = own->isBytesInRow();
  }
  made.count = static_cast<int>(count) * blocks;
  made.data_type = type;
  made.is_data_in_row = is_in_row;
  made.data_bytes = made.bytes * static_cast<std::uint64_t>(blocks);
  made.has_result = true;
  made.result = arguments.out;
  made.result_count = static_cast<int>(arguments.count) * size;
  made.result_type = arguments.type;
  return true;
}

/// Whether a required buffer is missing.
bool lacksBuffer(const OffloadedCall& call) {
  return (call.data == nullptr && call.data_bytes > 0 && call.is_data_in_row) ||
         (call.has_result && call.result == nullptr && call.result_count > 0 &&
          isPredefinedType(call.result_type));
}

/// Bytes of the whole vector of a call.
std::uint64_t vectorBytes(const OffloadedCall& call, int size) {
  const CollectiveRow& row = call.collective.row();
  return call.bytes *
         (row.describesOwn() ? row.countedBlocks(static_cast<std::uint64_t>(size)) : 1);
}

/// The call for dedicated ranks. std::nullopt: they do not support it, or its arguments are wrong,
/// which MPI reports.
std::optional<OffloadedCall> describe(const CollectiveCall& call, OffloadedCollective collective,
                                      const KnownCommunicator& known) {
  const CallArguments& arguments = call.arguments;
  const CollectiveRow& row = collective.row();
  OffloadedCall made;
  made.collective = collective;
  const int rank = known.rank, size = known.size;
  if (collective.is_barrier) {
    made.has_result = true;
    return made;
  }
  if (!fits(arguments.count) || arguments.root < 0 || arguments.root >= size) return std::nullopt;
  made.root = arguments.root;
  if (row.reduces()) {
    if (!setReduction(made, arguments, rank, size)) return std::nullopt;
    return made;
  }
  const std::optional<ElementType> element = lookAt(arguments.type);
  if (!element) return std::nullopt;
  made.bytes = static_cast<std::uint64_t>(arguments.count) * element->size;
  const std::uint64_t vector_bytes = vectorBytes(made, size);
  if (!row.describesOwn()) {
    setMove(made, arguments, *element, rank == arguments.root);
  } else if (const bool is_of_pairs = row.blocks == BlockSpace::kPair;
             vector_bytes > kMostOffloadedBytes ||
             (is_of_pairs && !offloading->wire->roles.canExchange(vector_bytes)) ||
             !setExchange(made, arguments, *element, rank, size, is_of_pairs ? size : 1)) {
    return std::nullopt;
  }
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
  const std::optional<OffloadedCall> made = describe(call, *collective, *known);
  if (!made || vectorBytes(*made, known->size) > *most || lacksBuffer(*made)) {
    tells_itself = false;
    return false;
  }

  call.bytes = vectorBytes(*made, known->size);
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
