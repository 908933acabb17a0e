/* Receives and waits of the program's own that fail while a collective is under way on the rank:
 * what each reports. With an argument, MPI is initialised with MPI_THREAD_MULTIPLE. Rank 0 tests;
 * the others start the collective when it has. */
#include <cstdlib>
#include <vector>

#include "tests/runtime/pmpi/alike/told.h"
#include "tests/runtime/pmpi/mpi_calls/waiting.h"

using mpi_calls::completeSome;
using mpi_calls::nameOf;
using mpi_calls::Waiting;

enum { kTooLong = 8, kRoom = 4 };

static MPI_Comm own;
static int data[64], room[64];
static int tag = 0; /* of the next message that is too long */

/* A receive of the next of them. */
static MPI_Request receive(void) {
  MPI_Request request;
  MPI_Irecv(room, kRoom, MPI_INT, 1, tag++, own, &request);
  return request;
}

static void test_receives(void) {
  MPI_Status status;
  told("Recv", MPI_Recv(room, kRoom, MPI_INT, 1, tag++, own, &status));
  told("Recv from any", MPI_Recv(room, kRoom, MPI_INT, MPI_ANY_SOURCE, tag++, own, &status));
  told("Recv, no status", MPI_Recv(room, kRoom, MPI_INT, 1, tag++, own, MPI_STATUS_IGNORE));
  told("Sendrecv", MPI_Sendrecv(data, 0, MPI_INT, MPI_PROC_NULL, 0, room, kRoom, MPI_INT, 1, tag++,
                                own, &status));
  told("Sendrecv_replace",
       MPI_Sendrecv_replace(room, kRoom, MPI_INT, MPI_PROC_NULL, 0, 1, tag++, own, &status));
  MPI_Message message;
  MPI_Mprobe(1, tag++, own, &message, &status);
  told("Mrecv", MPI_Mrecv(room, kRoom, MPI_INT, &message, &status));
#if MPI_VERSION >= 4
  told("Recv_c", MPI_Recv_c(room, kRoom, MPI_INT, 1, tag++, own, &status));
  told("Sendrecv_c", MPI_Sendrecv_c(data, 0, MPI_INT, MPI_PROC_NULL, 0, room, kRoom, MPI_INT, 1,
                                    tag++, own, &status));
#endif
  MPI_Datatype vector;
  MPI_Type_vector(2, 1, 3, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  told("Recv of a vector", MPI_Recv(room, 2, vector, 1, tag++, own, &status));
  told("Recv of vectors that fit", MPI_Recv(room, kTooLong / 2, vector, 1, tag++, own, &status));
  MPI_Type_free(&vector);
  MPI_Recv(room, kTooLong, MPI_INT, 1, tag++, own, &status);
  told("Recv that fits", MPI_SUCCESS);
  told("Recv from nobody", MPI_Recv(room, kRoom, MPI_INT, MPI_PROC_NULL, 1, own, &status));
}

static void test_waits(void) {
  std::vector<int> indices;
  std::vector<MPI_Status> statuses;
  for (int i = 0; i < static_cast<int>(Waiting::kCount); ++i) {
    for (const bool has_statuses : {true, false}) {
      std::vector<MPI_Request> requests = {receive(), MPI_REQUEST_NULL};
      const auto way = static_cast<Waiting>(i);
      const int code = completeSome(way, requests, indices, has_statuses ? &statuses : nullptr);
      const bool many = i >= static_cast<int>(Waiting::kWaitall);
      if (has_statuses && many)
        line("%d, status %d\n", indices[0], class_of(statuses[0].MPI_ERROR));
      told(nameOf(way), code);
      /* It may have failed. */
      if (requests[0] != MPI_REQUEST_NULL) MPI_Request_free(&requests[0]);
    }
  }
  MPI_Request request;
  MPI_Status status;
  MPI_Recv_init(room, kRoom, MPI_INT, 1, tag++, own, &request);
  MPI_Start(&request);
  told("Wait for a persistent one", MPI_Wait(&request, &status));
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

#ifndef RETURNS
/* An error handler that never returns to MPI: what comes next is as ever. */
static void test_leaving(void) {
  MPI_Status status;
  leaves = 1;
  if (setjmp(back) == 0) MPI_Recv(room, kRoom, MPI_INT, 1, tag++, own, &status);
  told("Recv, left", MPI_SUCCESS);
  if (setjmp(back) == 0) MPI_Send(data, 1, MPI_INT, 100, 0, own);
  told("Send, left", MPI_SUCCESS);
  leaves = 0;
  told("Recv after it", MPI_Recv(room, kTooLong, MPI_INT, 1, tag++, own, &status));
}
#endif

/* Calls that MPI refuses at once, and that must not wait for a message before. */
static void test_refusals(void) {
  MPI_Status status;
  MPI_Datatype type;
  MPI_Type_vector(2, 1, 3, MPI_INT, &type);
  told("Recv, count", MPI_Recv(room, -1, MPI_INT, 1, 9000, own, &status));
  told("Recv, type", MPI_Recv(room, 1, MPI_DATATYPE_NULL, 1, 9000, own, &status));
  told("Recv, uncommitted", MPI_Recv(room, 1, type, 1, 9000, own, &status));
  told("Recv, rank", MPI_Recv(room, 1, MPI_INT, 100, 9000, own, &status));
  told("Recv, tag", MPI_Recv(room, 1, MPI_INT, 1, -7, own, &status));
  told("Recv, no communicator", MPI_Recv(room, 1, MPI_INT, 1, 9000, MPI_COMM_NULL, &status));
  told("Send, rank", MPI_Send(data, 1, MPI_INT, 100, 9000, own));
  told("Ssend, count", MPI_Ssend(data, -1, MPI_INT, 0, 9000, own));
  told("Rsend, tag", MPI_Rsend(data, 1, MPI_INT, 0, -7, own));
  told("Probe, rank", MPI_Probe(100, 9000, own, &status));
  told("Probe, tag", MPI_Probe(1, -7, own, &status));
  told("Sendrecv, rank",
       MPI_Sendrecv(data, 0, MPI_INT, 100, 0, room, kRoom, MPI_INT, 1, 9000, own, &status));
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  int rank, size, level, before[8], sum[8] = {0};
  MPI_Request collective, sends[40];
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  count_errors(own);
  for (int i = 0; i < 8; ++i)
    before[i] = rank + i;
  MPI_Barrier(own);
  if (rank == 0) {
    MPI_Query_thread(&level);
    line("level %d\n", level);
    MPI_Iallreduce(before, sum, 8, MPI_INT, MPI_SUM, own, &collective);
    test_receives();
    test_waits();
    test_refusals();
#ifndef RETURNS
    if (argc == 1) test_leaving(); /* MPICH 4.0.2 does not survive it where threads are */
#endif
    told("Sendrecv with itself",
         MPI_Sendrecv(data, 1, MPI_INT, 0, 77, room, 1, MPI_INT, 0, 77, own, MPI_STATUS_IGNORE));
    for (int to = 1; to < size; ++to)
      MPI_Send(data, 0, MPI_INT, to, 9001, own);
  } else {
    for (int i = 0; rank == 1 && i < 40; ++i)
      MPI_Isend(data, kTooLong, MPI_INT, 0, i, own, &sends[i]);
    MPI_Recv(data, 0, MPI_INT, 0, 9001, own, MPI_STATUS_IGNORE);
    MPI_Iallreduce(before, sum, 8, MPI_INT, MPI_SUM, own, &collective);
  }
  told("Wait for the collective", MPI_Wait(&collective, MPI_STATUS_IGNORE));
  line("sum %d\n", sum[3]);
  /* What no test has received. */
  MPI_Bcast(&tag, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = tag; rank == 0 && i < 40; ++i)
    MPI_Recv(room, kTooLong, MPI_INT, 1, i, own, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Waitall(40, sends, MPI_STATUSES_IGNORE);
  print_lines();
  MPI_Comm_free(&own);
  return MPI_Finalize();
}
