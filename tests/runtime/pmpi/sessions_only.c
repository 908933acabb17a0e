/* A program that uses MPI by sessions. Its argument says what it does besides:
 *   nothing  its rank 0 prints a sum over the ranks of a communicator from the session
 *   return   the same, under MPI_ERRORS_RETURN; without a session it prints so, and ends with 0
 *   init     then calls MPI_Init, and prints the sum over MPI_COMM_WORLD, too; before that if there
 *            is no session
 *   before   the same, but MPI_Init comes first */
#include <stdio.h>
#include <string.h>

#include <mpi.h>

static int sumOver(MPI_Comm comm) {
  int rank, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "nothing";
  const int before = strcmp(mode, "before") == 0;
  const int returns = strcmp(mode, "return") == 0 || strcmp(mode, "init") == 0;
  const int world = before || strcmp(mode, "init") == 0;
  MPI_Session session = MPI_SESSION_NULL, second = MPI_SESSION_NULL;
  MPI_Comm comm;
  MPI_Group group;
  int rank = -1, sum = 0;

  if (before) MPI_Init(&argc, &argv);
  if (MPI_Session_init(MPI_INFO_NULL, returns ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL,
                       &session) == MPI_SUCCESS) {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    MPI_Session_finalize(&second);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    sum = sumOver(comm);
    if (rank == 0) printf("session %d\n", sum);
    MPI_Comm_free(&comm);
  } else if (session == MPI_SESSION_NULL) {
    printf("no session\n");
  }
  if (world) {
    if (!before) MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sum = sumOver(MPI_COMM_WORLD);
    if (rank == 0) printf("world %d\n", sum);
    MPI_Finalize();
  }
  if (session != MPI_SESSION_NULL) MPI_Session_finalize(&session);
  return 0;
}
