// Active operations of a rank, and all ways in which a program can wait for them.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_PENDING_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_PENDING_H_

#include <memory>
#include <vector>

#include "tests/runtime/pmpi/mpi_calls/random.h"
#include "tests/runtime/pmpi/mpi_calls/waiting.h"
#include "tests/runtime/pmpi/programs/activities/activity.h"

namespace programs {

class Pending {
 public:
  void add(std::shared_ptr<Activity> activity) { activities_.push_back(std::move(activity)); }
  size_t size() const { return activities_.size(); }

  /// Waits for some of them, in a way drawn from `local`: each rank may wait for others.
  void settleSome(Random& local);
  void settle(const Activity* activity);
  void settleAll(Random& local);

 private:
  using Batch = std::vector<std::shared_ptr<Activity>>;

  /// Takes some out of the list, in any order.
  Batch take(Random& local);
  void wait(Batch batch, Waiting way, bool has_statuses);

  Batch activities_;
};

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_PENDING_H_
