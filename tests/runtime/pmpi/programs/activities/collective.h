// A collective that a program waits for.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_COLLECTIVE_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_COLLECTIVE_H_

#include <string>

#include "tests/runtime/pmpi/mpi_calls/call.h"
#include "tests/runtime/pmpi/programs/activities/activity.h"
#include "tests/runtime/pmpi/programs/activities/record.h"

namespace programs {

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

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_COLLECTIVE_H_
