/* Halo exchanges as programs make them, on Cartesian communicators: every neighbourhood collective in
 * every form. Where a dimension ends, the result keeps what was there. Rank 0 prints hashes of all
 * results, which are the same whoever serves the calls.
 *
 *   neighbours SLOW FAST   the grid's sizes */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Open MPI 4.1 has persistent collectives as an extension. */
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define MPI_Neighbor_allgather_init MPIX_Neighbor_allgather_init
#define MPI_Neighbor_allgatherv_init MPIX_Neighbor_allgatherv_init
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#define MPI_Neighbor_alltoallv_init MPIX_Neighbor_alltoallv_init
#define MPI_Neighbor_alltoallw_init MPIX_Neighbor_alltoallw_init
#endif

enum { DIMENSIONS = 2, NEIGHBOURS = 2 * DIMENSIONS, COUNT = 30, ROOM = 4 * COUNT * NEIGHBOURS };

static int rank, size;
static int in[ROOM], out[ROOM];
static uint64_t hash;

static void fill(int round) {
  for (int i = 0; i < ROOM; ++i) {
    in[i] = 1000 * rank + 100000 * round + i;
    out[i] = -7;
  }
}

static void note(void) {
  for (int i = 0; i < ROOM; ++i) {
    hash = (hash ^ (uint64_t)(uint32_t)out[i]) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  }
}

/* Ends a call of a form: b blocking, n nonblocking, p persistent, which runs twice. */
static void end(char form, MPI_Request* request) {
  for (int round = 0; round < (form == 'p' ? 2 : 1) && form != 'b'; ++round) {
    if (form == 'p') fill(10 + round);
    if (form == 'p') MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (form == 'p') note();
  }
  if (form == 'p') MPI_Request_free(request);
  note();
}

#define CALL(form, name, ...)                                                      \
  do {                                                                                   \
    MPI_Request request = MPI_REQUEST_NULL;                                              \
    fill(0);                                                                             \
    if (form == 'b') MPI_Neighbor_##name(__VA_ARGS__);                                   \
    if (form == 'n') MPI_Ineighbor_##name(__VA_ARGS__, &request);                        \
    if (form == 'p') MPI_Neighbor_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request);   \
    end(form, &request);                                                                 \
  } while (0)

/* What goes up a dimension is as long as what comes from below. */
static const int counts[NEIGHBOURS] = {COUNT, COUNT, COUNT / 3, COUNT / 3};
static const int alike[NEIGHBOURS] = {COUNT, COUNT, COUNT, COUNT};

static void exchange(char form, MPI_Comm comm) {
  int places[NEIGHBOURS];
  MPI_Aint bytes[NEIGHBOURS];
  MPI_Datatype types[NEIGHBOURS], strided;
  MPI_Type_vector(COUNT, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  for (int k = 0; k < NEIGHBOURS; ++k) {
    places[k] = 2 * COUNT * (NEIGHBOURS - 1 - k) + 3; /* from back to front, with gaps */
    bytes[k] = (MPI_Aint)(places[k] * (int)sizeof(int));
    types[k] = k < 2 ? MPI_INT : strided;
  }
  CALL(form, allgather, in, COUNT, MPI_INT, out, COUNT, MPI_INT, comm);
  CALL(form, allgather, in, 1, strided, out, COUNT, MPI_INT, comm);
  CALL(form, allgatherv, in, COUNT, MPI_INT, out, alike, places, MPI_INT, comm);
  CALL(form, alltoall, in, COUNT, MPI_INT, out, COUNT, MPI_INT, comm);
  CALL(form, alltoall, in, 4 * COUNT, MPI_BYTE, out, COUNT, MPI_INT, comm);
  CALL(form, alltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
  {
    const int counted[NEIGHBOURS] = {COUNT, COUNT, 1, 1};
    CALL(form, alltoallw, in, counted, bytes, types, out, counted, bytes, types, comm);
  }
  MPI_Type_free(&strided);
}

/* Lists that are gone when a nonblocking call has returned. */
static void forget(MPI_Comm comm) {
  MPI_Request request;
  int* lists = malloc(3 * NEIGHBOURS * sizeof(int));
  for (int k = 0; k < NEIGHBOURS; ++k) {
    lists[k] = counts[k];
    lists[NEIGHBOURS + k] = COUNT * k;
    lists[2 * NEIGHBOURS + k] = 2 * COUNT * k;
  }
  fill(3);
  MPI_Ineighbor_alltoallv(in, lists, lists + NEIGHBOURS, MPI_INT, out, lists,
                          lists + 2 * NEIGHBOURS, MPI_INT, comm, &request);
  memset(lists, 0x81, 3 * NEIGHBOURS * sizeof(int));
  free(lists);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note();
}

static void tell(const char* what) {
  uint64_t* all = malloc((size_t)size * sizeof(uint64_t));
  MPI_Gather(&hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < size; ++r)
    printf("%s, rank %d: %016llx\n", what, r, (unsigned long long)all[r]);
  free(all);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int ends = 0; ends < 4; ++ends) {
    int sizes[DIMENSIONS] = {atoi(argv[1]), atoi(argv[2])};
    int periods[DIMENSIONS] = {ends % 2, ends / 2};
    char what[64];
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, sizes, periods, 0, &grid);
    exchange('b', grid);
    exchange('n', grid);
    exchange('p', grid);
    forget(grid);
    MPI_Comm_free(&grid);
    snprintf(what, sizeof(what), "periodic %d %d", periods[0], periods[1]);
    tell(what);
  }
  MPI_Finalize();
  return 0;
}
