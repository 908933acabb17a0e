#include "tests/runtime/pmpi/programs/activities/pending.h"

#include <algorithm>
#include <sched.h>

#include "tests/runtime/pmpi/programs/activities/record.h"

namespace programs {
namespace {

/// The requests of a batch as an array; what is complete is finished.
class Waiting {
 public:
  /// `has_statuses`: MPI is asked for them, and they are checked.
  Waiting(std::vector<std::shared_ptr<Activity>> batch, bool has_statuses)
      : batch_(std::move(batch)), has_statuses_(has_statuses) {
    for (const auto& activity : batch_)
      requests_.push_back(activity->request);
    indices_.resize(batch_.size());
    statuses_.resize(batch_.size());
  }

  void each() {
    for (size_t i = 0; i < batch_.size(); ++i) {
      checkWait(MPI_Wait(&requests_[i], status()), "MPI_Wait", i);
      finish(i, 0);
    }
  }
  /// Asks first, and lets the request be.
  void askEach() {
    for (size_t i = 0; i < batch_.size(); ++i) {
      int flag = 0;
      while (!flag) {
        checkWait(MPI_Request_get_status(requests_[i], &flag, status()), "MPI_Request_get_status",
                  i);
        if (!flag) sched_yield();
      }
      checkWait(MPI_Wait(&requests_[i], MPI_STATUS_IGNORE), "MPI_Wait", i);
      finish(i, 0);
    }
  }
  void all() {
    checkWait(MPI_Waitall(count(), requests_.data(), statuses()), "MPI_Waitall", 0);
    finishAll();
  }
  void any() {
    while (left() > 0) {
      int index = MPI_UNDEFINED;
      checkWait(MPI_Waitany(count(), requests_.data(), &index, status()), "MPI_Waitany", 0);
      finishReported("MPI_Waitany", index, 0);
    }
  }
  void some() {
    while (left() > 0) {
      int completed = 0;
      checkWait(MPI_Waitsome(count(), requests_.data(), &completed, indices_.data(), statuses()),
                "MPI_Waitsome", 0);
      for (int i = 0; i < completed; ++i)
        finishReported("MPI_Waitsome", indices_[i], i);
    }
  }
  void testEach() {
    for (size_t i = 0; i < batch_.size(); ++i) {
      int flag = 0;
      while (!flag) {
        checkWait(MPI_Test(&requests_[i], &flag, status()), "MPI_Test", i);
        if (!flag) sched_yield();
      }
      finish(i, 0);
    }
  }
  void testAll() {
    // MPICH 4.0.2's MPI_Testall fails on its own persistent collectives that are under way.
    for (const auto& activity : batch_)
      if (activity->isPersistent()) return testSome();
    int flag = 0;
    while (!flag) {
      checkWait(MPI_Testall(count(), requests_.data(), &flag, statuses()), "MPI_Testall", 0);
      if (!flag) sched_yield();
    }
    finishAll();
  }
  void testAny() {
    while (left() > 0) {
      int index = MPI_UNDEFINED, flag = 0;
      checkWait(MPI_Testany(count(), requests_.data(), &index, &flag, status()), "MPI_Testany", 0);
      if (flag)
        finishReported("MPI_Testany", index, 0);
      else
        sched_yield();
    }
  }
  void testSome() {
    while (left() > 0) {
      int completed = 0;
      checkWait(MPI_Testsome(count(), requests_.data(), &completed, indices_.data(), statuses()),
                "MPI_Testsome", 0);
      for (int i = 0; i < completed; ++i)
        finishReported("MPI_Testsome", indices_[i], i);
      if (completed <= 0) sched_yield();
    }
  }

 private:
  MPI_Status* status() { return has_statuses_ ? statuses_.data() : MPI_STATUS_IGNORE; }
  MPI_Status* statuses() { return has_statuses_ ? statuses_.data() : MPI_STATUSES_IGNORE; }
  int count() const { return static_cast<int>(requests_.size()); }
  int64_t left() const {
    return std::count_if(batch_.begin(), batch_.end(), [](const auto& one) { return one; });
  }
  void checkWait(int code, const char* name, size_t i) {
    if (code != MPI_SUCCESS)
      check(code, batch_[i]->number(), std::string(name) + ": " + batch_[i]->describe());
  }
  /// Number `i` is complete; its status is `at` of those that MPI gave.
  void finish(size_t i, size_t at) {
    Activity& activity = *batch_[i];
    activity.request = requests_[i];
    if (activity.isPersistent() != (activity.request != MPI_REQUEST_NULL))
      fail(activity.number(), "the request of a complete call: " + activity.describe());
    if (has_statuses_) activity.checkStatus(statuses_[at]);
    activity.finish();
    batch_[i] = nullptr;
    // MPICH 4.0.2's own persistent collectives are reported again and again though not active.
    requests_[i] = MPI_REQUEST_NULL;
  }
  void finishAll() {
    for (size_t i = 0; i < batch_.size(); ++i)
      finish(i, i);
  }
  /// MPI says that number `index` is complete.
  void finishReported(const char* name, int index, size_t at) {
    if (index < 0 || index >= count() || batch_[index] == nullptr)
      fail(-1, std::string(name) + " reports index " + std::to_string(index) + " of " +
                   std::to_string(count()) + ", of which " + std::to_string(left()) +
                   " are active");
    finish(index, at);
  }

  std::vector<std::shared_ptr<Activity>> batch_;  // null: finished
  std::vector<MPI_Request> requests_;
  std::vector<int> indices_;
  const bool has_statuses_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace

bool Pending::has(const Activity* activity) const {
  return std::any_of(activities_.begin(), activities_.end(),
                     [&](const auto& one) { return one.get() == activity; });
}

Pending::Batch Pending::take(Random& local) {
  local.shuffle(activities_);
  const int count = local.between(1, static_cast<int>(activities_.size()));
  Batch batch(activities_.end() - count, activities_.end());
  activities_.resize(activities_.size() - count);
  return batch;
}

void Pending::wait(Batch batch, int way, bool has_statuses) {
  Waiting waiting(std::move(batch), has_statuses);
  void (Waiting::*const ways[])() = {&Waiting::each,    &Waiting::all,      &Waiting::any,
                                     &Waiting::some,    &Waiting::testEach, &Waiting::testAll,
                                     &Waiting::testAny, &Waiting::testSome, &Waiting::askEach};
  (waiting.*ways[way])();
}

void Pending::settleSome(Random& local) {
  const int way = local.below(9);
  const bool has_statuses = local.chance(50);
  if (activities_.empty()) return;
  Batch batch = take(local);
  wait(std::move(batch), way, has_statuses);
}

void Pending::settle(const Activity* activity) {
  const auto at = std::find_if(activities_.begin(), activities_.end(),
                               [&](const auto& one) { return one.get() == activity; });
  if (at == activities_.end()) return;
  Batch batch = {*at};
  activities_.erase(at);
  wait(std::move(batch), 0, true);
}

void Pending::settleAll(Random& local) {
  while (!activities_.empty())
    settleSome(local);
}

}  // namespace programs
