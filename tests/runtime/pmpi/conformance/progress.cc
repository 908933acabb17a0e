// Progress of pending nonblocking collectives inside MPI's blocking calls, and in loops of those
// that do not block. Even ranks go into such a call without waiting for their collective; the odd
// ones let them out only when theirs is complete, for which they need the even ones.
//
// Without torc: without MPI_Parrived and MPI_Win_wait, in which MPICH 4.0.2's own nonblocking
// collectives make no progress.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/fixture.h"

namespace conformance {
namespace {

constexpr int kTag = 91;

/// What even ranks do while their collective is pending, and odd ranks when theirs is complete. The
/// partner is the rank beside, which is of the other parity.
struct Encounter {
  const char* name;
  std::function<void(int partner)> waiting;
  std::function<void(int partner)> releasing;
};

void send(int partner) {
  int value = 5;
  MPI_Send(&value, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD);
}

void receive(int partner) {
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(value == 5, "a message while a collective is pending");
}

void exchange(int partner) {
  int sent = 5, received = 0;
  MPI_Sendrecv(&sent, 1, MPI_INT, partner, kTag, &received, 1, MPI_INT, partner, kTag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(received == 5, "MPI_Sendrecv while a collective is pending");
}

void exchangeReplace(int partner) {
  int value = 5;
  MPI_Sendrecv_replace(&value, 1, MPI_INT, partner, kTag, partner, kTag, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  check(value == 5, "MPI_Sendrecv_replace while a collective is pending");
}

/// The same on even and odd ranks: a collective call on a communicator of its own.
template <typename Function>
Encounter together(const char* name, Function function) {
  const auto both = [function](int) { function(); };
  return {name, both, both};
}

/// Even ranks receive by `function`.
template <typename Function>
Encounter receiving(const char* name, Function function) {
  return {name, function, send};
}

MPI_Request beginReceive(int partner, int* value) {
  MPI_Request request;
  MPI_Irecv(value, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD, &request);
  return request;
}

std::vector<Encounter> messages() {
  std::vector<Encounter> all;
  all.push_back(receiving("MPI_Recv", receive));
  all.push_back(receiving("MPI_Probe", [](int partner) {
    MPI_Status status;
    MPI_Probe(partner, kTag, MPI_COMM_WORLD, &status);
    receive(partner);
  }));
  all.push_back(receiving("MPI_Mprobe", [](int partner) {
    MPI_Message message;
    int value = 0;
    MPI_Mprobe(partner, kTag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    check(value == 5, "MPI_Mrecv while a collective is pending");
  }));
  all.push_back(receiving("MPI_Iprobe", [](int partner) {
    for (int flag = 0; !flag;)
      MPI_Iprobe(partner, kTag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    receive(partner);
  }));
  all.push_back(receiving("MPI_Improbe", [](int partner) {
    MPI_Message message;
    int value = 0;
    for (int flag = 0; !flag;)
      MPI_Improbe(partner, kTag, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    check(value == 5, "MPI_Mrecv after MPI_Improbe");
  }));
  all.push_back({"MPI_Sendrecv", exchange, exchange});
  all.push_back({"MPI_Sendrecv_replace", exchangeReplace, exchangeReplace});
  all.push_back({"MPI_Ssend",
                 [](int partner) {
                   int value = 5;
                   MPI_Ssend(&value, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD);
                 },
                 receive});
  all.push_back({"MPI_Send of much",
                 [](int partner) {
                   const std::vector<char> much(4 << 20, 'a');
                   MPI_Send(much.data(), static_cast<int>(much.size()), MPI_CHAR, partner, kTag,
                            MPI_COMM_WORLD);
                 },
                 [](int partner) {
                   std::vector<char> much(4 << 20);
                   MPI_Recv(much.data(), static_cast<int>(much.size()), MPI_CHAR, partner, kTag,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                   check(much.front() == 'a' && much.back() == 'a', "a long message");
                 }});
  return all;
}

MPI_Group groupOf(int partner) {
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &partner, &group);
  MPI_Group_free(&world);
  return group;
}

/// Even ranks let a partner into `window` and wait for it by `function`. It writes nothing there:
/// what MPICH 4.0.2 puts does not always arrive.
template <typename Function>
Encounter exposing(const char* name, MPI_Win window, Function function) {
  return {name,
          [=](int partner) {
            MPI_Group group = groupOf(partner);
            MPI_Win_post(group, 0, window);
            function();
            MPI_Group_free(&group);
          },
          [=](int partner) {
            MPI_Group group = groupOf(partner);
            MPI_Win_start(group, 0, window);
            MPI_Win_complete(window);
            MPI_Group_free(&group);
          }};
}

std::vector<Encounter> looksElsewhere(MPI_Win window) {
  std::vector<Encounter> encounters = {
      exposing("MPI_Win_wait", window, [=] { MPI_Win_wait(window); }),
      exposing("MPI_Win_test", window, [=] {
        for (int over = 0; !over;)
          MPI_Win_test(window, &over);
      })};
#if MPI_VERSION >= 4
  encounters.push_back({"MPI_Parrived",
                        [](int partner) {
                          int value = 0, arrived = 0;
                          MPI_Request request;
                          MPI_Precv_init(&value, 1, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD,
                                         MPI_INFO_NULL, &request);
                          MPI_Start(&request);
                          while (!arrived)
                            MPI_Parrived(request, 0, &arrived);
                          check(value == 5, "MPI_Parrived while a collective is pending");
                          MPI_Wait(&request, MPI_STATUS_IGNORE);
                          MPI_Request_free(&request);
                        },
                        [](int partner) {
                          int value = 5;
                          MPI_Request request;
                          MPI_Psend_init(&value, 1, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD,
                                         MPI_INFO_NULL, &request);
                          MPI_Start(&request);
                          MPI_Pready(0, request);
                          MPI_Wait(&request, MPI_STATUS_IGNORE);
                          MPI_Request_free(&request);
                        }});
#endif
  return encounters;
}

std::vector<Encounter> completions() {
  std::vector<Encounter> all;
  all.push_back(receiving("MPI_Wait of a receive", [](int partner) {
    int value = 0;
    MPI_Request request = beginReceive(partner, &value);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }));
  all.push_back(receiving("MPI_Waitany of receives", [](int partner) {
    int value = 0, index = -1;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, beginReceive(partner, &value)};
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    check(index == 1 && value == 5, "MPI_Waitany");
  }));
  all.push_back(receiving("MPI_Waitsome of receives", [](int partner) {
    int value = 0, done = 0, indices[2];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, beginReceive(partner, &value)};
    MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
    check(done == 1 && indices[0] == 1 && value == 5, "MPI_Waitsome");
  }));
  all.push_back(receiving("MPI_Waitall of receives", [](int partner) {
    int value = 0;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, beginReceive(partner, &value)};
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(value == 5, "MPI_Waitall");
  }));
  all.push_back(receiving("MPI_Test of a receive", [](int partner) {
    int value = 0;
    MPI_Request request = beginReceive(partner, &value);
    for (int flag = 0; !flag;)
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }));
  all.push_back(receiving("MPI_Request_get_status of a receive", [](int partner) {
    int value = 0;
    MPI_Request request = beginReceive(partner, &value);
    for (int flag = 0; !flag;)
      MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }));
  return all;
}

/// Collectives and makers of communicators; `other` is a duplicate of MPI_COMM_WORLD.
std::vector<Encounter> collectiveCalls(MPI_Comm other) {
  std::vector<Encounter> all;
  all.push_back(together("MPI_Barrier", [other] { MPI_Barrier(other); }));
  all.push_back(together("MPI_Bcast", [other] {
    int value = 0, size;
    MPI_Comm_size(other, &size);
    MPI_Bcast(&value, 1, MPI_INT, size > 1 ? 1 : 0, other);
  }));
  all.push_back(together("MPI_Alltoall", [other] {
    int size;
    MPI_Comm_size(other, &size);
    std::vector<int> in(size, 1), out(size);
    MPI_Alltoall(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, other);
    check(out.back() == 1, "MPI_Alltoall");
  }));
  all.push_back(together("MPI_Reduce", [other] {
    int in = 1, out = 0;
    MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, 0, other);
  }));
  all.push_back(together("MPI_Ibarrier and MPI_Wait", [other] {
    MPI_Request request;
    MPI_Ibarrier(other, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }));
  all.push_back(together("a served MPI_Allreduce", [other] {
    int in = 1, out = 0, size;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, other);
    MPI_Comm_size(other, &size);
    check(out == size, "a blocking collective beside a pending one");
  }));
  const auto freed = [](MPI_Comm comm) {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  };
  all.push_back(together("MPI_Comm_dup", [other, freed] {
    MPI_Comm made;
    MPI_Comm_dup(other, &made);
    freed(made);
  }));
  all.push_back(together("MPI_Comm_split", [other, freed] {
    int rank;
    MPI_Comm_rank(other, &rank);
    MPI_Comm made;
    MPI_Comm_split(other, rank / 2, -rank, &made);
    freed(made);
  }));
  all.push_back(together("MPI_Comm_idup and MPI_Wait", [other, freed] {
    MPI_Comm made;
    MPI_Request request;
    MPI_Comm_idup(other, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    freed(made);
  }));
  all.push_back(together("MPI_Comm_create", [other, freed] {
    MPI_Group group;
    MPI_Comm_group(other, &group);
    MPI_Comm made;
    MPI_Comm_create(other, group, &made);
    MPI_Group_free(&group);
    freed(made);
  }));
  all.push_back(together("MPI_Comm_create_group", [other, freed] {
    MPI_Group group;
    MPI_Comm_group(other, &group);
    MPI_Comm made;
    MPI_Comm_create_group(other, group, 3, &made);
    MPI_Group_free(&group);
    freed(made);
  }));
  all.push_back(together("MPI_Intercomm_create and merge", [other, freed] {
    int rank;
    MPI_Comm_rank(other, &rank);
    MPI_Comm half, inter, merged;
    MPI_Comm_split(other, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, other, 1 - rank % 2, 4, &inter);
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    freed(half);
    freed(inter);
    freed(merged);
  }));
  all.push_back(together("MPI_Cart_create", [other, freed] {
    int size, periodic = 0;
    MPI_Comm_size(other, &size);
    MPI_Comm made;
    MPI_Cart_create(other, 1, &size, &periodic, 0, &made);
    freed(made);
  }));
  return all;
}

class Progress {
 public:
  explicit Progress(const Grid& grid) : all_(makeCommunicators(grid)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_dup(MPI_COMM_WORLD, &other_);
  }
  ~Progress() {
    MPI_Comm_free(&other_);
    freeCommunicators(all_);
  }

  void run(bool plain) {
    void* memory = nullptr;
    MPI_Win window;
    MPI_Win_allocate(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    std::vector<std::vector<Encounter>> all = {messages(), completions(), collectiveCalls(other_)};
    if (!plain) all.push_back(looksElsewhere(window));
    for (const auto& encounters : all)
      for (const Encounter& encounter : encounters)
        for (const Form form : {Form::kNonblocking, Form::kPersistent})
          meet(encounter, form);
    MPI_Win_free(&window);
  }

 private:
  void meet(const Encounter& encounter, Form form) {
    const int partner = rank_ ^ 1;
    // Much data: a schedule of many steps, which none takes without the others.
    Call all_ranks(simpleShape(collectiveCalled("Allreduce"), form, 20011), all_.front());
    Call shuffled(simpleShape(collectiveCalled("Allgather"), form, 3600), named("mixed up"));
    all_ranks.start();
    shuffled.start();
    if (rank_ % 2 == 0) {
      encounter.waiting(partner);
      finish(shuffled, encounter);
      finish(all_ranks, encounter);
    } else {
      finish(all_ranks, encounter);
      finish(shuffled, encounter);
      encounter.releasing(partner);
    }
  }

  void finish(Call& call, const Encounter& encounter) {
    checkCall(MPI_Wait(&call.request(), MPI_STATUS_IGNORE),
              std::string("MPI_Wait beside ") + encounter.name);
    call.verify();
  }

  const Communicator& named(const std::string& name) const {
    for (const Communicator& communicator : all_)
      if (communicator.name.starts_with(name)) return communicator;
    return all_.front();
  }

  std::vector<Communicator> all_;
  MPI_Comm other_ = MPI_COMM_NULL;
  int rank_ = 0;
};

TEST_F(Conformance, Progress) {
  Progress(gridOfWorld()).run(isPlain());
}

}  // namespace
}  // namespace conformance
