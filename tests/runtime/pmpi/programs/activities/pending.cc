#include "tests/runtime/pmpi/programs/activities/pending.h"

#include <algorithm>
#include <sched.h>

#include "tests/runtime/pmpi/programs/record.h"

namespace programs {
namespace {

/// The requests of a batch as an array; what is complete is finished.
class Waiting {
 public:
  explicit Waiting(std::vector<std::shared_ptr<Activity>> batch) : batch_(std::move(batch)) {
    for (const auto& activity : batch_)
      requests_.push_back(activity->request);
    indices_.resize(batch_.size());
  }

  void each() {
    for (size_t i = 0; i < batch_.size(); ++i) {
      checkWait(MPI_Wait(&requests_[i], MPI_STATUS_IGNORE), "MPI_Wait", i);
      finish(i);
    }
  }
  void all() {
    checkWait(MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall", 0);
    finishAll();
  }
  void any() {
    while (left() > 0) {
      int index = MPI_UNDEFINED;
      checkWait(MPI_Waitany(count(), requests_.data(), &index, MPI_STATUS_IGNORE), "MPI_Waitany",
                0);
      finishReported("MPI_Waitany", index);
    }
  }
  void some() {
    while (left() > 0) {
      int completed = 0;
      checkWait(
          MPI_Waitsome(count(), requests_.data(), &completed, indices_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitsome", 0);
      for (int i = 0; i < completed; ++i)
        finishReported("MPI_Waitsome", indices_[i]);
    }
  }
  void testEach() {
    for (size_t i = 0; i < batch_.size(); ++i) {
      int flag = 0;
      while (!flag) {
        checkWait(MPI_Test(&requests_[i], &flag, MPI_STATUS_IGNORE), "MPI_Test", i);
        if (!flag) sched_yield();
      }
      finish(i);
    }
  }
  void testAll() {
    // MPICH 4.0.2's MPI_Testall fails on its own persistent collectives that are under way.
    for (const auto& activity : batch_)
      if (activity->isPersistent()) return testSome();
    int flag = 0;
    while (!flag) {
      checkWait(MPI_Testall(count(), requests_.data(), &flag, MPI_STATUSES_IGNORE), "MPI_Testall",
                0);
      if (!flag) sched_yield();
    }
    finishAll();
  }
  void testAny() {
    while (left() > 0) {
      int index = MPI_UNDEFINED, flag = 0;
      checkWait(MPI_Testany(count(), requests_.data(), &index, &flag, MPI_STATUS_IGNORE),
                "MPI_Testany", 0);
      if (flag)
        finishReported("MPI_Testany", index);
      else
        sched_yield();
    }
  }
  void testSome() {
    while (left() > 0) {
      int completed = 0;
      checkWait(
          MPI_Testsome(count(), requests_.data(), &completed, indices_.data(), MPI_STATUSES_IGNORE),
          "MPI_Testsome", 0);
      for (int i = 0; i < completed; ++i)
        finishReported("MPI_Testsome", indices_[i]);
      if (completed <= 0) sched_yield();
    }
  }

 private:
  int count() const { return static_cast<int>(requests_.size()); }
  int64_t left() const {
    return std::count_if(batch_.begin(), batch_.end(), [](const auto& one) { return one; });
  }
  void checkWait(int code, const char* name, size_t i) {
    if (code != MPI_SUCCESS)
      check(code, batch_[i]->number(), std::string(name) + ": " + batch_[i]->describe());
  }
  void finish(size_t i) {
    Activity& activity = *batch_[i];
    activity.request = requests_[i];
    if (activity.isPersistent() != (activity.request != MPI_REQUEST_NULL))
      fail(activity.number(), "the request of a complete call: " + activity.describe());
    activity.finish();
    batch_[i] = nullptr;
    // MPICH 4.0.2's own persistent collectives are reported again and again though not active.
    requests_[i] = MPI_REQUEST_NULL;
  }
  void finishAll() {
    for (size_t i = 0; i < batch_.size(); ++i)
      finish(i);
  }
  /// MPI says that number `index` is complete.
  void finishReported(const char* name, int index) {
    if (index < 0 || index >= count() || batch_[index] == nullptr)
      fail(-1, std::string(name) + " reports index " + std::to_string(index) + " of " +
                   std::to_string(count()) + ", of which " + std::to_string(left()) +
                   " are active");
    finish(index);
  }

  std::vector<std::shared_ptr<Activity>> batch_;  // null: finished
  std::vector<MPI_Request> requests_;
  std::vector<int> indices_;
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

void Pending::wait(Batch batch, int way) {
  Waiting waiting(std::move(batch));
  void (Waiting::*const ways[])() = {&Waiting::each,    &Waiting::all,      &Waiting::any,
                                     &Waiting::some,    &Waiting::testEach, &Waiting::testAll,
                                     &Waiting::testAny, &Waiting::testSome};
  (waiting.*ways[way])();
}

void Pending::settleSome(Random& local) {
  const int way = local.below(8);
  if (activities_.empty()) return;
  Batch batch = take(local);
  wait(std::move(batch), way);
}

void Pending::settle(const Activity* activity) {
  const auto at = std::find_if(activities_.begin(), activities_.end(),
                               [&](const auto& one) { return one.get() == activity; });
  if (at == activities_.end()) return;
  Batch batch = {*at};
  activities_.erase(at);
  wait(std::move(batch), 0);
}

void Pending::settleAll(Random& local) {
  while (!activities_.empty())
    settleSome(local);
}

}  // namespace programs
