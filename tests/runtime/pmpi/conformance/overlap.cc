// Several active collectives: started in different orders on different communicators, completed in
// any order and by every MPI function for it, among other requests.
//
// Without torc: MPICH 4.0.2's own persistent collectives are broken: started again they give wrong
// results, and MPI_Waitany returns inactive ones.

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/fixture.h"
#include "tests/runtime/pmpi/mpi_calls/waiting.h"

namespace conformance {
namespace {

constexpr int64_t kCount = 700;

using Calls = std::vector<std::unique_ptr<Call>>;

class Overlap {
 public:
  Overlap(const Grid& grid, bool persistent) : all_(makeCommunicators(grid)) {
    if (persistent) forms_.push_back(Form::kPersistent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    for (const Communicator& communicator : all_)
      if (communicator.hasMe() && communicator.is_box) boxes_.push_back(&communicator);
    world_ = &all_.front();
  }
  ~Overlap() { freeCommunicators(all_); }

  void run(int round) {
    round_ = round;
    for (const Form form : forms_)
      crossedOrders(form);
    blockingBesideNonblocking();
    manyOnOneCommunicator();
    for (const Form form : forms_) {
      for (int way = static_cast<int>(Waiting::kWaitall); way < static_cast<int>(Waiting::kCount);
           ++way)
        completeMixed(form, static_cast<Waiting>(way));
      getStatus(form);
    }
    if (forms_.size() > 1) startAll();
  }

 private:
  bool isOdd() const { return rank_ % 2 == 1; }

  Call& add(Calls& calls, const Communicator& communicator, Form form, int number) {
    calls.push_back(
        std::make_unique<Call>(variousShape(number + 4 * round_, form, kCount), communicator));
    return *calls.back();
  }

  /// A call on every communicator that may be served.
  Calls onBoxes(Form form) {
    Calls calls;
    for (size_t i = 0; i < boxes_.size(); ++i)
      add(calls, *boxes_[i], form, static_cast<int>(i));
    // One that MPI keeps for itself (a rank is missing), among those that are served.
    for (const Communicator& communicator : all_)
      if (communicator.hasMe() && communicator.name.starts_with("all but one"))
        add(calls, communicator, Form::kNonblocking, 0);
    return calls;
  }

  void wait(Call& call) {
    checkCall(MPI_Wait(&call.request(), MPI_STATUS_IGNORE), "MPI_Wait");
    call.verify();
  }

  /// A then B on even ranks, B then A on odd ones; and the like for more of them. Communicators
  /// share ranks, so that whoever waited inside a start would wait forever.
  void crossedOrders(Form form) {
    Calls calls = onBoxes(form);
    std::vector<size_t> order(calls.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    for (int repeat = 0; repeat < 3; ++repeat) {
      // Each rank its own order.
      std::rotate(order.begin(), order.begin() + (rank_ + repeat) % order.size(), order.end());
      if (isOdd()) std::reverse(order.begin(), order.end());
      if (repeat > 0 && form == Form::kNonblocking) calls = onBoxes(form);
      // Initialisation may wait for the other ranks: in one order.
      for (const auto& call : calls)
        if (call->isPersistent()) call->prepare();
      for (const size_t i : order)
        calls[i]->start();
      if (repeat == 1) std::reverse(order.begin(), order.end());
      for (const size_t i : order)
        wait(*calls[i]);
    }
  }

  /// Even ranks begin A and block in B; odd ranks block in B first.
  void blockingBesideNonblocking() {
    for (size_t i = 0; i + 1 < boxes_.size(); ++i) {
      Call a(variousShape(static_cast<int>(i), Form::kNonblocking, kCount), *boxes_[i]);
      Call b(variousShape(static_cast<int>(i) + 1, Form::kBlocking, kCount), *boxes_[i + 1]);
      if (isOdd()) {
        b.run();
        a.start();
      } else {
        a.start();
        b.run();
      }
      wait(a);
    }
  }

  void manyOnOneCommunicator() {
    Calls calls;
    for (int i = 0; i < 64; ++i)
      add(calls, *world_, Form::kNonblocking, i).start();
    // Ranks wait in orders of their own: 7, 11 and so on are prime to 64.
    const size_t step = 2 * static_cast<size_t>(rank_) + 7;
    for (size_t i = 0; i < calls.size(); ++i)
      wait(*calls[i * step % calls.size()]);
  }

  /// Requests of all sorts: collectives, a message around the ring, a null request.
  struct Mixed {
    Calls calls;
    std::vector<MPI_Request> requests;
    int sent = 0;
    int received = -1;
    size_t receive_index = 0;
    size_t null_index = 0;
  };

  void startMixed(Form form, Mixed& mixed) {
    mixed.calls = onBoxes(form);
    for (const auto& call : mixed.calls) {
      call->start();
      mixed.requests.push_back(call->request());
    }
    mixed.receive_index = mixed.requests.size() / 2;
    mixed.sent = rank_ * 10 + round_;
    MPI_Request receive, send;
    MPI_Irecv(&mixed.received, 1, MPI_INT, (rank_ + size_ - 1) % size_, 77, MPI_COMM_WORLD,
              &receive);
    MPI_Isend(&mixed.sent, 1, MPI_INT, (rank_ + 1) % size_, 77, MPI_COMM_WORLD, &send);
    mixed.requests.insert(mixed.requests.begin() + mixed.receive_index, receive);
    mixed.null_index = mixed.requests.size();
    mixed.requests.push_back(MPI_REQUEST_NULL);
    mixed.requests.push_back(send);
  }

  void checkReceived(const MPI_Status& status) {
    const int source = (rank_ + size_ - 1) % size_;
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    check(status.MPI_SOURCE == source && status.MPI_TAG == 77 && count == 1,
          "the status of a receive among collectives");
  }

  /// Hands back the requests and checks what is left of them, and the results.
  void finishMixed(Form form, Mixed& mixed) {
    check(mixed.received == (rank_ + size_ - 1) % size_ * 10 + round_,
          "the message among collectives");
    size_t at = 0;
    for (size_t i = 0; i < mixed.calls.size(); ++i, ++at) {
      if (at == mixed.receive_index) ++at;
      const bool stays = form == Form::kPersistent && mixed.calls[i]->isPersistent();
      check((mixed.requests[at] != MPI_REQUEST_NULL) == stays,
            "a request after completion: persistent ones stay, others are null");
      if (!stays) mixed.calls[i]->request() = mixed.requests[at];
      mixed.calls[i]->verify();
    }
  }

  /// Of a persistent request that is not active, and of a null one.
  static bool isEmpty(const MPI_Status& status) {
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    return status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && count == 0;
  }

  /// Every request comes once, the null one only where all are waited for.
  void completeMixed(Form form, Waiting way) {
    const std::string name = nameOf(way);
    const bool all = way == Waiting::kWaitall || way == Waiting::kTestall;
    Mixed mixed;
    startMixed(form, mixed);
    std::vector<int> seen(mixed.requests.size(), 0), indices;
    std::vector<MPI_Status> statuses;
    for (size_t done = 0; done + 1 < mixed.requests.size();) {
      const int code = completeSome(way, mixed.requests, indices, &statuses);
      if (code != MPI_SUCCESS) return checkCall(code, name);
      for (size_t i = 0; i < indices.size(); ++i, ++done) {
        const int index = indices[i];
        check(index >= 0 && index < static_cast<int>(seen.size()) && seen[index]++ == 0,
              name + ": an index comes once");
        if (index == static_cast<int>(mixed.receive_index)) checkReceived(statuses[i]);
      }
    }
    check((seen[mixed.null_index] == 1) == all, name + ": the null request completes");
    if (all) check(isEmpty(statuses[mixed.null_index]), "the status of a null request");
    finishMixed(form, mixed);
    // All are null or inactive now.
    checkCall(completeSome(way, mixed.requests, indices, &statuses),
              name + " without an active request");
    if (all)
      check(isEmpty(statuses[0]), "the status of an inactive request");
    else
      check(indices == std::vector<int>{MPI_UNDEFINED}, name + ": nothing is active any more");
  }

  /// MPI_Request_get_status moves things on, and leaves the request as it is.
  void getStatus(Form form) {
    Calls calls = onBoxes(form);
    for (const auto& call : calls)
      call->start();
    for (const auto& call : calls) {
      const MPI_Request before = call->request();
      int flag = 0, code = MPI_SUCCESS;
      MPI_Status status;
      while (!flag && code == MPI_SUCCESS)
        code = MPI_Request_get_status(call->request(), &flag, &status);
      checkCall(code, "MPI_Request_get_status");
      check(call->request() == before, "MPI_Request_get_status keeps the request");
      checkCall(MPI_Request_get_status(call->request(), &flag, MPI_STATUS_IGNORE),
                "MPI_Request_get_status");
      check(flag == 1, "what is complete stays complete");
      call->verify();
      flag = 0;
      checkCall(MPI_Test(&call->request(), &flag, MPI_STATUS_IGNORE), "MPI_Test");
      check(flag == 1, "MPI_Test after MPI_Request_get_status");
    }
  }

  /// Persistent collectives and persistent messages started together, in each rank's own order.
  void startAll() {
    Calls calls;
    for (size_t i = 0; i < boxes_.size(); ++i)
      add(calls, *boxes_[i], Form::kPersistent, static_cast<int>(i));
    int sent = 0, received = -1;
    std::vector<MPI_Request> requests(2);
    MPI_Send_init(&sent, 1, MPI_INT, (rank_ + 1) % size_, 78, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&received, 1, MPI_INT, (rank_ + size_ - 1) % size_, 78, MPI_COMM_WORLD,
                  &requests[1]);
    for (const auto& call : calls) {
      call->prepare();
      requests.push_back(call->request());
    }
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (const auto& call : calls)
        call->prepare();
      sent = rank_ + repeat;
      received = -1;
      std::rotate(requests.begin(), requests.begin() + (rank_ + 1) % requests.size(),
                  requests.end());
      checkCall(MPI_Startall(static_cast<int>(requests.size()), requests.data()), "MPI_Startall");
      checkCall(
          MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
      for (const auto& call : calls)
        call->verify();
      check(received == (rank_ + size_ - 1) % size_ + repeat, "a persistent message");
    }
    // The calls free their own.
    for (MPI_Request& request : requests) {
      const bool is_call = std::any_of(
          calls.begin(), calls.end(), [&](const auto& call) { return call->request() == request; });
      if (!is_call) MPI_Request_free(&request);
    }
  }

  std::vector<Form> forms_ = {Form::kNonblocking};
  std::vector<Communicator> all_;
  std::vector<const Communicator*> boxes_;
  const Communicator* world_ = nullptr;
  int rank_ = 0;
  int size_ = 1;
  int round_ = 0;
};

TEST_F(Conformance, Overlap) {
  if (torc::worldSize() == 1) GTEST_SKIP() << "one rank is served by nobody";
  Overlap overlap(gridOfWorld(), !isPlain());
  for (int round = 0; round < 2; ++round)
    overlap.run(round);
}

}  // namespace
}  // namespace conformance
