/* Two programs as users have them, that live on exchanges of all with all:
 *
 * - a bucket sort as NAS IS does it: MPI_Alltoall of the counts of keys, MPI_Alltoallv of the keys;
 *   the counts differ from pair to pair and from round to round;
 * - a 3-D array that is turned as a parallel Fourier transform does it: on planes, by MPI_Alltoall of
 *   blocks with a derived datatype; on pencils, by MPI_Ialltoall and MPI_Ialltoallw on the rows and
 *   columns of the ranks.
 *
 * Every rank checks its results. Rank 0 prints hashes of all, which are the same whoever serves the
 * calls.
 *
 *   exchanges COLUMNS   ranks lie in rows of so many */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

static int rank, size, faults;

static void check(int ok, const char* what, int round) {
  if (ok) return;
  if (faults++ < 10) fprintf(stderr, "rank %d: %s, round %d, is wrong\n", rank, what, round);
}

static void* memory(size_t bytes) {
  void* data = malloc(bytes + 1);
  if (data == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return data;
}

static uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

static uint64_t hashOf(const void* data, size_t bytes) {
  uint64_t hash = 0;
  for (size_t i = 0; i < bytes; ++i)
    hash = mix(hash + ((const unsigned char*)data)[i] + 1);
  return hash;
}

/* ---- Bucket sort */

enum { KEYS = 4000, ROUNDS = 6, HIGHEST = 1 << 16 };

static int byValue(const void* a, const void* b) {
  const int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

/* Keys of a round; in some rounds all of them go to few ranks, or ranks have none. */
static int makeKeys(int round, int* keys) {
  const int count = round == 4 ? (rank % 2 == 0 ? KEYS : 0) : KEYS + 17 * rank;
  for (int i = 0; i < count; ++i) {
    const uint64_t drawn = mix(((uint64_t)round << 40) + ((uint64_t)rank << 24) + (uint64_t)i);
    const int range = round == 3 ? HIGHEST / size : HIGHEST;
    keys[i] = (int)((drawn % (uint64_t)range + (drawn >> 32) % (uint64_t)range) / 2);
  }
  return count;
}

static int bucketOf(int key) {
  return (int)((int64_t)key * size / HIGHEST);
}

static uint64_t bucketSort(int round) {
  const size_t most = KEYS + 17 * (size_t)size;
  int *keys = memory(most * sizeof(int)), *sorted = memory(most * sizeof(int));
  int *to = calloc((size_t)size, sizeof(int)), *from = memory(sizeof(int) * (size_t)size);
  int *to_place = memory(sizeof(int) * (size_t)size), *from_place = memory(sizeof(int) * (size_t)size);
  int* next = memory(sizeof(int) * (size_t)size);
  const int count = makeKeys(round, keys);
  for (int i = 0; i < count; ++i)
    ++to[bucketOf(keys[i])];
  MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  int total = 0, sent = 0;
  for (int r = 0; r < size; ++r) {
    to_place[r] = next[r] = sent;
    from_place[r] = total;
    sent += to[r];
    total += from[r];
  }
  for (int i = 0; i < count; ++i)
    sorted[next[bucketOf(keys[i])]++] = keys[i];
  int* mine = memory((size_t)total * sizeof(int));
  if (round % 2 == 0) {
    MPI_Alltoallv(sorted, to, to_place, MPI_INT, mine, from, from_place, MPI_INT, MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    MPI_Ialltoallv(sorted, to, to_place, MPI_INT, mine, from, from_place, MPI_INT, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  qsort(mine, (size_t)total, sizeof(int), byValue);

  int ok = 1;
  for (int i = 0; i < total; ++i)
    ok &= bucketOf(mine[i]) == rank;
  check(ok, "a bucket's keys", round);
  int64_t sums[2] = {total, 0}, all[2], made[2] = {count, 0}, all_made[2];
  for (int i = 0; i < total; ++i)
    sums[1] += mine[i];
  for (int i = 0; i < count; ++i)
    made[1] += keys[i];
  MPI_Allreduce(sums, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(made, all_made, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  check(all[0] == all_made[0] && all[1] == all_made[1], "the sum of all keys", round);
  const uint64_t hash = hashOf(mine, (size_t)total * sizeof(int));
  free(keys);
  free(sorted);
  free(to);
  free(from);
  free(to_place);
  free(from_place);
  free(next);
  free(mine);
  return hash;
}

/* ---- An array that is turned */

static double valueAt(int x, int y, int z, int round) {
  return x + 1000.0 * y + 1e6 * z + 1e9 * round;
}

/* Planes of z become planes of x: array[z][y][x], z on the ranks, to array[x][y][z]. Each rank has
 * `depth` planes of size * depth columns. */
static uint64_t turnPlanes(int depth, int rows, int round) {
  const int width = size * depth;
  const size_t elements = (size_t)depth * (size_t)rows * (size_t)width;
  double *in = memory(elements * sizeof(double)), *out = memory(elements * sizeof(double));
  for (int z = 0; z < depth; ++z)
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < width; ++x)
        in[((size_t)z * (size_t)rows + (size_t)y) * (size_t)width + (size_t)x] =
            valueAt(x, y, rank * depth + z, round);
  /* What goes to a rank: `depth` columns of every row. */
  MPI_Datatype columns, block;
  MPI_Type_vector(depth * rows, depth, width, MPI_DOUBLE, &columns);
  MPI_Type_create_resized(columns, 0, (MPI_Aint)depth * (MPI_Aint)sizeof(double), &block);
  MPI_Type_commit(&block);
  MPI_Alltoall(in, 1, block, out, depth * rows * depth, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Type_free(&columns);
  MPI_Type_free(&block);
  int ok = 1;
  for (int from = 0; from < size; ++from)
    for (int z = 0; z < depth; ++z)
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < depth; ++x) {
          const size_t at = (((size_t)from * (size_t)depth + (size_t)z) * (size_t)rows + (size_t)y) *
                                (size_t)depth +
                            (size_t)x;
          ok &= out[at] == valueAt(rank * depth + x, y, from * depth + z, round);
        }
  check(ok, "a turned plane", round);

  /* And back, in place: the blocks to the ranks lie where those from them go. */
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, depth * rows * depth, MPI_DOUBLE,
               MPI_COMM_WORLD);
  ok = 1;
  for (int from = 0; from < size; ++from)
    for (int z = 0; z < depth; ++z)
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < depth; ++x) {
          const size_t at = (((size_t)from * (size_t)depth + (size_t)z) * (size_t)rows + (size_t)y) *
                                (size_t)depth +
                            (size_t)x;
          ok &= out[at] == valueAt(from * depth + x, y, rank * depth + z, round);
        }
  check(ok, "a plane that is turned back in place", round);
  const uint64_t hash = hashOf(out, elements * sizeof(double));
  free(in);
  free(out);
  return hash;
}

/* A pencil's columns are dealt to the ranks of a row as evenly as they go, by datatypes: array[rows]
 * [columns] of this rank, of which rank r of `line` gets the columns from columns r / p on. */
static uint64_t turnPencils(MPI_Comm line, int rows, int columns, int round) {
  int p, me;
  MPI_Comm_size(line, &p);
  MPI_Comm_rank(line, &me);
  double* in = memory((size_t)rows * (size_t)columns * sizeof(double));
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      in[(size_t)y * (size_t)columns + (size_t)x] = valueAt(x, y, me, round);
  const int first = columns * me / p, mine = columns * (me + 1) / p - first;
  double* out = memory((size_t)p * (size_t)rows * (size_t)mine * sizeof(double));
  int *to = memory(sizeof(int) * (size_t)p), *from = memory(sizeof(int) * (size_t)p);
  int *to_place = memory(sizeof(int) * (size_t)p), *from_place = memory(sizeof(int) * (size_t)p);
  MPI_Datatype *to_type = memory(sizeof(MPI_Datatype) * (size_t)p),
               *from_type = memory(sizeof(MPI_Datatype) * (size_t)p);
  for (int r = 0; r < p; ++r) {
    const int begin = columns * r / p, count = columns * (r + 1) / p - begin;
    MPI_Type_vector(rows, count, columns, MPI_DOUBLE, &to_type[r]);
    MPI_Type_commit(&to_type[r]);
    to[r] = count > 0;
    to_place[r] = begin * (int)sizeof(double);
    from[r] = rows * mine;
    from_place[r] = r * rows * mine * (int)sizeof(double);
    from_type[r] = MPI_DOUBLE;
  }
  MPI_Request request;
  if (round % 2 == 0) {
    MPI_Alltoallw(in, to, to_place, to_type, out, from, from_place, from_type, line);
  } else {
    MPI_Ialltoallw(in, to, to_place, to_type, out, from, from_place, from_type, line, &request);
    for (int r = 0; r < p; ++r)
      MPI_Type_free(&to_type[r]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  int ok = 1;
  for (int r = 0; r < p; ++r)
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < mine; ++x)
        ok &= out[((size_t)r * (size_t)rows + (size_t)y) * (size_t)mine + (size_t)x] ==
              valueAt(first + x, y, r, round);
  check(ok, "a turned pencil", round);
  const uint64_t hash = hashOf(out, (size_t)p * (size_t)rows * (size_t)mine * sizeof(double));
  for (int r = 0; r < p && round % 2 == 0; ++r)
    MPI_Type_free(&to_type[r]);
  free(in);
  free(out);
  free(to);
  free(from);
  free(to_place);
  free(from_place);
  free(to_type);
  free(from_type);
  return hash;
}

static void tell(const char* what, int round, uint64_t hash) {
  uint64_t all = 0;
  hash = mix(hash + (uint64_t)rank);
  MPI_Reduce(&hash, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s, round %d: %016llx\n", what, round, (unsigned long long)all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 2 || atoi(argv[1]) < 1) MPI_Abort(MPI_COMM_WORLD, 2);
  const int width = atoi(argv[1]);
  for (int round = 0; round < ROUNDS; ++round)
    tell("bucket sort", round, bucketSort(round));
  for (int round = 0; round < ROUNDS; ++round)
    tell("planes", round, turnPlanes(1 + round % 3, 1 + 5 * round, round));

  MPI_Comm row, column;
  MPI_Comm_split(MPI_COMM_WORLD, rank / width, rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank % width, rank, &column);
  for (int round = 0; round < ROUNDS; ++round) {
    const uint64_t in_row = turnPencils(row, 3 + round, 5 + 20 * round, round);
    tell("pencils", round, mix(in_row) + turnPencils(column, 2 + 3 * round, 7 + round, round));
  }
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  MPI_Finalize();
  return faults > 0;
}
