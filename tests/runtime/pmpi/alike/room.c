/* Collectives whose receivers give more room than is sent, as MPI forbids and programs do all the
 * same:
 *
 *   room CALL:WHO[,WHO]...
 *
 * WHO gives room for twice as many integers as are in a block: `all` ranks, `one`, which is the
 * root of a gather, one for the `block` of one sender; of `less` the last rank sends half as many.
 * Few integers and many, in a row and with gaps, in all forms: each rank says whether the blocks
 * are right, and what is beside them as it was. */
#include <stdlib.h>

#include "told.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#define PERSISTENT(name) MPIX_##name##_init
#else
#define PERSISTENT(name) MPI_##name##_init
#endif

enum { kMost = 16 };

static int rank, size, count, stride, unit, peers;
static char who, form;
static MPI_Comm comm = MPI_COMM_WORLD;
static MPI_Request request;
static int *in, *out, peer_of[kMost], bad, beside;
static MPI_Datatype type, types[kMost], in_types[kMost];
static int counts[kMost], places[kMost], in_counts[kMost], in_places[kMost];
static MPI_Aint offsets[kMost], in_offsets[kMost];

static int sent(int from) {
  return who == 's' && from == size - 1 ? count / 2 : count;
}

static int roomFor(int from, int to) {
  const int more =
      who == 'a' || (who == 'o' && to == 0) || (who == 'b' && from == size - 1 && to == 0);
  return more ? 2 * count : count;
}

static int valueOf(int from, int to, int i) {
  return 100000 * from + 10000 * to + i % 9973;
}

#define CALL(name, iname, ...)                               \
  (form == 'b'   ? MPI_##name(__VA_ARGS__, comm)             \
   : form == 'n' ? MPI_I##iname(__VA_ARGS__, comm, &request) \
                 : PERSISTENT(name)(__VA_ARGS__, comm, MPI_INFO_NULL, &request))

/* A gather to rank 0, which has one count for all. */
static int uniformRoom(void) {
  return roomFor(0, rank) / unit;
}

static int call(const char* name) {
  if (!strcmp(name, "Gather"))
    return CALL(Gather, gather, in, sent(rank), MPI_INT, out, uniformRoom(), type, 0);
  if (!strcmp(name, "Allgather"))
    return CALL(Allgather, allgather, in, sent(rank), MPI_INT, out, uniformRoom(), type);
  if (!strcmp(name, "Allgatherv"))
    return CALL(Allgatherv, allgatherv, in, sent(rank), MPI_INT, out, counts, places, type);
  if (!strcmp(name, "Alltoall"))
    return CALL(Alltoall, alltoall, in, sent(rank), MPI_INT, out, uniformRoom(), type);
  if (!strcmp(name, "Alltoallv"))
    return CALL(Alltoallv, alltoallv, in, in_counts, in_places, MPI_INT, out, counts, places, type);
  if (!strcmp(name, "Alltoallw"))
    return CALL(Alltoallw, alltoallw, in, in_counts, in_places, in_types, out, counts, places,
                types);
  if (!strcmp(name, "Neighbor_allgather"))
    return CALL(Neighbor_allgather, neighbor_allgather, in, sent(rank), MPI_INT, out, uniformRoom(),
                type);
  if (!strcmp(name, "Neighbor_allgatherv"))
    return CALL(Neighbor_allgatherv, neighbor_allgatherv, in, sent(rank), MPI_INT, out, counts,
                places, type);
  if (!strcmp(name, "Neighbor_alltoall"))
    return CALL(Neighbor_alltoall, neighbor_alltoall, in, sent(rank), MPI_INT, out, uniformRoom(),
                type);
  if (!strcmp(name, "Neighbor_alltoallv"))
    return CALL(Neighbor_alltoallv, neighbor_alltoallv, in, in_counts, in_places, MPI_INT, out,
                counts, places, type);
  return CALL(Neighbor_alltoallw, neighbor_alltoallw, in, in_counts, in_offsets, in_types, out,
              counts, offsets, types);
}

/* What the buffer of the results is to have in it. */
static void expect(const char* name, int* whole, int words) {
  const int is_list = strpbrk(name + 6, "vw") != NULL;
  const int of_all = strstr(name, "gather") || strstr(name, "Gather"); /* one block for all */
  const int blocks = !strncmp(name, "Gather", 6) && rank > 0 ? 0 : peers;
  for (int i = 0; i < words; ++i)
    whole[i] = -7;
  for (int b = 0; b < blocks; ++b) {
    const int from = peer_of[b], to = of_all ? 0 : rank;
    const int place = is_list ? places[b] : b * uniformRoom() * unit * stride;
    for (int i = 0; i < sent(from); ++i)
      whole[place + stride * i] = valueOf(from, to, i);
  }
}

static void try(const char* name) {
  const int is_list = strpbrk(name + 6, "vw") != NULL;
  const int of_all = strstr(name, "gather") || strstr(name, "Gather");
  const int keeps = strncmp(name, "Allgather", 9) != 0; /* MPI does not */
  const int block = 4 * (count + 2), words = block * (peers + 1);
  in = malloc(sizeof(int) * words);
  out = malloc(sizeof(int) * words);
  int* whole = malloc(sizeof(int) * words);
  for (int b = 0; b < peers; ++b) {
    const int to = of_all ? 0 : peer_of[b];
    in_counts[b] = sent(rank);
    const int at = of_all ? 0 : is_list ? block * b : in_counts[b] * b;
    in_places[b] = at;
    in_types[b] = MPI_INT;
    for (int i = 0; i < in_counts[b]; ++i)
      in[at + i] = valueOf(rank, to, i);
    counts[b] = roomFor(peer_of[b], rank) / unit;
    places[b] = block * b;
    types[b] = type;
  }
  for (int i = 0; i < words; ++i)
    out[i] = -7;
  expect(name, whole, words);
  const int by_bytes = name[strlen(name) - 1] == 'w';
  for (int b = 0; b < peers; ++b) {
    offsets[b] = sizeof(int) * places[b];
    in_offsets[b] = sizeof(int) * in_places[b];
    places[b] = by_bytes ? (int)offsets[b] : places[b] / (unit * stride);
    if (by_bytes) in_places[b] = (int)in_offsets[b];
  }
  request = MPI_REQUEST_NULL;
  int code = call(name);
  if (code == MPI_SUCCESS && form == 'p') code = MPI_Start(&request);
  if (code == MPI_SUCCESS && form != 'b') code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && form == 'p') MPI_Request_free(&request);
  for (int i = 0; i < words; ++i) {
    bad += whole[i] != -7 && out[i] != whole[i];
    beside += whole[i] == -7 && out[i] != -7 && keeps;
  }
  if (code != MPI_SUCCESS) line("%s of %d: error class %d\n", name, count, class_of(code));
  free(in);
  free(out);
  free(whole);
}

/* In one form, of such elements. */
static void tryElements(const char* name, int ints, int gap) {
  MPI_Datatype apart;
  unit = ints;
  stride = gap;
  MPI_Type_vector(unit, 1, stride, MPI_INT, &apart);
  MPI_Type_create_resized(apart, 0, sizeof(int) * stride * unit, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&apart);
  try(name);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  MPI_Comm grid;
  int periodic = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &grid);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
  /* MPICH 4.0.2's persistent collectives are faulty: without torc others stand for them. */
  const char* forms = getenv("TORC_LIBRARY") != NULL ? "bnp" : "bnn";
  for (int i = argc - 1, pass = 0; pass<2; i = i> 1 ? i - 1 : (++pass, argc - 1)) {
    char words[256];
    count = pass == 0 ? 21000 : 6;
    snprintf(words, sizeof(words), "%s", argv[i]);
    const char* name = strtok(words, ":");
#ifdef OPEN_MPI
    /* 4.1.4 itself waits for ever where a rank has another count than others. */
    if (!strcmp(name, "Neighbor_alltoall")) continue;
#endif
    const int of_neighbours = !strncmp(name, "Neighbor", 8);
    comm = of_neighbours ? grid : MPI_COMM_WORLD;
    peers = of_neighbours ? 2 : size;
    for (int r = 0; r < size; ++r)
      peer_of[r] = r;
    if (of_neighbours) MPI_Cart_shift(comm, 0, 1, &peer_of[0], &peer_of[1]);
    for (const char* whose = strtok(NULL, ","); whose != NULL; whose = strtok(NULL, ",")) {
      who = strcmp(whose, "less") ? whose[0] : 's';
      bad = beside = 0;
      for (int f = 0; f < 3; ++f) {
        form = forms[f];
        tryElements(name, 1, 1);
        tryElements(name, 1, 2);
        tryElements(name, 2, 2);
      }
      line("%s of %d, %s: %d bad, %d beside\n", name, count, whose, bad, beside);
    }
  }
  print_lines();
  MPI_Comm_free(&grid);
  return MPI_Finalize();
}
