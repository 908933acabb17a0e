/* Calls that differ between ranks, or that look wrong and are not, as a program makes them that
 * knows nothing of torc:
 *
 *   differences CASE FORM
 *
 * FORM: blocking, nonblocking or persistent. Every rank prints what became of its calls, one line
 * each; differences_test.sh knows what is expected. Errors are returned. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#ifdef TEST_BLOCKING /* torc sees no such calls in its code. */
#define NONE(...) MPI_ERR_OTHER
#define MPI_Allgather_init NONE
#define MPI_Allgatherv_init NONE
#define MPI_Allreduce_init NONE
#define MPI_Alltoall_init NONE
#define MPI_Alltoallv_init NONE
#define MPI_Iallgather NONE
#define MPI_Iallgatherv NONE
#define MPI_Iallreduce NONE
#define MPI_Ialltoall NONE
#define MPI_Ialltoallv NONE
#define MPI_Ialltoallw NONE
#define MPI_Igather NONE
#define MPI_Igatherv NONE
#define MPI_Ireduce NONE
#define MPI_Ireduce_scatter NONE
#define MPI_Iscatterv NONE
#elif defined(OPEN_MPI) /* 4.1 has persistent collectives as an extension. */
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Allgather_init MPIX_Allgather_init
#define MPI_Allgatherv_init MPIX_Allgatherv_init
#define MPI_Alltoall_init MPIX_Alltoall_init
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#endif

enum { MOST_RANKS = 16, COUNT = 1000 };

static int rank, size;
static char form; /* b, n, p */
static MPI_Request request;

static void say(const char* what, int code) {
  int error_class = 0;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  if (code == MPI_SUCCESS) {
    printf("rank %d: %s: right\n", rank, what);
  } else {
    printf("rank %d: %s: error class %d\n", rank, what, error_class);
  }
  fflush(stdout);
}

static void expect(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: %s: WRONG\n", rank, what);
  fflush(stdout);
}

/* The end of a call that has returned `code`: its error, or that of the wait. */
static int finish(int code) {
  if (code != MPI_SUCCESS || form == 'b') return code;
  if (form == 'p') code = MPI_Start(&request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (form == 'p' && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  return code;
}

static int allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op) {
  if (form == 'b') return MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);
  if (form == 'n') {
    return finish(MPI_Iallreduce(in, out, count, type, op, MPI_COMM_WORLD, &request));
  }
  return finish(
      MPI_Allreduce_init(in, out, count, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
}

static int allgather(const void* in, int in_count, void* out, int count) {
  if (form == 'b') {
    return MPI_Allgather(in, in_count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD);
  }
  if (form == 'n') {
    return finish(
        MPI_Iallgather(in, in_count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD, &request));
  }
  return finish(MPI_Allgather_init(in, in_count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD,
                                   MPI_INFO_NULL, &request));
}

static int alltoall(const void* in, int in_count, void* out, int count) {
  if (form == 'b') {
    return MPI_Alltoall(in, in_count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD);
  }
  if (form == 'n') {
    return finish(
        MPI_Ialltoall(in, in_count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD, &request));
  }
  return finish(MPI_Alltoall_init(in, in_count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD,
                                  MPI_INFO_NULL, &request));
}

/* Blocks of COUNT integers for all, but for what goes to `to` and what comes from `from`. */
static int alltoallv(const int* in, int to, int to_count, int* out, int from, int from_count) {
  static int in_counts[MOST_RANKS], counts[MOST_RANKS], places[MOST_RANKS];
  for (int r = 0; r < size; ++r) {
    in_counts[r] = r == to ? to_count : COUNT;
    counts[r] = r == from ? from_count : COUNT;
    places[r] = 2 * COUNT * r;
  }
  if (form == 'b') {
    return MPI_Alltoallv(in, in_counts, places, MPI_INT, out, counts, places, MPI_INT,
                         MPI_COMM_WORLD);
  }
  if (form == 'n') {
    return finish(MPI_Ialltoallv(in, in_counts, places, MPI_INT, out, counts, places, MPI_INT,
                                 MPI_COMM_WORLD, &request));
  }
  return finish(MPI_Alltoallv_init(in, in_counts, places, MPI_INT, out, counts, places, MPI_INT,
                                   MPI_COMM_WORLD, MPI_INFO_NULL, &request));
}

/* Lists that are spoilt and freed as soon as the call has returned. */
static int* list(int (*value)(int)) {
  int* numbers = malloc(size * sizeof(int));
  for (int r = 0; r < size; ++r)
    numbers[r] = value(r);
  return numbers;
}

static void spoil(int* numbers) {
  if (numbers == NULL) return;
  memset(numbers, 0x81, size * sizeof(int));
  free(numbers);
}

static int blockOf(int r) {
  return 1 + r % 3;
}

static int placeOf(int r) {
  return 5 * r + 1;
}

/* Blocks of an allgatherv whose lists do not outlive the call. */
static void allgathervFreed(int round, int in_flight) {
  int out[8][8 * MOST_RANKS], in[8][4];
  MPI_Request requests[8];
  for (int k = 0; k < in_flight; ++k) {
    for (int i = 0; i < 4; ++i)
      in[k][i] = 1000 * rank + 10 * round + i + k;
    memset(out[k], 0, sizeof(out[k]));
    int* counts = list(blockOf);
    int* displacements = list(placeOf);
    const int code = MPI_Iallgatherv(in[k], blockOf(rank), MPI_INT, out[k], counts, displacements,
                                     MPI_INT, MPI_COMM_WORLD, &requests[k]);
    spoil(counts);
    spoil(displacements);
    if (code != MPI_SUCCESS) say("freed lists", code);
  }
  const int code = MPI_Waitall(in_flight, requests, MPI_STATUSES_IGNORE);
  if (code != MPI_SUCCESS) say("freed lists", code);
  for (int k = 0; k < in_flight; ++k) {
    for (int r = 0; r < size; ++r) {
      for (int i = 0; i < blockOf(r); ++i)
        expect(out[k][placeOf(r) + i] == 1000 * r + 10 * round + i + k, "a gathered block");
    }
  }
}

static void reduceScatterFreed(int round, int in_flight) {
  int in[8][4 * MOST_RANKS], out[8][4];
  MPI_Request requests[8];
  for (int k = 0; k < in_flight; ++k) {
    for (int i = 0; i < 4 * size; ++i)
      in[k][i] = i + round + k;
    int* counts = list(blockOf);
    const int code =
        MPI_Ireduce_scatter(in[k], out[k], counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
    spoil(counts);
    if (code != MPI_SUCCESS) say("freed lists", code);
  }
  const int code = MPI_Waitall(in_flight, requests, MPI_STATUSES_IGNORE);
  if (code != MPI_SUCCESS) say("freed lists", code);
  int first = 0;
  for (int r = 0; r < rank; ++r)
    first += blockOf(r);
  for (int k = 0; k < in_flight; ++k) {
    for (int i = 0; i < blockOf(rank); ++i)
      expect(out[k][i] == size * (first + i + round + k), "a scattered block");
  }
}

static int blockWith(int r) {
  return 1 + (r + rank) % 3;
}

static int byteOf(int r) {
  return (int)sizeof(int) * placeOf(r);
}

/* The same of exchanges; those with a datatype for each block lose these, too. */
static void exchangesFreed(int round, int in_flight) {
  int out[8][8 * MOST_RANKS], in[8 * MOST_RANKS];
  MPI_Request requests[8];
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < blockWith(r); ++i)
      in[placeOf(r) + i] = 1000 * rank + 100 * r + 10 * round + i;
  for (int k = 0; k < in_flight; ++k) {
    memset(out[k], 0, sizeof(out[k]));
    int *in_counts = list(blockWith), *counts = list(blockWith), code = MPI_SUCCESS;
    if (k % 2 == 0) {
      int *in_places = list(placeOf), *places = list(placeOf);
      code = MPI_Ialltoallv(in, in_counts, in_places, MPI_INT, out[k], counts, places, MPI_INT,
                            MPI_COMM_WORLD, &requests[k]);
      spoil(in_places);
      spoil(places);
    } else {
      int *in_places = list(byteOf), *places = list(byteOf);
      MPI_Datatype *in_types = malloc(size * sizeof(MPI_Datatype)),
                   *types = malloc(size * sizeof(MPI_Datatype)), pair;
      MPI_Type_contiguous(1, MPI_INT, &pair);
      MPI_Type_commit(&pair);
      for (int r = 0; r < size; ++r) {
        in_types[r] = MPI_INT;
        types[r] = pair;
      }
      code = MPI_Ialltoallw(in, in_counts, in_places, in_types, out[k], counts, places, types,
                            MPI_COMM_WORLD, &requests[k]);
      MPI_Type_free(&pair);
      spoil(in_places);
      spoil(places);
      memset(in_types, 0x81, size * sizeof(MPI_Datatype));
      memset(types, 0x81, size * sizeof(MPI_Datatype));
      free(in_types);
      free(types);
    }
    spoil(in_counts);
    spoil(counts);
    if (code != MPI_SUCCESS) say("freed lists", code);
  }
  const int code = MPI_Waitall(in_flight, requests, MPI_STATUSES_IGNORE);
  if (code != MPI_SUCCESS) say("freed lists", code);
  for (int k = 0; k < in_flight; ++k) {
    for (int r = 0; r < size; ++r) {
      for (int i = 0; i < blockWith(r); ++i)
        expect(out[k][placeOf(r) + i] == 1000 * r + 100 * rank + 10 * round + i,
               "an exchanged block");
    }
  }
}

static void freedLists(void) {
  for (int round = 0; round < 3; ++round) {
    allgathervFreed(round, 1 + 7 * (round == 2));
    reduceScatterFreed(round, 1 + 7 * (round == 1));
    exchangesFreed(round, 2 + 6 * (round == 2));
  }
  say("freed lists", MPI_SUCCESS);
}

/* Every rank but the first passes its result's beginning as its contribution, which lies elsewhere
 * than its own block: MPICH lets that pass and reads it first. */
static void sameBase(void) {
  int out[MOST_RANKS];
  for (int round = 0; round < 3; ++round) {
    for (int r = 0; r < size; ++r)
      out[r] = -1;
    int own = 100 * round;
    if (rank > 0) out[0] = rank + 100 * round;
    const int code = allgather(rank > 0 ? out : &own, 1, out, 1);
    if (code != MPI_SUCCESS) say("the same base", code);
    for (int r = 0; r < size; ++r)
      expect(out[r] == r + 100 * round, "a gathered block");
  }
  say("the same base", MPI_SUCCESS);
}

/* The same of an allgatherv, whose blocks lie behind a gap. */
static void sameBaseV(void) {
  int out[8 * MOST_RANKS], counts[MOST_RANKS], displacements[MOST_RANKS];
  for (int r = 0; r < size; ++r) {
    counts[r] = blockOf(r);
    displacements[r] = placeOf(r) + 4;
  }
  for (int round = 0; round < 3; ++round) {
    memset(out, 0, sizeof(out));
    for (int i = 0; i < 4; ++i)
      out[i] = 1000 * rank + 10 * round + i;
    int code = MPI_SUCCESS;
    if (form == 'b') {
      code = MPI_Allgatherv(out, blockOf(rank), MPI_INT, out, counts, displacements, MPI_INT,
                            MPI_COMM_WORLD);
    } else if (form == 'n') {
      code = finish(MPI_Iallgatherv(out, blockOf(rank), MPI_INT, out, counts, displacements,
                                    MPI_INT, MPI_COMM_WORLD, &request));
    } else {
      code = finish(MPI_Allgatherv_init(out, blockOf(rank), MPI_INT, out, counts, displacements,
                                        MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    }
    if (code != MPI_SUCCESS) say("the same base", code);
    for (int r = 0; r < size; ++r) {
      for (int i = 0; i < blockOf(r); ++i)
        expect(out[displacements[r] + i] == 1000 * r + 10 * round + i, "a gathered block");
    }
  }
  say("the same base", MPI_SUCCESS);
}

static double in[4 * COUNT * MOST_RANKS], out[4 * COUNT * MOST_RANKS];

static void leftOperand(void* left, void* right, int* count, MPI_Datatype* type) {
  (void)type;
  memcpy(right, left, *count * sizeof(double));
}

/* A right call, so that what follows is not the first one. */
static void warmUp(void) {
  say("before", allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM));
}

/* A right call behind all others, with the right result. */
static void after(void) {
  for (int i = 0; i < COUNT; ++i) {
    in[i] = rank + i;
    out[i] = -1;
  }
  const int code = allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM);
  say("after", code);
  for (int i = 0; i < COUNT && code == MPI_SUCCESS; ++i)
    expect(out[i] == size * (size - 1) / 2 + size * i, "a sum");
}

/* The `which`-th of four rooted collectives; MPI refuses one with MPI_DATATYPE_NULL. */
static int rooted(int which, MPI_Datatype type, MPI_Comm comm) {
  static int whole[4 * MOST_RANKS], counts[MOST_RANKS], places[MOST_RANKS];
  int own[4], code = MPI_SUCCESS;
  for (int i = 0; i < 4 * size; ++i) {
    own[i % 4] = which < 2 ? rank : 1;
    whole[i] = which == 3 ? i / 4 : -1;
    counts[i / 4] = 4;
    places[i / 4] = i / 4 * 4;
  }
  if (which == 0 && form == 'b') {
    code = MPI_Gatherv(own, 4, MPI_INT, whole, counts, places, type, 0, comm);
  } else if (which == 0) {
    code = MPI_Igatherv(own, 4, MPI_INT, whole, counts, places, type, 0, comm, &request);
  } else if (which == 1 && form == 'b') {
    code = MPI_Gather(own, 4, MPI_INT, whole, 4, type, 0, comm);
  } else if (which == 1) {
    code = MPI_Igather(own, 4, MPI_INT, whole, 4, type, 0, comm, &request);
  } else if (which == 2 && form == 'b') {
    code = MPI_Reduce(own, whole, 4, type, MPI_SUM, 0, comm);
  } else if (which == 2) {
    code = MPI_Ireduce(own, whole, 4, type, MPI_SUM, 0, comm, &request);
  } else if (form == 'b') {
    code = MPI_Scatterv(whole, counts, places, type, own, 4, MPI_INT, 0, comm);
  } else {
    code = MPI_Iscatterv(whole, counts, places, type, own, 4, MPI_INT, 0, comm, &request);
  }
  code = finish(code);
  if (code != MPI_SUCCESS) return code;
  if (which == 3) expect(own[3] == rank, "a scattered block");
  for (int r = 0; r < size && rank == 0 && which < 3; ++r)
    expect(whole[which == 2 ? 3 : 4 * r + 3] == (which == 2 ? size : r), "what comes to the root");
  return code;
}

/* MPI refuses the root's call, which then makes a collective on this communicator or another one,
 * receives messages, makes the same call after all, as late as it likes, or all make another one.
 */
static void refusedAtRoot(int which, int then, int is_first) {
  if (which == 3 && then != 3) return; /* the others wait for the root, as with MPI alone */
  int one = 1, sum = 0, code, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (!is_first) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  code = rooted(which, rank == 0 ? MPI_DATATYPE_NULL : MPI_INT, comm);
  if (rank == 0) {
    expect(code != MPI_SUCCESS, "what MPI refuses");
    MPI_Error_string(code, text, &length);
    MPI_Comm_get_errhandler(comm, &handler);
    MPI_Errhandler_free(&handler);
    if (then == 3) usleep(700000);
    if (then == 3) expect(rooted(which, MPI_INT, comm) == MPI_SUCCESS, "the call after all");
  } else {
    /* They only send, or the root makes the call after all. */
    expect(code == MPI_SUCCESS, "the call of another rank");
  }
  if (then == 0) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (then == 1) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(then > 1 || sum == size, "a sum");
  for (int r = 1; r < size && then == 2 && rank == 0; ++r)
    MPI_Recv(&sum, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (then == 2 && rank > 0) MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (then == 4) {
    expect(rooted(which == 1 ? 2 : 1, MPI_INT, comm) == MPI_SUCCESS, "another call");
  }
  if (then > 0 && then < 4) expect(rooted(which, MPI_INT, comm) == MPI_SUCCESS, "the next call");
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* what = argv[1];
  form = argv[2][0];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int odd = rank == size - 1; /* the rank that differs */
  if (strcmp(what, "same-base") == 0) {
    sameBase();
    sameBaseV();
  } else if (strcmp(what, "freed-lists") == 0) {
    freedLists();
  } else if (strcmp(what, "more") == 0) {
    warmUp();
    say("call", allreduce(in, out, odd ? COUNT + 200 : COUNT, MPI_DOUBLE, MPI_SUM));
    after();
  } else if (strcmp(what, "fewer") == 0) {
    warmUp();
    say("call", allreduce(in, out, odd ? COUNT - 200 : COUNT, MPI_DOUBLE, MPI_SUM));
    after();
  } else if (strcmp(what, "first-fewer") == 0) {
    say("call", allreduce(in, out, odd ? 1 : COUNT, MPI_DOUBLE, MPI_SUM));
    after();
  } else if (strcmp(what, "other-collective") == 0) {
    warmUp();
    if (odd) {
      say("call", allgather(in, COUNT, out, COUNT));
    } else {
      say("call", allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM));
    }
    after();
  } else if (strcmp(what, "refused") == 0) {
    warmUp();
    say("call", allreduce(in, out, COUNT, odd ? MPI_DATATYPE_NULL : MPI_DOUBLE, MPI_SUM));
    say("after", allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM));
  } else if (strcmp(what, "aliased") == 0) {
    warmUp();
    say("call", allreduce(in, odd ? in : out, COUNT, MPI_DOUBLE, MPI_SUM));
    say("after", allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM));
  } else if (strcmp(what, "made-up") == 0) {
    /* What MPI has refused is made once more, and right: the others wait for that. */
    warmUp();
    if (odd) say("refused", allreduce(in, out, COUNT, MPI_DATATYPE_NULL, MPI_SUM));
    say("call", allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM));
    after();
  } else if (strcmp(what, "gone-on") == 0) {
    /* What MPI has refused is made on the others, and never here. */
    warmUp();
    if (odd) {
      say("call", allreduce(in, out, COUNT, MPI_DATATYPE_NULL, MPI_SUM));
    } else {
      say("call", allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM));
    }
    const int block = rank;
    int blocks[MOST_RANKS];
    say("next", allgather(&block, 1, blocks, 1));
    for (int r = 0; r < size; ++r)
      expect(blocks[r] == r, "a gathered block");
    after();
  } else if (strcmp(what, "alone") == 0) {
    /* No other rank makes what MPI refuses here. */
    warmUp();
    for (int i = 0; odd && i < 3; ++i) {
      say("refused", allreduce(in, out, COUNT, MPI_DATATYPE_NULL, MPI_SUM));
      say("refused", allgather(in, COUNT, MPI_IN_PLACE, COUNT));
      if (i == 1) say("refused", allreduce(in, out, COUNT, MPI_DOUBLE, MPI_OP_NULL));
    }
    say("call", allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM));
    after();
  } else if (strcmp(what, "all-refused") == 0) {
    warmUp();
    say("call", allreduce(in, out, COUNT, MPI_DOUBLE, MPI_OP_NULL));
    after();
  } else if (strcmp(what, "own-block") == 0) {
    warmUp();
    say("call", allgather(in, odd ? 2 * COUNT : COUNT, out, COUNT));
    after();
  } else if (strcmp(what, "exchange-more") == 0) {
    warmUp();
    say("call", alltoall(in, odd ? COUNT + 100 : COUNT, out, odd ? COUNT + 100 : COUNT));
    after();
  } else if (strcmp(what, "exchange-own-block") == 0) {
    warmUp();
    say("call", alltoall(in, odd ? 2 * COUNT : COUNT, out, COUNT));
    after();
  } else if (strcmp(what, "exchange-lists") == 0) {
    warmUp();
    if (odd) {
      say("call", alltoallv((int*)in, -1, 0, (int*)out, -1, 0));
    } else {
      say("call", alltoall(in, COUNT, out, COUNT));
    }
    after();
  } else if (strcmp(what, "block-too-long") == 0) {
    /* The last rank sends rank 0 more than that takes: nothing is written behind the block. */
    warmUp();
    memset(out, 0x55, sizeof(out));
    say("call", alltoallv((int*)in, odd ? 0 : -1, 2 * COUNT, (int*)out, -1, 0));
    for (int r = 0; r < size; ++r)
      expect(((int*)out)[2 * COUNT * r + COUNT] == 0x55555555, "what is behind a block");
    after();
  } else if (strcmp(what, "block-too-short") == 0) {
    warmUp();
    say("call", alltoallv((int*)in, odd ? 0 : -1, COUNT / 2, (int*)out, -1, 0));
    after();
  } else if (strcmp(what, "own-blocks-differ") == 0) {
    warmUp();
    say("call", alltoallv((int*)in, odd ? rank : -1, 2 * COUNT, (int*)out, -1, 0));
    after();
  } else if (strcmp(what, "refused-at-root") == 0) {
    /* Nonblocking calls find their communicator set up. */
    for (int i = 0; i < 4 * 5 * (form == 'b' ? 2 : 1); ++i)
      refusedAtRoot(i % 4, i / 4 % 5, i >= 4 * 5);
    say("refused at the root", MPI_SUCCESS);
  } else if (strcmp(what, "skipped") == 0) {
    warmUp();
    if (!odd) say("call", allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM));
  } else if (strcmp(what, "not-commuting") == 0) {
    warmUp();
    MPI_Op op;
    MPI_Op_create(leftOperand, 0, &op);
    say("call", allreduce(in, out, COUNT, MPI_DOUBLE, odd ? op : MPI_SUM));
    after();
  } else if (strcmp(what, "late") == 0) {
    warmUp();
    if (odd) sleep(2);
    say("call", allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM));
    after();
  } else if (strcmp(what, "fatal") == 0) {
    warmUp();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    say("call", allreduce(in, out, odd ? COUNT + 200 : COUNT, MPI_DOUBLE, MPI_SUM));
  } else {
    return 2;
  }
  MPI_Finalize();
  return 0;
}
