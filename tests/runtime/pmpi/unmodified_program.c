/* A program as users have it: MPI's collectives in all their forms, and no word of torc. Every rank
 * checks its results; they are the same whoever serves the calls. Prints nothing when all is well. */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

/* Open MPI 4.1 has persistent collectives as an extension. */
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#endif

static int rank, size, faults;

static void check(int ok, const char* what, int count) {
  if (ok) return;
  if (faults++ < 10) fprintf(stderr, "rank %d: %s of %d is wrong\n", rank, what, count);
}

static double* numbers(int count) {
  return malloc(sizeof(double) * (size_t)(count + 1) * (size_t)size);
}

/* The sum over all ranks of 1000 rank + i. */
static double sumOf(int i) {
  return 1000.0 * size * (size - 1) / 2 + (double)i * size;
}

static void reduceEverywhere(int count) {
  double *in = numbers(count), *out = numbers(count), *other = numbers(count);
  MPI_Request requests[2], persistent;
  MPI_Status statuses[2];
  for (int i = 0; i < count; ++i)
    in[i] = other[i] = 1000.0 * rank + i;

  MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int ok = 1;
  for (int i = 0; i < count; ++i)
    ok &= out[i] == sumOf(i);
  check(ok, "MPI_Allreduce", count);

  MPI_Iallreduce(MPI_IN_PLACE, other, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  ok = 1;
  for (int i = 0; i < count; ++i)
    ok &= other[i] == 1000.0 * (size - 1) + i;
  check(ok, "MPI_Iallreduce in place", count);

  MPI_Allreduce_init(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &persistent);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < count; ++i)
      out[i] = -1;
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    ok = 1;
    for (int i = 0; i < count; ++i)
      ok &= out[i] == sumOf(i);
    check(ok, "MPI_Allreduce_init", count);
  }
  MPI_Request_free(&persistent);
  free(in);
  free(out);
  free(other);
}

/* The contribution of the last rank: no operation that commutes. */
static void takeSecond(void* first, void* second, int* length, MPI_Datatype* type) {
  (void)first, (void)second, (void)length, (void)type;
}

static void reduceAndScatter(int count) {
  double *in = numbers(count), *out = numbers(count);
  int* counts = malloc(sizeof(int) * (size_t)size);
  int first = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = r % 2 == 0 ? count : count / 2;
    if (r < rank) first += counts[r];
  }
  for (int i = 0; i < count * size; ++i)
    in[i] = 1000.0 * rank + i;
  MPI_Reduce_scatter_block(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int ok = 1;
  for (int i = 0; i < count; ++i)
    ok &= out[i] == sumOf(rank * count + i);
  check(ok, "MPI_Reduce_scatter_block", count);

  MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  ok = 1;
  for (int i = 0; i < counts[rank]; ++i)
    ok &= out[i] == sumOf(first + i);
  check(ok, "MPI_Reduce_scatter", count);

  MPI_Op second;
  MPI_Op_create(takeSecond, 0, &second);
  for (int round = 0; round < 3 && count < 1000; ++round) { /* of long ones it is MPI's */
    for (int i = 0; i < count; ++i)
      out[i] = -1;
    MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, second, MPI_COMM_WORLD);
    ok = 1;
    for (int i = 0; i < counts[rank]; ++i)
      ok &= out[i] == 1000.0 * (size - 1) + first + i;
    for (int i = counts[rank]; i < count; ++i)
      ok &= out[i] == -1;
    check(ok, "MPI_Reduce_scatter by an operation that does not commute", count);
  }
  MPI_Op_free(&second);
  free(in);
  free(out);
  free(counts);
}

static void gatherEverywhere(int count) {
  double *in = numbers(count), *out = numbers(2 * count);
  int* counts = malloc(sizeof(int) * (size_t)size);
  int* places = malloc(sizeof(int) * (size_t)size);
  for (int i = 0; i < count; ++i)
    in[i] = 1000.0 * rank + i;
  MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD);
  int ok = 1;
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < count; ++i)
      ok &= out[r * count + i] == 1000.0 * r + i;
    counts[r] = r % 2 == 0 ? count : count / 2;
    places[r] = (size - 1 - r) * count;
  }
  check(ok, "MPI_Allgather", count);

  MPI_Allgatherv(in, counts[rank], MPI_DOUBLE, out, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  ok = 1;
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < counts[r]; ++i)
      ok &= out[places[r] + i] == 1000.0 * r + i;
  }
  check(ok, "MPI_Allgatherv", count);

  /* Every second element; the type is freed while the call is under way. */
  MPI_Datatype sparse, block;
  MPI_Request request;
  MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &sparse);
  MPI_Type_create_resized(sparse, 0, (MPI_Aint)(sizeof(double) * (size_t)count * 2), &block);
  MPI_Type_commit(&block);
  for (int i = 0; i < 2 * count * size; ++i)
    out[i] = -1;
  MPI_Iallgather(in, count, MPI_DOUBLE, out, 1, block, MPI_COMM_WORLD, &request);
  MPI_Type_free(&sparse);
  MPI_Type_free(&block);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  ok = 1;
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < count; ++i) {
      const double* at = out + 2 * (r * count + i);
      ok &= at[0] == 1000.0 * r + i && at[1] == -1;
    }
  }
  check(ok, "MPI_Iallgather of a vector type", count);
  free(in);
  free(out);
  free(counts);
  free(places);
}

/* The lower and the upper half of the ranks, counted backwards: lines of a torus NX2. The communicator
 * is freed while a call on it is under way. */
static void reduceInHalves(int count) {
  double *in = numbers(count), *out = numbers(count);
  const int half = size / 2, low = rank / half * half;
  MPI_Comm line;
  MPI_Request request;
  for (int i = 0; i < count; ++i)
    in[i] = 1000.0 * rank + i;
  MPI_Comm_split(MPI_COMM_WORLD, rank / half, -rank, &line);
  MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, line, &request);
  MPI_Comm_free(&line);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int ok = 1;
  for (int i = 0; i < count; ++i)
    ok &= out[i] == 1000.0 * (half * low + half * (half - 1) / 2) + (double)half * i;
  check(ok, "MPI_Iallreduce of a half", count);
  free(in);
  free(out);
}

#if MPI_VERSION >= 4

/* Blocks that lie at addresses. */
static void gatherAtAddresses(void) {
  MPI_Datatype byte;
  MPI_Type_contiguous(1, MPI_BYTE, &byte);
  MPI_Type_commit(&byte);
  unsigned char own = (unsigned char)(3 * rank + 1);
  unsigned char* blocks = calloc(2 * (size_t)size, 1);
  MPI_Count* counts = malloc(sizeof(MPI_Count) * (size_t)size);
  MPI_Aint* places = malloc(sizeof(MPI_Aint) * (size_t)size);
  for (int r = 0; r < size; ++r) {
    counts[r] = 1;
    MPI_Get_address(&blocks[2 * r], &places[r]);
  }
  MPI_Allgatherv_c(&own, 1, MPI_BYTE, MPI_BOTTOM, counts, places, byte, MPI_COMM_WORLD);
  int ok = 1;
  for (int r = 0; r < size; ++r)
    ok &= blocks[2 * r] == 3 * r + 1 && blocks[2 * r + 1] == 0;
  check(ok, "MPI_Allgatherv at addresses", 1);
  MPI_Type_free(&byte);
  free(blocks);
  free(counts);
  free(places);
}

#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int count = 0; count < 5000; count = count * 5 + 1) {
    reduceEverywhere(count);
    reduceAndScatter(count);
    gatherEverywhere(count);
    reduceInHalves(count);
  }
#if MPI_VERSION >= 4
  gatherAtAddresses();
#endif
  int all = 0;
  MPI_Reduce(&faults, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return all > 0;
}
