// MPI_THREAD_MULTIPLE: several threads, each with communicators of its own and all forms of all
// calls, while another thread makes and frees communicators.

#include <memory>
#include <thread>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/fixture.h"

namespace conformance {
namespace {

/// So many that every collective is among them in both forms.
constexpr int kTogether = 2 * static_cast<int>(kCollectiveCount);

/// All collectives and forms, one by one and several at a time.
void useCommunicator(const Communicator& communicator, int thread, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (int number = 0; number < kTogether; ++number)
      Call(variousShape(number + thread, kForms[(number + round) % 2], 50 * number), communicator)
          .run();
    std::vector<std::unique_ptr<Call>> calls;
    std::vector<MPI_Request> requests;
    for (int number = 0; number < kTogether; ++number) {
      const bool is_even = number % kCollectiveCount % 2 == 0;
      const Form form =
          is_even == (number < kCollectiveCount) ? Form::kPersistent : Form::kNonblocking;
      calls.push_back(
          std::make_unique<Call>(variousShape(number + thread, form, 333), communicator));
      calls.back()->start();
      requests.push_back(calls.back()->request());
    }
    checkCall(MPI_Waitall(kTogether, requests.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall in a thread");
    for (int number = 0; number < kTogether; ++number) {
      calls[number]->request() = requests[number];
      calls[number]->verify();
    }
  }
}

void makeAndFree(MPI_Comm parent, int rounds) {
  for (int round = 0; round < rounds * 3; ++round) {
    Communicator made{"made by a thread", MPI_COMM_NULL, true};
    MPI_Comm_dup(parent, &made.handle);
    Call(variousShape(round, kForms[round % 3], 100), made).run();
    MPI_Comm_free(&made.handle);
  }
}

using ThreadsConformance = Conformance;

TEST_F(ThreadsConformance, EachWithCommunicatorsOfItsOwn) {
  constexpr int threads = 3, rounds = 4;
  std::vector<Communicator> own(threads + 1);
  for (Communicator& communicator : own) {
    communicator = {"a thread's", MPI_COMM_NULL, true};
    MPI_Comm_split(MPI_COMM_WORLD, 0, -torc::worldRank(), &communicator.handle);
  }
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] { useCommunicator(own[thread], thread, rounds); });
  running.emplace_back([&] { makeAndFree(own[threads].handle, rounds); });
  for (std::thread& thread : running)
    thread.join();
  for (Communicator& communicator : own)
    MPI_Comm_free(&communicator.handle);
}

}  // namespace
}  // namespace conformance
