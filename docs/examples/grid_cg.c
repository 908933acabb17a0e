/* grid_cg.c: an MPI program like many, which knows nothing of torc. Solves A x = b by conjugate
 * gradients, A dense, dealt out in blocks on a grid of ranks.
 *
 *   mpicc.mpich -std=c99 -O2 grid_cg.c -lm -o grid_cg
 *   mpiexec.hydra -n 8 ./grid_cg [BLOCK [ITERATIONS]]
 *
 * Collectives: on columns of the grid MPI_Allgather (the part of the vector that a block of A
 * needs), on rows MPI_Reduce_scatter_block (the partial products), on all ranks MPI_Allreduce (dot
 * products), MPI_Iallreduce (how far the solution is off, while the next iteration runs),
 * MPI_Allgatherv (where the solution is largest).
 *
 * What is printed does not depend on the order in which an implementation adds floating-point
 * numbers: A, b and the solution are whole numbers, distances are printed to three digits, the
 * checksum is that of the solution rounded to whole numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

typedef struct {
  int rank, ranks;
  int rows, columns; /* of the grid */
  int row, column;   /* of this rank */
  MPI_Comm in_row, in_column;
  int block; /* elements of a vector on each rank */
  int size;  /* of a vector: ranks * block */
} Grid;

/* A rank holds `block` elements of every vector, from this index on. */
static int first_index(const Grid* grid, int row, int column) {
  return (row * grid->columns + column) * grid->block;
}

static double solution_at(int index) {
  return index % 7 - 3;
}

/* Symmetric; the diagonal outweighs the rest of each row, so it is positive definite. */
static double matrix_at(int size, int i, int j) {
  return (i + j) % 5 + (i == j ? (5.0 + i % 9) * size : 0);
}

static void open_grid(Grid* grid, int block) {
  int sizes[2] = {0, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &grid->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &grid->ranks);
  MPI_Dims_create(grid->ranks, 2, sizes);
  grid->rows = sizes[0];
  grid->columns = sizes[1];
  grid->row = grid->rank / grid->columns;
  grid->column = grid->rank % grid->columns;
  MPI_Comm_split(MPI_COMM_WORLD, grid->row, grid->column, &grid->in_row);
  MPI_Comm_split(MPI_COMM_WORLD, grid->column, grid->row, &grid->in_column);
  grid->block = block;
  grid->size = grid->ranks * block;
}

/* The block of A of this rank: the rows that its grid row holds, the columns that its grid column
 * holds. */
static double* make_matrix(const Grid* grid) {
  const int high = grid->columns * grid->block, wide = grid->rows * grid->block;
  double* a = malloc((size_t)high * wide * sizeof(double));
  int i, j;
  for (i = 0; i < high; ++i) {
    for (j = 0; j < wide; ++j) {
      a[(size_t)i * wide + j] =
          matrix_at(grid->size, first_index(grid, grid->row, 0) + i,
                    first_index(grid, j / grid->block, grid->column) + j % grid->block);
    }
  }
  return a;
}

/* y = A x. `part` and `sums` are working memory. */
static void multiply(const Grid* grid, const double* a, const double* x, double* y, double* part,
                     double* sums) {
  const int high = grid->columns * grid->block, wide = grid->rows * grid->block;
  int i, j;
  MPI_Allgather(x, grid->block, MPI_DOUBLE, part, grid->block, MPI_DOUBLE, grid->in_column);
  for (i = 0; i < high; ++i) {
    sums[i] = 0;
    for (j = 0; j < wide; ++j)
      sums[i] += a[(size_t)i * wide + j] * part[j];
  }
  MPI_Reduce_scatter_block(sums, y, grid->block, MPI_DOUBLE, MPI_SUM, grid->in_row);
}

static double dot(const double* x, const double* y, int count) {
  double sum = 0;
  int i;
  for (i = 0; i < count; ++i)
    sum += x[i] * y[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/* Solves from x = 0; prints how far off the solution is, one iteration late. */
static void solve(const Grid* grid, const double* a, const double* b, double* x, int iterations) {
  const int block = grid->block;
  double* memory = malloc(sizeof(double) * (size_t)(3 * block + grid->size * 2));
  double *r = memory, *p = r + block, *q = p + block, *part = q + block, *sums = part + grid->size;
  double norm, alpha, beta, before, mine, off = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  int i, k;
  for (i = 0; i < block; ++i) {
    x[i] = 0;
    p[i] = r[i] = b[i];
  }
  norm = dot(r, r, block);
  for (k = 1; k <= iterations; ++k) {
    multiply(grid, a, p, q, part, sums);
    alpha = norm > 0 ? norm / dot(p, q, block) : 0;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (k > 1 && grid->rank == 0) printf("iteration %2d: off by %.2e\n", k - 1, off);
    mine = 0;
    for (i = 0; i < block; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      mine = fmax(mine, fabs(x[i] - solution_at(first_index(grid, grid->row, grid->column) + i)));
    }
    MPI_Iallreduce(&mine, &off, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
    before = norm;
    norm = dot(r, r, block);
    beta = before > 0 ? norm / before : 0;
    for (i = 0; i < block; ++i)
      p[i] = r[i] + beta * p[i];
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(memory);
}

/* All ranks learn where the solution is 3, its largest value: at more places on some than others.
 */
static void print_result(const Grid* grid, const double* x) {
  const int first = first_index(grid, grid->row, grid->column);
  int* mine = malloc(sizeof(int) * (size_t)grid->block);
  int* counts = malloc(sizeof(int) * (size_t)grid->ranks);
  int* starts = malloc(sizeof(int) * (size_t)grid->ranks);
  int* places;
  int i, found = 0, total = 0, wrong = 0;
  long long checksum = 0, sum_of_places = 0;
  for (i = 0; i < grid->block; ++i) {
    const long long value = llround(x[i]);
    checksum += (first + i + 1) * value;
    wrong += value != (long long)solution_at(first + i);
    if (value == 3) mine[found++] = first + i;
  }
  MPI_Allreduce(MPI_IN_PLACE, &checksum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allgather(&found, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
  for (i = 0; i < grid->ranks; ++i) {
    starts[i] = total;
    total += counts[i];
  }
  places = malloc(sizeof(int) * (size_t)(total + 1));
  MPI_Allgatherv(mine, found, MPI_INT, places, counts, starts, MPI_INT, MPI_COMM_WORLD);
  for (i = 0; i < total; ++i)
    sum_of_places += places[i];
  if (grid->rank == 0) {
    printf(
        "checksum %lld, %d elements wrong; the largest value at %d places, which add up to %lld\n",
        checksum, wrong, total, sum_of_places);
  }
  free(mine);
  free(counts);
  free(starts);
  free(places);
}

int main(int argc, char** argv) {
  Grid grid;
  double *a, *b, *x;
  int settings[2] = {32, 12}; /* elements per rank, iterations */
  int i, j;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &grid.rank);
  if (grid.rank == 0) {
    for (i = 1; i < argc && i <= 2; ++i)
      settings[i - 1] = atoi(argv[i]);
  }
  MPI_Bcast(settings, 2, MPI_INT, 0, MPI_COMM_WORLD);
  if (settings[0] < 1 || settings[0] > 1000 || settings[1] < 1) {
    if (grid.rank == 0) fprintf(stderr, "usage: grid_cg [BLOCK (1 to 1000) [ITERATIONS]]\n");
    MPI_Finalize();
    return 2;
  }
  open_grid(&grid, settings[0]);
  if (grid.rank == 0) {
    printf("%d x %d ranks, %d unknowns\n", grid.rows, grid.columns, grid.size);
  }
  a = make_matrix(&grid);
  b = malloc(sizeof(double) * (size_t)grid.block);
  x = malloc(sizeof(double) * (size_t)grid.block);
  for (i = 0; i < grid.block; ++i) {
    const int index = first_index(&grid, grid.row, grid.column) + i;
    b[i] = 0;
    for (j = 0; j < grid.size; ++j)
      b[i] += matrix_at(grid.size, index, j) * solution_at(j);
  }
  solve(&grid, a, b, x, settings[1]);
  print_result(&grid, x);
  free(a);
  free(b);
  free(x);
  MPI_Comm_free(&grid.in_row);
  MPI_Comm_free(&grid.in_column);
  MPI_Finalize();
  return 0;
}
