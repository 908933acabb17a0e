/* A program that uses MPI by sessions. Its argument says what it does besides:
 *   nothing  its rank 0 prints a sum over the ranks of a communicator from the session
 *   return   the same, under MPI_ERRORS_RETURN; without the communicator it prints so, and goes on
 *   init     the same, then calls MPI_Init, and prints the sum over MPI_COMM_WORLD, too
 *   early    makes no communicator of the session before that
 *   before   as init, but MPI_Init comes first */
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
  const int before = strcmp(mode, "before") == 0, early = strcmp(mode, "early") == 0;
  const int returns = strcmp(mode, "return") == 0 || strcmp(mode, "init") == 0;
  const int world = before || early || strcmp(mode, "init") == 0;
  const MPI_Errhandler handler = returns ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
  MPI_Session session, second;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group group;
  int rank = -1, sum = 0;

  if (before) MPI_Init(&argc, &argv);
  MPI_Session_init(MPI_INFO_NULL, handler, &session);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
  MPI_Session_finalize(&second);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Group_rank(group, &rank);
  if (early) {
    if (rank == 0) printf("session\n");
  } else if (MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, handler, &comm) ==
             MPI_SUCCESS) {
    sum = sumOver(comm);
    if (rank == 0) printf("session %d\n", sum);
    MPI_Comm_free(&comm);
  } else if (comm == MPI_COMM_NULL) {
    fputs("no communicator\n", stdout); /* in one piece, whatever other ranks write */
  }
  MPI_Group_free(&group);
  if (world) {
    if (!before) MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sum = sumOver(MPI_COMM_WORLD);
    if (rank == 0) printf("world %d\n", sum);
    MPI_Finalize();
  }
  MPI_Session_finalize(&session);
  return 0;
}
