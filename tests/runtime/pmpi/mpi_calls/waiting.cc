#include "tests/runtime/pmpi/mpi_calls/waiting.h"

#include <algorithm>
#include <numeric>
#include <sched.h>

namespace mpi_calls {
namespace {

/// Tests until the flag, or a number, is set.
template <typename Test>
int repeat(const int& flag, Test test) {
  int code = test();
  for (; code == MPI_SUCCESS && flag == 0; code = test())
    sched_yield();
  return code;
}

/// By a function of one request.
int completeOne(Waiting way, MPI_Request* request, MPI_Status* status) {
  int flag = 0;
  if (way == Waiting::kWait) return MPI_Wait(request, status);
  if (way == Waiting::kTest) return repeat(flag, [&] { return MPI_Test(request, &flag, status); });
  const int code = repeat(flag, [&] { return MPI_Request_get_status(*request, &flag, status); });
  return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

}  // namespace

const char* nameOf(Waiting way) {
  static const char* const names[] = {"MPI_Wait",    "MPI_Test",     "MPI_Request_get_status",
                                      "MPI_Waitall", "MPI_Testall",  "MPI_Waitany",
                                      "MPI_Testany", "MPI_Waitsome", "MPI_Testsome"};
  return names[static_cast<size_t>(way)];
}

int completeSome(Waiting way, std::vector<MPI_Request>& requests, std::vector<int>& indices,
                 std::vector<MPI_Status>* statuses) {
  const int count = static_cast<int>(requests.size());
  MPI_Request* const all = requests.data();
  if (statuses != nullptr) statuses->resize(requests.size());
  MPI_Status* const one = statuses != nullptr ? statuses->data() : MPI_STATUS_IGNORE;
  MPI_Status* const each = statuses != nullptr ? statuses->data() : MPI_STATUSES_IGNORE;
  indices.assign(requests.size(), MPI_UNDEFINED);
  int done = 1, flag = 0, code = MPI_SUCCESS;
  switch (way) {
    case Waiting::kWaitany:
      code = MPI_Waitany(count, all, indices.data(), one);
      break;
    case Waiting::kTestany:
      code = repeat(flag, [&] { return MPI_Testany(count, all, indices.data(), &flag, one); });
      break;
    case Waiting::kWaitsome:
      code = MPI_Waitsome(count, all, &done, indices.data(), each);
      break;
    case Waiting::kTestsome:
      code = repeat(done, [&] { return MPI_Testsome(count, all, &done, indices.data(), each); });
      break;
    case Waiting::kWaitall:
    case Waiting::kTestall:
      code = way == Waiting::kWaitall
                 ? MPI_Waitall(count, all, each)
                 : repeat(flag, [&] { return MPI_Testall(count, all, &flag, each); });
      std::iota(indices.begin(), indices.end(), 0);
      done = count;
      break;
    default: {
      const auto first = std::ranges::find_if(
          requests, [](MPI_Request request) { return request != MPI_REQUEST_NULL; });
      if (first == requests.end()) break;
      indices[0] = static_cast<int>(first - requests.begin());
      code = completeOne(way, &*first, one);
    }
  }
  if (done == MPI_UNDEFINED) indices[0] = MPI_UNDEFINED;
  indices.resize(done == MPI_UNDEFINED ? 1 : done);
  return code;
}

}  // namespace mpi_calls
