#include "tests/runtime/pmpi/programs/activities/pending.h"

#include <algorithm>
#include <string>

#include "tests/runtime/pmpi/programs/activities/record.h"

namespace programs {
Pending::Batch Pending::take(Random& local) {
  local.shuffle(activities_);
  const int count = local.between(1, static_cast<int>(activities_.size()));
  Batch batch(activities_.end() - count, activities_.end());
  activities_.resize(activities_.size() - count);
  return batch;
}

void Pending::wait(Batch batch, Waiting way, bool has_statuses) {
  const auto isPersistent = [](const auto& one) { return one->isPersistent(); };
  // MPICH 4.0.2's MPI_Testall fails on its own persistent collectives that are under way.
  if (way == Waiting::kTestall && std::ranges::any_of(batch, isPersistent))
    way = Waiting::kTestsome;
  std::vector<MPI_Request> requests;
  for (const auto& activity : batch)
    requests.push_back(activity->request);
  std::vector<int> indices;
  std::vector<MPI_Status> statuses;
  for (size_t left = batch.size(); left > 0;) {
    const int code = completeSome(way, requests, indices, has_statuses ? &statuses : nullptr);
    for (size_t at = 0; at < indices.size(); ++at, --left) {
      const int index = indices[at];
      if (index < 0 || index >= static_cast<int>(batch.size()) || batch[index] == nullptr)
        fail(-1, std::string(nameOf(way)) + " reports index " + std::to_string(index) + " of " +
                     std::to_string(batch.size()) + ", of which " + std::to_string(left) +
                     " are active");
      Activity& activity = *batch[index];
      if (code != MPI_SUCCESS)
        check(code, activity.number(), std::string(nameOf(way)) + ": " + activity.describe());
      activity.request = requests[index];
      if (activity.isPersistent() != (activity.request != MPI_REQUEST_NULL))
        fail(activity.number(), "the request of a complete call: " + activity.describe());
      if (has_statuses) activity.checkStatus(statuses[at]);
      activity.finish();
      batch[index] = nullptr;
      // MPICH 4.0.2's own persistent collectives are reported again and again though not active.
      requests[index] = MPI_REQUEST_NULL;
    }
  }
}

void Pending::settleSome(Random& local) {
  const auto way = static_cast<Waiting>(local.below(static_cast<int>(Waiting::kCount)));
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
  wait(std::move(batch), Waiting::kWait, true);
}

void Pending::settleAll(Random& local) {
  while (!activities_.empty())
    settleSome(local);
}

}  // namespace programs
