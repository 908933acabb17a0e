// Engine: the lock, progress, and what lives until the last operation that uses it.
#include "runtime/pmpi/engine.h"

#include <algorithm>
#include <mutex>
#include <sched.h>

#include "runtime/pmpi/communicator_state.h"
#include "runtime/pmpi/operation.h"
#include "runtime/pmpi/progress.h"

namespace torc::pmpi {

Engine* engine = nullptr;

namespace {

std::mutex engine_mutex;
std::atomic<bool> has_failures{false};

// With a core for every rank: fruitless looks, of a tenth of a microsecond or so each, before a
// waiting call offers its core to others. Where there are none that costs a quarter of one.
constexpr unsigned kLooksBeforeYield = 300;

}  // namespace

EngineLock::EngineLock() {
  engine_mutex.lock();
  inside_torc = true;
}

EngineLock::~EngineLock() {
  if (!engine->failures.empty()) has_failures.store(true, std::memory_order_relaxed);
  inside_torc = false;
  engine_mutex.unlock();
}

void reportFailures() {
  if (!has_failures.load(std::memory_order_relaxed)) return;
  std::vector<Engine::Failure> failures;
  {
    EngineLock lock;
    failures.swap(engine->failures);
    has_failures.store(false, std::memory_order_relaxed);
  }
  for (const Engine::Failure& failure : failures)
    PMPI_Comm_call_errhandler(failure.comm, failure.code);
}

void advance() {
  if (inside_torc || engine == nullptr || !engine_mutex.try_lock()) return;
  inside_torc = true;
  engine->advance();
  if (!engine->failures.empty()) has_failures.store(true, std::memory_order_relaxed);
  inside_torc = false;
  engine_mutex.unlock();
  reportFailures();
}

void Pause::operator()() {
  if (oversubscribed.load(std::memory_order_relaxed) || ++looks_ > kLooksBeforeYield) sched_yield();
}

int complete(int started, MPI_Request* request, MPI_Status* status) {
  if (started != MPI_SUCCESS) return started;
  int code = MPI_SUCCESS, done = 0;
  progressUntil([&] {
    code = PMPI_Test(request, &done, status);
    return done || code != MPI_SUCCESS;
  });
  return code;
}

void Engine::advance() {
  context.advance();
  std::erase_if(in_mpi, [](Operation* operation) { return operation->testMpi(); });
  // A queue may empty, but none is added here.
  std::erase_if(waiting, [](CommunicatorState* state) { return state->proceed(); });
  if (!abandoned_.empty() || freed_.load(std::memory_order_relaxed) != nullptr) destroyAbandoned();
}

void Engine::add(Operation* operation) {
  operation->previous = nullptr;
  operation->next = first_;
  if (first_ != nullptr) first_->previous = operation;
  first_ = operation;
}

void Engine::remove(Operation* operation) {
  (operation->previous != nullptr ? operation->previous->next : first_) = operation->next;
  if (operation->next != nullptr) operation->next->previous = operation->previous;
  if (!kept_types_.empty() || !kept_ops_.empty()) freeKept();
}

Operation* Engine::persistentOperation(MPI_Request request) const {
  const auto found = persistent.find(request);
  return found == persistent.end() ? nullptr : found->second;
}

bool Engine::uses(int handle) const {
  for (const Operation* operation = first_; operation != nullptr; operation = operation->next) {
    if (operation->uses(handle)) return true;
  }
  return false;
}

bool Engine::keepType(MPI_Datatype type) {
  if (!uses(type)) return false;
  kept_types_.push_back(type);
  return true;
}

bool Engine::keepOp(MPI_Op op) {
  if (!uses(op)) return false;
  kept_ops_.push_back(op);
  return true;
}

void Engine::freeKept() {
  std::erase_if(kept_types_, [this](MPI_Datatype& type) {
    return !uses(type) && PMPI_Type_free(&type) == MPI_SUCCESS;
  });
  std::erase_if(kept_ops_,
                [this](MPI_Op& op) { return !uses(op) && PMPI_Op_free(&op) == MPI_SUCCESS; });
}

void Engine::abandon(CommunicatorState* state) {
  state->next_freed = freed_.load(std::memory_order_relaxed);
  while (!freed_.compare_exchange_weak(state->next_freed, state, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
}

void Engine::destroyAbandoned() {
  CommunicatorState* state = freed_.exchange(nullptr, std::memory_order_acquire);
  for (; state != nullptr; state = state->next_freed) {
    state->communicatorFreed();
    abandoned_.push_back(state);
  }
  std::erase_if(abandoned_, [this](CommunicatorState* idle) {
    if (idle->inUse()) return false;
    states.erase(idle);
    delete idle;
    return true;
  });
}

void Engine::destroyAll() {
  for (auto& [request, operation] : persistent) {
    MPI_Request handle = request;
    PMPI_Request_free(&handle);
    operation->freePersistent();
  }
  persistent.clear();
  for (CommunicatorState* state : states)
    delete state;
  states.clear();
  abandoned_.clear();
}

}  // namespace torc::pmpi
