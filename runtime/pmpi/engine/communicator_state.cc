// CommunicatorState: recognition, and the services of the engine for its members.
#include "runtime/pmpi/engine/communicator_state.h"

#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/operation.h"
#include "runtime/pmpi/statistics/statistics.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/transport/mpi_status.h"
#include "support/hash.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

// An attribute holds the name in its upper bits, a hash of the parent's attribute, and the number
// of children so far in the lower ones. All ranks of a communicator create others from it in the
// same order.
constexpr std::uint64_t kChildren = (std::uint64_t{1} << 20) - 1;

std::uint64_t attributeOf(MPI_Comm comm) {
  void* attribute = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, engine->names, &attribute, &found);
  return found ? reinterpret_cast<std::uint64_t>(attribute) : 0;
}

void setAttribute(MPI_Comm comm, int keyval, std::uint64_t value) {
  PMPI_Comm_set_attr(comm, keyval, reinterpret_cast<void*>(value));
}

}  // namespace

void openNames(int& keyval) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
  setAttribute(MPI_COMM_WORLD, keyval, kChildren + 1);
}

bool nameChild(MPI_Comm parent, MPI_Comm child) {
  const std::uint64_t known = parent == MPI_COMM_NULL ? 0 : attributeOf(parent);
  if (known == 0 || (known & kChildren) == kChildren) return false;
  setAttribute(parent, engine->names, known + 1);
  // Children of a split share the name but not their members: `nameOf` adds their first member.
  if (child != MPI_COMM_NULL) {
    setAttribute(child, engine->names, hashNumbers(known) & ~kChildren);
  }
  return true;
}

std::uint64_t nameOf(MPI_Comm comm) {
  const std::uint64_t name = attributeOf(comm) & ~kChildren;
  if (name == 0) return 0;
  MPI_Group group = MPI_GROUP_NULL;
  int first = 0, in_world = MPI_UNDEFINED;
  PMPI_Comm_group(comm, &group);
  PMPI_Group_translate_ranks(group, 1, &first, engine->library->world, &in_world);
  PMPI_Group_free(&group);
  // The ranks combine their numbers by MPI_MAX, which treats all words as signed in MPICH 4.0.2.
  return hashNumbers(name, in_world) >> 1;
}

CommunicatorState* CommunicatorState::of(MPI_Comm comm) {
  Found& last = last_found_;
  const std::uint64_t freed = communicators_freed.load(std::memory_order_relaxed);
  if (last.state != nullptr && last.comm == comm && last.freed == freed) return last.state;
  void* attribute = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, engine->keyval, &attribute, &found);
  if (!found) return nullptr;
  last = {comm, freed, static_cast<CommunicatorState*>(attribute)};
  return last.state;
}

CommunicatorState* CommunicatorState::attach(MPI_Comm comm) {
  const int rank = commRank(comm), size = commSize(comm);
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  std::unique_ptr<CommunicatorState> state(new CommunicatorState(comm, rank, size));
  if (inter) {
    state->recognition_.why = Reason::kIntercommunicator;
  } else if (size == 1) {
    state->recognition_.why = Reason::kOneRank;
  } else {
    state->recognise();
  }
  state->describe();
  {
    EngineLock lock;
    engine->states.insert(state.get());
    if (state->recognition_.ok()) state->setId(nameOf(comm));
  }
  PMPI_Comm_set_attr(comm, engine->keyval, state.get());
  return state.release();
}

void CommunicatorState::recognise() {
  const SetUpTime time;
  recognition_ = engine->library->recognise(comm_);
  if (!recognition_.ok()) return;
  service_ = ServiceCollective::make();
  if (recognition_.map.isIdentity()) grid_ = findGrid(comm_, recognition_.topology);
}

/// Sets the description.
void CommunicatorState::describe() {
  description_ = message(size_, size_ == 1 ? " rank" : " ranks");
  std::string why = reasonText().empty() ? text(reason()) : reasonText();
  if (recognition_.ok()) {
    const std::string whole = engine->library->job.topology.shape();
    description_ = static_cast<std::uint64_t>(size_) == engine->library->job.topology.ranks()
                       ? whole
                       : message(recognition_.topology.shape(), " sub-torus of ", whole);
    why.clear();
  }
  say(Verbosity::kCommunicators, rank_,
      message("communicator of ", size_,
              size_ == 1 ? " rank: " : " ranks: ", why.empty() ? description_ : why));
  if (engine->statistics != nullptr) {
    number = engine->statistics->communicator(description_, why, rank_);
  }
}

/// Throws std::bad_alloc.
void CommunicatorState::setId(std::uint64_t id) {
  if (id == id_) return;
  engine->by_id.emplace(id, this);
  if (id_ != 0) engine->by_id.erase(id_);
  id_ = id;
  std::erase_if(engine->early, [&](const Notice& notice) TORC_REQUIRES(engine_lock) {
    if (notice.communicator != id) return false;
    history_.take(notice);
    return true;
  });
}

CommunicatorState::~CommunicatorState() {
  if (id_ != 0) engine->by_id.erase(id_);
  if (geometry_ != nullptr) dropGeometry();
}

void CommunicatorState::dropGeometry() {
  --engine->duplicates;
  repeated_.dropAll();
  trials.reset();
  calls_.reset();
  schedules_.reset();
  geometry_->has_failed = history_.hasFailures();
  geometry_.reset();
}

void CommunicatorState::enqueue(Operation* operation) {
  if (queue_.empty()) engine->waiting.reserve(engine->waiting.size() + 1);
  queue_.push_back(operation);
  // It is at the head of the queue even if it leaves at once.
  if (queue_.size() == 1 && !proceed()) engine->waiting.push_back(this);
}

bool CommunicatorState::proceed() {
  while (!queue_.empty() && queue_.front()->proceed())
    queue_.pop_front();
  return queue_.empty();
}

bool CommunicatorState::isEnding() const {
  return engine->is_ending;
}

void CommunicatorState::callHasFailed() {
  engine->has_failed_states = true;
}

void CommunicatorState::hasGoneOn() {
  engine->tellRefused();
}

void CommunicatorState::send(int first, int count, Notice& notice) const {
  if (id_ == 0) return;
  notice.communicator = id_;
  const MPI_Comm same = isSetUp() ? duplicate() : comm_;
  if (same == MPI_COMM_NULL) return;
  for (const int rank : translatedRanks(same, first, count, engine->library->world)) {
    if (rank != MPI_UNDEFINED && rank != engine->world_rank) engine->notices.send(rank, notice);
  }
}

}  // namespace torc::runtime::pmpi
