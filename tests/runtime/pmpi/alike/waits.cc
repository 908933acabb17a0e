// waits GROUP...: collectives are active on ranks that wait in another MPI call, which the last
// rank reaches after waiting for these collectives. MPI requires that this ends: rank 0 prints
// their results and the received data of the call. With WAITS_WITH_THREADS MPI is initialised with
// MPI_THREAD_MULTIPLE. Groups: messages, collectives, windows, files.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi4_names.h"
#include "tests/runtime/pmpi/mpi_calls/waiting.h"

namespace {

using Function = std::function<void()>;

int rank, size, last;
MPI_Comm world = MPI_COMM_NULL, made = MPI_COMM_NULL;
MPI_Request request;
MPI_Message message;
MPI_Win window;
MPI_File file;
double memory[16];
double much[1 << 18];
int flag;

struct Kind {
  std::string name;
  Function call, of_last;
  Function begin = [] {}, end = [] {};  // by all ranks, before and behind
};

/// A collective call.
Kind together(const char* name, const Function& call) {
  return {name, call, call};
}

/// One that makes a communicator.
Kind making(const char* name, const Function& call) {
  return together(name, [call] {
    call();
    MPI_Comm_free(&made);
  });
}

/// The call of the last rank and each of the others.
template <typename Call>
Function withEach(Call call) {
  return [call] {
    for (int other = rank == last ? 0 : last; other != rank;
         other = rank == last ? other + 1 : rank)
      call(other);
  };
}

const Function kSendToAll = withEach([](int to) {
  memory[0] = 5;
  MPI_Send(memory, 1, MPI_DOUBLE, to, 7, world);
});

const Function kReceiveFromAll = withEach(
    [](int from) { MPI_Recv(much, 1 << 18, MPI_DOUBLE, from, 7, world, MPI_STATUS_IGNORE); });

void receive() {
  MPI_Recv(memory, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 7, world, MPI_STATUS_IGNORE);
}

/// The last rank sends what the others receive.
Kind receiving(const std::string& name, const Function& call) {
  return {name, call, kSendToAll};
}

/// By a request that MPI's function completes, behind a null one.
Kind completing(mpi_calls::Waiting way) {
  return receiving(mpi_calls::nameOf(way), [way] {
    std::vector<MPI_Request> two(2, MPI_REQUEST_NULL);
    std::vector<int> indices;
    MPI_Irecv(memory, 1, MPI_DOUBLE, last, 7, world, &two[1]);
    mpi_calls::completeSome(way, two, indices, nullptr);
  });
}

/// Nothing without torc: MPICH 4.0.2's own collectives make no progress in MPI_Parrived and
/// MPI_Win_wait.
Function withTorc(const Function& call) {
  return std::getenv("TORC_LIBRARY") != nullptr ? call : [] {};
}

void makeBetweenGroups() {
  MPI_Comm half, inter;
  MPI_Comm_split(world, rank == last, 0, &half);
  MPI_Intercomm_create(half, 0, world, rank == last ? 0 : last, 5, &inter);
  MPI_Intercomm_merge(inter, rank == last, &made);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

void withGroup(const std::function<void(MPI_Group)>& call) {
  MPI_Group group;
  MPI_Comm_group(world, &group);
  call(group);
  MPI_Group_free(&group);
}

std::vector<Kind> messages() {
  std::vector<Kind> kinds = {
    receiving("MPI_Recv", receive),
    receiving("MPI_Probe",
              [] {
                MPI_Probe(last, 7, world, MPI_STATUS_IGNORE);
                receive();
              }),
    receiving("MPI_Mprobe",
              [] {
                MPI_Mprobe(last, 7, world, &message, MPI_STATUS_IGNORE);
                MPI_Mrecv(memory, 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
              }),
    receiving("MPI_Iprobe",
              [] {
                for (flag = 0; !flag;)
                  MPI_Iprobe(last, 7, world, &flag, MPI_STATUS_IGNORE);
                receive();
              }),
    receiving("MPI_Improbe",
              [] {
                for (flag = 0; !flag;)
                  MPI_Improbe(last, 7, world, &flag, &message, MPI_STATUS_IGNORE);
                MPI_Mrecv(memory, 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
              }),
    together("MPI_Sendrecv", withEach([](int other) {
               MPI_Sendrecv(memory + 1, 1, MPI_DOUBLE, other, 7, memory, 1, MPI_DOUBLE, other, 7,
                            world, MPI_STATUS_IGNORE);
             })),
    together("MPI_Sendrecv_replace", withEach([](int other) {
               MPI_Sendrecv_replace(memory, 1, MPI_DOUBLE, other, 7, other, 7, world,
                                    MPI_STATUS_IGNORE);
             })),
    {"MPI_Ssend", [] { MPI_Ssend(memory, 1, MPI_DOUBLE, last, 7, world); }, kReceiveFromAll},
    {"MPI_Send of much", [] { MPI_Send(much, 1 << 18, MPI_DOUBLE, last, 7, world); },
     kReceiveFromAll},
    {"MPI_Buffer_detach",
     [] {
       static char buffer[1000];
       void* detached;
       int bytes;
       MPI_Buffer_attach(buffer, sizeof(buffer));
       MPI_Bsend(memory, 16, MPI_DOUBLE, last, 7, world);
       MPI_Buffer_detach(&detached, &bytes);
     },
     kReceiveFromAll},
#if MPI_VERSION >= 4
    {"MPI_Parrived", withTorc([] {
       MPI_Precv_init(memory, 1, 1, MPI_DOUBLE, last, 7, world, MPI_INFO_NULL, &request);
       MPI_Start(&request);
       for (flag = 0; !flag;)
         MPI_Parrived(request, 0, &flag);
       MPI_Wait(&request, MPI_STATUS_IGNORE);
       MPI_Request_free(&request);
     }),
     withTorc(withEach([](int to) {
       MPI_Psend_init(memory, 1, 1, MPI_DOUBLE, to, 7, world, MPI_INFO_NULL, &request);
       MPI_Start(&request);
       MPI_Pready(0, request);
       MPI_Wait(&request, MPI_STATUS_IGNORE);
       MPI_Request_free(&request);
     }))},
#endif
  };
  for (int way = 0; way < static_cast<int>(mpi_calls::Waiting::kCount); ++way)
    kinds.push_back(completing(static_cast<mpi_calls::Waiting>(way)));
  return kinds;
}

std::vector<Kind> collectives() {
  return {
    together("MPI_Barrier", [] { MPI_Barrier(world); }),
        together("MPI_Ibarrier",
                 [] {
                   MPI_Ibarrier(world, &request);
                   MPI_Wait(&request, MPI_STATUS_IGNORE);
                 }),
        together("MPI_Bcast", [] { MPI_Bcast(memory, 1, MPI_DOUBLE, last, world); }),
        together("MPI_Alltoall",
                 [] { MPI_Alltoall(memory, 1, MPI_DOUBLE, much, 1, MPI_DOUBLE, world); }),
        together("MPI_Reduce",
                 [] { MPI_Reduce(memory, much, 1, MPI_DOUBLE, MPI_SUM, last, world); }),
        together("MPI_Allreduce",
                 [] { MPI_Allreduce(memory, much, 1, MPI_DOUBLE, MPI_SUM, world); }),
        together("MPI_Allreduce of nothing",
                 [] { MPI_Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, world); }),
        together("MPI_Gatherv and MPI_Scatterv",
                 [] {
                   int counts[64], places[64], all[64];
                   for (int i = 0; i < size; ++i)
                     counts[i] = 1, places[i] = i;
                   MPI_Gatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, last, world);
                   MPI_Scatterv(all, counts, places, MPI_INT, &all[63], 1, MPI_INT, last, world);
                 }),
        making("MPI_Comm_dup", [] { MPI_Comm_dup(world, &made); }),
        making("MPI_Comm_idup",
               [] {
                 MPI_Comm_idup(world, &made, &request);
                 MPI_Wait(&request, MPI_STATUS_IGNORE);
               }),
        making("MPI_Comm_split", [] { MPI_Comm_split(world, rank % 2, -rank, &made); }),
        making("MPI_Comm_create",
               [] { withGroup([](MPI_Group group) { MPI_Comm_create(world, group, &made); }); }),
        together(
            "MPI_Comm_create_group and MPI_Comm_disconnect",
            [] {
              withGroup([](MPI_Group group) { MPI_Comm_create_group(world, group, 3, &made); });
              MPI_Comm_disconnect(&made);
            }),
        making("MPI_Intercomm_create and merge", makeBetweenGroups),
        making("MPI_Cart_create",
               [] {
                 const int periodic = 0;
                 MPI_Cart_create(world, 1, &size, &periodic, 0, &made);
               }),
        making("MPI_Dist_graph_create and MPI_Neighbor_allgather",
               [] {
                 const int next = (rank + 1) % size, degree = 1;
                 MPI_Dist_graph_create(world, 1, &rank, &degree, &next, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &made);
                 MPI_Neighbor_allgather(memory, 1, MPI_DOUBLE, much, 1, MPI_DOUBLE, made);
               }),
#if MPI_VERSION >= 4
        making("MPI_Comm_create_from_group", [] {
          withGroup([](MPI_Group group) {
            MPI_Comm_create_from_group(group, "waits", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
          });
        }),
#endif
  };
}

/// Rank 0 waits for the others, which all come to its window: a rank that waits in MPI_Win_start or
/// MPI_Win_complete of MPICH 4.0.2 makes no progress for its nonblocking collectives.
Kind exposing(const char* name, const Function& wait) {
  return together(name, withTorc([wait] {
                    withGroup([&](MPI_Group all) {
                      MPI_Group part;
                      const int root = 0;
                      (rank == root ? MPI_Group_excl : MPI_Group_incl)(all, 1, &root, &part);
                      if (rank == root) {
                        MPI_Win_post(part, 0, window);
                        wait();
                      } else {
                        MPI_Win_start(part, 0, window);
                        MPI_Win_complete(window);
                      }
                      MPI_Group_free(&part);
                    });
                  }));
}

std::vector<Kind> windows() {
  static double* base;
  const Function allocate = [] {
    MPI_Win_allocate(sizeof(double), sizeof(double), MPI_INFO_NULL, world, &base, &window);
  };
  const Function free = [] { MPI_Win_free(&window); };
  std::vector<Kind> all = {together("MPI_Win_fence",
                                    [] {
                                      MPI_Win_fence(0, window);
                                      MPI_Win_fence(0, window);
                                    }),
                           exposing("MPI_Win_wait", [] { MPI_Win_wait(window); }),
                           exposing("MPI_Win_test", [] {
                             const bool has_torc = std::getenv("TORC_LIBRARY") != nullptr;
                             if (!has_torc) MPI_Win_wait(window);
                             for (flag = !has_torc; !flag;)
                               MPI_Win_test(window, &flag);
                           })};
  for (Kind& kind : all) {
    kind.begin = allocate;
    kind.end = free;
  }
  const auto making = [&](const char* name, const Function& make) {
    all.push_back(together(name, [=] {
      make();
      free();
    }));
  };
  making("MPI_Win_allocate", allocate);
  making("MPI_Win_allocate_shared",
         [] { MPI_Win_allocate_shared(80, 8, MPI_INFO_NULL, world, &base, &window); });
#ifndef OPEN_MPI  // which has no component for these on one host, in Debian
  making("MPI_Win_create",
         [] { MPI_Win_create(memory, sizeof(memory), 8, MPI_INFO_NULL, world, &window); });
  making("MPI_Win_create_dynamic", [] { MPI_Win_create_dynamic(MPI_INFO_NULL, world, &window); });
#endif
  return all;
}

std::vector<Kind> files() {
  const Function open = [] {
    const char* folder = std::getenv("TEST_TMPDIR");
    const std::string name = std::string(folder != nullptr ? folder : ".") + "/waits.data";
    MPI_File_open(world, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
  };
  const Function close = [] { MPI_File_close(&file); };
#define WITH_FILE(function, ...) \
  together("MPI_File_" #function, [] { MPI_File_##function(file, __VA_ARGS__); })
  std::vector<Kind> all = {
      WITH_FILE(write_all, memory, 10, MPI_DOUBLE, MPI_STATUS_IGNORE),
      WITH_FILE(read_at_all, 0, memory, 10, MPI_DOUBLE, MPI_STATUS_IGNORE),
      WITH_FILE(write_ordered, memory, 10, MPI_DOUBLE, MPI_STATUS_IGNORE),
      WITH_FILE(set_view, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL),
      WITH_FILE(set_size, 80),
      WITH_FILE(preallocate, 160),
      WITH_FILE(set_atomicity, 1),
      WITH_FILE(seek_shared, 8, MPI_SEEK_SET),
      together("MPI_File_sync", [] { MPI_File_sync(file); }),
      together("MPI_File_write_all_begin and end",
               [] {
                 MPI_File_write_all_begin(file, memory, 10, MPI_DOUBLE);
                 MPI_File_write_all_end(file, memory, MPI_STATUS_IGNORE);
               }),
      together("MPI_File_iwrite_all",
               [] {
                 MPI_File_iwrite_all(file, memory, 10, MPI_DOUBLE, &request);
                 MPI_Wait(&request, MPI_STATUS_IGNORE);
               }),
  };
#undef WITH_FILE
  for (Kind& kind : all) {
    kind.begin = open;
    kind.end = close;
  }
  all.push_back({"MPI_File_close", close, close, open});
  all.push_back({"MPI_File_open", open, open, [] {}, close});
  return all;
}

/// The collectives on MPI_COMM_WORLD, and on its ranks in another order.
void run(const Kind& kind, bool is_persistent, MPI_Comm backwards) {
  static double in[20011], sum[20011], all[3 * 3600];
  for (int i = 0; i < 20011; ++i)
    in[i] = rank + i;
  std::memset(memory, 0, sizeof(memory));
  MPI_Request requests[2];
  if (is_persistent) {
    MPI_Allreduce_init(in, sum, 20011, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[0]);
  }
  kind.begin();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == last) usleep(20000);
  if (is_persistent) {
    MPI_Start(&requests[0]);
  } else {
    MPI_Iallreduce(in, sum, 20011, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  }
  MPI_Iallgather(in, 3600, MPI_DOUBLE, all, 3600, MPI_DOUBLE, backwards, &requests[1]);
  if (rank == last) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  (rank == last ? kind.of_last : kind.call)();
  if (rank != last) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (is_persistent) MPI_Request_free(&requests[0]);
  kind.end();
  if (rank == 0)
    std::printf("%s: %.0f %.0f %.0f\n", kind.name.c_str(), sum[20010], all[3600], memory[0]);
}

}  // namespace

int main(int argc, char** argv) {
  int level;
  const bool has_threads = std::getenv("WAITS_WITH_THREADS") != nullptr;
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm backwards;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Comm_split(world, 0, -rank, &backwards);
  last = size - 1;
  for (int i = 1; i < argc; ++i) {
    const std::string group = argv[i];
    const std::vector<Kind> kinds = group == "windows"    ? windows()
                                    : group == "files"    ? files()
                                    : group == "messages" ? messages()
                                                          : collectives();
    for (const Kind& kind : kinds)
      for (const bool is_persistent : {false, true})
        run(kind, is_persistent, backwards);
  }
  MPI_Comm_free(&backwards);
  MPI_Comm_free(&world);
  return MPI_Finalize();
}
