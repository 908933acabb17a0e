/* The worked example of docs/users/linalg.md: a program of ScaLAPACK, which multiplies and factors by
 * torc_linalg, and solves by ScaLAPACK. Run it on 8 processes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "linalg/torc_linalg.h"

void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(const int* n, const int* block, const int* process, const int* first,
            const int* processes);
void descinit_(int* desc, const int* m, const int* n, const int* row_block, const int* column_block,
               const int* first_row, const int* first_column, const int* context,
               const int* leading, int* info);
void pdgetrs_(const char* trans, const int* n, const int* sides, const double* a, const int* ia,
              const int* ja, const int* desca, const int* ipiv, double* b, const int* ib,
              const int* jb, const int* descb, int* info);

static void require(int result) {
  if (result != TORC_LINALG_OK) {
    fprintf(stderr, "%s: %s\n", torc_linalg_result_name(result), torc_linalg_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

int main(int argc, char** argv) {
  const int n = 50, block = 8, zero = 0, one = 1;
  int context, rows, columns, row, column, info, i, j, wrong = 0;
  MPI_Init(&argc, &argv);

  /* As ever: a BLACS grid of 2 x 4, and matrices in blocks of 8. */
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "R", 2, 4);
  Cblacs_gridinfo(context, &rows, &columns, &row, &column);
  const int local_rows = numroc_(&n, &block, &row, &zero, &rows);
  const int local_columns = numroc_(&n, &block, &column, &zero, &columns);
  const int leading = local_rows > 0 ? local_rows : 1;
  int desc[9];
  descinit_(desc, &n, &n, &block, &block, &zero, &zero, &context, &leading, &info);
  const size_t bytes = sizeof(double) * (size_t)leading * (size_t)(local_columns + 1);
  double* a = malloc(bytes);
  double* b = malloc(bytes);
  double* c = malloc(bytes);
  int* ipiv = malloc(sizeof(int) * (size_t)(local_rows + block));
  for (j = 0; j < local_columns; ++j) {
    for (i = 0; i < local_rows; ++i) {
      const int global_row = (i / block * rows + row) * block + i % block;
      const int global_column = (j / block * columns + column) * block + j % block;
      a[i + j * leading] = fabs((double)(global_row - global_column)) + (global_row == 3);
      b[i + j * leading] = global_row == global_column ? 2 : 0;
    }
  }

  /* New: the same processes as 2 x 2 x 2, and what the context stands for. */
  const torc_linalg_blacs blacs = {2, 4, 'R'};
  torc_linalg_grid* grid;
  require(torc_linalg_grid_create(MPI_COMM_WORLD, 2, 2, 2, &grid));

  /* Was: pdgemm_("N", "N", &n, &n, &n, ...). C = A B, which is 2 A. */
  require(torc_linalg_pdgemm(grid, &blacs, 'N', 'N', n, n, n, 1.0, a, 1, 1, desc, b, 1, 1, desc,
                             0.0, c, 1, 1, desc, NULL));

  /* Was: pdgetrf_(&n, &n, a, &one, &one, desc, ipiv, &info). */
  require(torc_linalg_pdgetrf(grid, &blacs, n, n, a, 1, 1, desc, ipiv, &info, NULL));

  /* What follows stays as it is: A X = C, so that X is 2 I, as B. */
  pdgetrs_("N", &n, &n, a, &one, &one, desc, ipiv, c, &one, &one, desc, &info);
  for (j = 0; j < local_columns; ++j) {
    for (i = 0; i < local_rows; ++i)
      wrong += !(fabs(c[i + j * leading] - b[i + j * leading]) < 1e-9);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (row == 0 && column == 0) printf("%d of %d elements are wrong\n", wrong, n * n);

  torc_linalg_grid_destroy(grid);
  Cblacs_gridexit(context);
  free(a);
  free(b);
  free(c);
  free(ipiv);
  MPI_Finalize();
  return wrong != 0;
}
