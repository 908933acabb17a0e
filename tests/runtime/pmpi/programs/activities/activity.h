// An active operation that a program waits for: a collective or a message.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_ACTIVITY_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_ACTIVITY_H_

#include <string>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/call.h"
#include "tests/runtime/pmpi/mpi_calls/random.h"
#include "tests/runtime/pmpi/programs/activities/record.h"

namespace programs {

using namespace mpi_calls;

class Activity {
 public:
  explicit Activity(int number) : number_(number) {}
  virtual ~Activity() = default;
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  /// The request to wait for; of a persistent call, not null afterwards.
  MPI_Request request = MPI_REQUEST_NULL;

  /// Checks the result after completion.
  virtual void finish() = 0;
  /// Checks the status returned with it.
  virtual void checkStatus(const MPI_Status& /*status*/) const {}
  virtual bool isPersistent() const { return false; }
  virtual std::string describe() const = 0;

  /// Of the call in its program.
  int number() const { return number_; }

 private:
  int number_;
};

/// A collective that a program waits for.
class CollectiveActivity : public Activity {
 public:
  CollectiveActivity(const Shape& shape, const Communicator& communicator, int number)
      : Activity(number), call_(shape, communicator) {}

  /// A blocking call is then complete, and checked.
  void start() {
    record().call = number();
    call_.start();
    request = call_.request();
    if (call_.shape().form == Form::kBlocking) finish();
  }
  void finish() override {
    record().call = number();
    call_.request() = request;
    call_.verify();
    addHash(number(), call_.hash());
  }
  bool isPersistent() const override { return call_.isPersistent(); }
  std::string describe() const override { return call_.describe(); }
  void freeRequest() {
    call_.freeRequest();
    request = MPI_REQUEST_NULL;
  }

 private:
  Call call_;
};

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_ACTIVITY_H_
