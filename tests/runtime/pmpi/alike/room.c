/* Collectives whose receivers give more room than is sent to them, or less, as MPI forbids and
 * programs do all the same:
 *
 *   room CALL FORM CASE [CASE]...
 *
 * FORM: blocking, nonblocking or persistent. CASE: WHO-KIND-COUNT. WHO gives more room than the
 * COUNT integers of a block: `all`, `one` rank, which is the root of a gather, for `block`, of one
 * sender, `less` is sent by the last rank, `long` are the blocks of the last rank, for which there
 * is no room. KIND of the elements that are received: `i`, integers, `v`, with gaps, `p`, pairs of
 * integers with gaps. Each rank says what has become of each call: whether the blocks are right,
 * and all the rest as it was. */
#include <stdlib.h>

#define RETURNS
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
static int *in, *out, peer_of[kMost];
static MPI_Datatype type, types[kMost], in_types[kMost];
static int counts[kMost], places[kMost], in_counts[kMost], in_places[kMost];
static MPI_Aint offsets[kMost], in_offsets[kMost];

static int sent(int from, int to) {
  if (who == 's') return from == size - 1 ? count / 2 : count;
  return who == 'l' && from == size - 1 && to == 0 ? 2 * count : count;
}

/* The same of a scatter, by the root. */
static int scattered(int to) {
  return to < size - 1 ? count : who == 's' ? count / 2 : who == 'l' ? 2 * count : count;
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
    return CALL(Gather, gather, in, sent(rank, 0), MPI_INT, out, uniformRoom(), type, 0);
  if (!strcmp(name, "Gatherv"))
    return CALL(Gatherv, gatherv, in, sent(rank, 0), MPI_INT, out, counts, places, type, 0);
  if (!strcmp(name, "Allgather"))
    return CALL(Allgather, allgather, in, sent(rank, 0), MPI_INT, out, uniformRoom(), type);
  if (!strcmp(name, "Allgatherv"))
    return CALL(Allgatherv, allgatherv, in, sent(rank, 0), MPI_INT, out, counts, places, type);
  if (!strcmp(name, "Scatter"))
    return CALL(Scatter, scatter, in, count, MPI_INT, out, counts[0], type, 0);
  if (!strcmp(name, "Scatterv"))
    return CALL(Scatterv, scatterv, in, in_counts, in_places, MPI_INT, out, counts[0], type, 0);
  if (!strcmp(name, "Alltoall"))
    return CALL(Alltoall, alltoall, in, sent(rank, 0), MPI_INT, out, uniformRoom(), type);
  if (!strcmp(name, "Alltoallv"))
    return CALL(Alltoallv, alltoallv, in, in_counts, in_places, MPI_INT, out, counts, places, type);
  if (!strcmp(name, "Alltoallw"))
    return CALL(Alltoallw, alltoallw, in, in_counts, in_places, in_types, out, counts, places,
                types);
  if (!strcmp(name, "Neighbor_allgather"))
    return CALL(Neighbor_allgather, neighbor_allgather, in, sent(rank, 0), MPI_INT, out,
                uniformRoom(), type);
  if (!strcmp(name, "Neighbor_allgatherv"))
    return CALL(Neighbor_allgatherv, neighbor_allgatherv, in, sent(rank, 0), MPI_INT, out, counts,
                places, type);
  if (!strcmp(name, "Neighbor_alltoall"))
    return CALL(Neighbor_alltoall, neighbor_alltoall, in, sent(rank, 0), MPI_INT, out,
                uniformRoom(), type);
  if (!strcmp(name, "Neighbor_alltoallv"))
    return CALL(Neighbor_alltoallv, neighbor_alltoallv, in, in_counts, in_places, MPI_INT, out,
                counts, places, type);
  return CALL(Neighbor_alltoallw, neighbor_alltoallw, in, in_counts, in_offsets, in_types, out,
              counts, offsets, types);
}

/* What the buffer of the results is to have in it. */
static void expect(const char* name, int* whole, int words) {
  const int scatters = !strncmp(name, "Scatter", 7), is_list = strpbrk(name + 6, "vw") != NULL;
  const int of_all = strstr(name, "gather") || strstr(name, "Gather"); /* one block for all */
  const int blocks = scatters ? 1 : !strncmp(name, "Gather", 6) && rank > 0 ? 0 : peers;
  for (int i = 0; i < words; ++i)
    whole[i] = -7;
  for (int b = 0; b < blocks; ++b) {
    const int from = scatters ? 0 : peer_of[b], to = of_all ? 0 : rank;
    const int length = scatters ? scattered(rank) : sent(from, to);
    const int place = scatters ? 0 : is_list ? places[b] : b * uniformRoom() * unit * stride;
    for (int i = 0; i < length; ++i)
      whole[place + stride * i] = valueOf(from, to, i);
  }
}

static void try(const char* name, const char* what) {
  const int scatters = !strncmp(name, "Scatter", 7), is_list = strpbrk(name + 6, "vw") != NULL;
  const int of_all = strstr(name, "gather") || strstr(name, "Gather");
  const int block = 4 * (count + 2), words = block * (peers + 1);
  int bad = 0, beside = 0;
  in = malloc(sizeof(int) * words);
  out = malloc(sizeof(int) * words);
  int* whole = malloc(sizeof(int) * words);
  for (int b = 0; b < peers; ++b) {
    const int to = of_all ? 0 : peer_of[b];
    in_counts[b] = scatters ? scattered(to) : sent(rank, to);
    const int at = is_list && !of_all ? block * b
                   : scatters         ? count * b
                   : of_all           ? 0
                                      : in_counts[b] * b;
    in_places[b] = at;
    in_types[b] = MPI_INT;
    for (int i = 0; i < in_counts[b]; ++i)
      in[at + i] = valueOf(rank, to, i);
    counts[b] = (scatters ? roomFor(size - 1, size - 1 - rank) : roomFor(peer_of[b], rank)) / unit;
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
    beside += whole[i] == -7 && out[i] != -7;
  }
  if (code == MPI_SUCCESS) {
    line("%s %s: %d bad, %d beside\n", name, what, bad, beside);
  } else {
    line("%s %s: error class %d\n", name, what, class_of(code));
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) return 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const char* name = argv[1];
  form = argv[2][0];
  peers = size;
  for (int r = 0; r < size; ++r)
    peer_of[r] = r;
  if (!strncmp(name, "Neighbor", 8)) {
    int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Cart_shift(comm, 0, 1, &peer_of[0], &peer_of[1]);
    peers = 2;
  }
  for (int i = 3; i < argc; ++i) {
    const char kind = strchr(argv[i], '-')[1];
    who = argv[i][0] == 'l' && argv[i][1] == 'e' ? 's' : argv[i][0]; /* sends less */
    count = atoi(strrchr(argv[i], '-') + 1);
    stride = kind == 'i' ? 1 : 2;
    unit = kind == 'p' ? 2 : 1;
    MPI_Datatype apart;
    MPI_Type_vector(unit, 1, 2, MPI_INT, &apart);
    MPI_Type_create_resized(apart, 0, sizeof(int) * stride * unit, &type);
    if (kind == 'i') MPI_Type_dup(MPI_INT, &type);
    MPI_Type_commit(&type);
    try(name, argv[i]);
    MPI_Type_free(&type);
  }
  print_lines();
  return MPI_Finalize();
}
