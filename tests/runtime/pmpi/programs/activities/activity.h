// Something under way that a program waits for: a collective or a message.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_ACTIVITY_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_ACTIVITY_H_

#include <string>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/random.h"

namespace programs {

using namespace mpi_calls;

class Activity {
 public:
  explicit Activity(int number) : number_(number) {}
  virtual ~Activity() = default;
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  /// What is waited for; of a persistent call, not null afterwards.
  MPI_Request request = MPI_REQUEST_NULL;

  /// Checks the result, when the request is complete.
  virtual void finish() = 0;
  /// Checks what MPI said with that.
  virtual void checkStatus(const MPI_Status& /*status*/) const {}
  virtual bool isPersistent() const { return false; }
  virtual std::string describe() const = 0;

  /// Of the call in its program.
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_ACTIVITY_H_
