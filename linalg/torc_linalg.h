/* torc_linalg.h: 2.5D matrix multiplication and LU factorization over MPI. C99, C++.
 *
 * The processes of a communicator are a grid of rows x columns x layers. Matrices are dealt
 * block-cyclically to layer 0, as ScaLAPACK does; the other layers hold none, and pass NULL. Work
 * is done on all layers; what travels are collectives on lines of the grid: broadcasts, sums,
 * gatherings, and exchanges of rows of LU with pivoting. layers = 1 are the 2-D algorithms.
 * The source: Solomonik, Bhatele, Demmel, SC 2011, section 3.1.
 *
 *   torc_linalg_grid* grid;
 *   torc_linalg_matrix all = {n, n, 64, 64};
 *   torc_linalg_grid_create(MPI_COMM_WORLD, 2, 2, 2, &grid);
 *   torc_linalg_local_size(grid, &all, &rows, &columns);
 *   ... fill a and b, rows x columns, by columns ...
 *   torc_linalg_dgemm(grid, 1, &all, a, rows, &all, b, rows, 0, &all, c, rows, NULL);
 *   torc_linalg_grid_destroy(grid);
 *
 * Results. Every function returns TORC_LINALG_OK or another code, and bad arguments abort nothing.
 * torc_linalg_error_message() gives the text of the calling thread's last failure. Functions marked
 * "Collective" are called by all processes of the grid, in the same order, with the same arguments
 * but for pointers to local data and their leading dimensions; their result is the same on all: an
 * argument that is wrong on one rank, or not the same, makes the call fail on all with one text. A
 * grid that is NULL fails on its rank alone. A failure of MPI itself ends the job.
 *
 * d: double, s: float. Sizes are elements where nothing else is said; indices count from 0 but in
 * ScaLAPACK's arguments. A local size or leading dimension stays below 2^31.
 */
#ifndef TORC_LINALG_TORC_LINALG_H_
#define TORC_LINALG_TORC_LINALG_H_

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum torc_linalg_result {
  TORC_LINALG_OK = 0,
  TORC_LINALG_ERR_ARGUMENT = 1, /* an argument is wrong: null, out of range */
  TORC_LINALG_ERR_GRID = 2,     /* sizes that are no grid of the processes, too many layers */
  TORC_LINALG_ERR_MEMORY = 3,   /* more is needed than is given, or than there is */
  TORC_LINALG_ERR_MISMATCH = 4, /* matrices do not fit each other, or ranks do not agree */
  TORC_LINALG_SINGULAR = 5,     /* a pivot is zero */
  TORC_LINALG_NOT_FINITE = 6    /* the matrix has infinities or NaN, or LU made them */
} torc_linalg_result;

/* "TORC_LINALG_ERR_GRID"; "unknown result" for another number. */
const char* torc_linalg_result_name(int result);

/* One line on the calling thread's last call that failed; valid until the next. Never NULL. */
const char* torc_linalg_error_message(void);

/* ---- Grid ----------------------------------------------------------------------------------- */

typedef struct torc_linalg_grid torc_linalg_grid;

/* Collective over `comm`, which is duplicated and stays the caller's. Rank = (layer * rows + row) *
 * columns + column. TORC_LINALG_ERR_GRID: not as many processes, or layers^3 is more than they are.
 */
int torc_linalg_grid_create(MPI_Comm comm, int rows, int columns, int layers,
                            torc_linalg_grid** grid);

/* The same, but where libtorc_pmpi.so is preloaded, and the ranks of `comm` fill a box of the job's
 * torus whose axes, or some of them together, have as many nodes as the grid has columns, rows and
 * layers: then every line of the grid is a line, plane or box of the torus, and processes lie in
 * the grid as torc_linalg_grid_query says. Otherwise by rank. */
int torc_linalg_grid_create_on_torus(MPI_Comm comm, int rows, int columns, int layers,
                                     torc_linalg_grid** grid);

/* Collective. NULL is allowed. */
int torc_linalg_grid_destroy(torc_linalg_grid* grid);

typedef struct torc_linalg_grid_info {
  int rows, columns, layers;
  int row, column, layer; /* of the calling process */
  int on_torus;           /* whether processes lie as on the torus, not by rank */
} torc_linalg_grid_info;

int torc_linalg_grid_query(const torc_linalg_grid* grid, torc_linalg_grid_info* info);

/* ---- Matrices ------------------------------------------------------------------------------- */

/* rows x columns, in blocks of row_block x column_block; block (i, j) is on process (i mod grid
 * rows, j mod grid columns) of layer 0. Blocks may be larger than the matrix. */
typedef struct torc_linalg_matrix {
  int64_t rows, columns;
  int64_t row_block, column_block;
} torc_linalg_matrix;

/* What the calling process holds: 0 x 0 on layers other than 0. */
int torc_linalg_local_size(const torc_linalg_grid* grid, const torc_linalg_matrix* matrix,
                           int64_t* rows, int64_t* columns);

/* Seconds of the calling process in one call: in MPI; waiting for others, which is told apart only
 * with `barriers`; all else. */
typedef struct torc_linalg_times {
  double compute, communicate, idle;
} torc_linalg_times;

/* In the place of `panel`: multiply by Cannon's algorithm, in which whole local matrices travel, to
 * neighbours. Layers are square, and column blocks of A as long as row blocks of B. */
enum { TORC_LINALG_CANNON = -1 };

/* Zeroed, or NULL: the defaults. */
typedef struct torc_linalg_options {
  int64_t panel;  /* most columns that travel at a time, of A, or in a panel of LU; 0: 256; or
                   * TORC_LINALG_CANNON */
  int64_t memory; /* bytes that a process may use, matrices included; 0: no limit */
  int barriers;   /* a barrier before each collective, as in the paper's section 3.2.1: slower */
  /* Called on this rank now and then with the part of the work that is done, from 0 to 1. */
  void (*progress)(double done, void* argument);
  void* progress_argument;
  torc_linalg_times* times; /* filled on success; NULL: not wanted */
} torc_linalg_options;

/* ---- Matrix multiplication ------------------------------------------------------------------ */

/* Collective. C := alpha A B + beta C, with A of m x k, B of k x n and C of m x n; 2.5D SUMMA
 * (algorithm 1), or Cannon's algorithm. The row blocks of A and C are the same, and the column
 * blocks of B and C; the blocks along k may differ. C is not read where beta is 0. */
int torc_linalg_dgemm(torc_linalg_grid* grid, double alpha, const torc_linalg_matrix* a_matrix,
                      const double* a, int64_t lda, const torc_linalg_matrix* b_matrix,
                      const double* b, int64_t ldb, double beta, const torc_linalg_matrix* c_matrix,
                      double* c, int64_t ldc, const torc_linalg_options* options);
int torc_linalg_sgemm(torc_linalg_grid* grid, float alpha, const torc_linalg_matrix* a_matrix,
                      const float* a, int64_t lda, const torc_linalg_matrix* b_matrix,
                      const float* b, int64_t ldb, float beta, const torc_linalg_matrix* c_matrix,
                      float* c, int64_t ldc, const torc_linalg_options* options);

/* ---- LU ------------------------------------------------------------------------------------- */

enum { TORC_LINALG_NO_PIVOTING = 0, TORC_LINALG_TOURNAMENT = 1 };

/* Collective. P A = L U in place, of a matrix of square blocks: L has a unit diagonal, which is not
 * stored. `pivoting`: of this enumeration. `pivots`, on every rank: row i was exchanged with row
 * pivots[i], for i = 0, 1, ..., min(rows, columns) - 1; NULL where they are not wanted.
 * TORC_LINALG_SINGULAR: the pivot of *column is exactly zero; with pivoting the factors are
 * complete, as those of pdgetrf, without it the matrix is left half done. *column is -1 otherwise;
 * `column` may be NULL. */
int torc_linalg_dlu(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, double* a,
                    int64_t lda, int pivoting, int64_t* pivots, int64_t* column,
                    const torc_linalg_options* options);
int torc_linalg_slu(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, float* a, int64_t lda,
                    int pivoting, int64_t* pivots, int64_t* column,
                    const torc_linalg_options* options);

/* Collective. Solves A X = B in place of B, with the factors and pivots of torc_linalg_?lu (NULL:
 * made without pivoting). The row blocks of both are the same. Layer 0 works, the others wait.
 * TORC_LINALG_SINGULAR: U has a zero on its diagonal, and B is as it was. */
int torc_linalg_dlu_solve(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const double* a,
                          int64_t lda, const int64_t* pivots, const torc_linalg_matrix* b_matrix,
                          double* b, int64_t ldb, const torc_linalg_options* options);
int torc_linalg_slu_solve(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const float* a,
                          int64_t lda, const int64_t* pivots, const torc_linalg_matrix* b_matrix,
                          float* b, int64_t ldb, const torc_linalg_options* options);

/* Collective. HPL's scaled residual |A x - b| / (eps n (|A| |x| + |b|)), in infinity norms, eps
 * 2^-53 or 2^-24: the largest over the columns of X. HPL passes what is below 16. A is the matrix,
 * not its factors; X and B have the descriptor `b_matrix`. */
int torc_linalg_dresidual(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const double* a,
                          int64_t lda, const torc_linalg_matrix* b_matrix, const double* x,
                          int64_t ldx, const double* b, int64_t ldb, double* residual);
int torc_linalg_sresidual(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const float* a,
                          int64_t lda, const torc_linalg_matrix* b_matrix, const float* x,
                          int64_t ldx, const float* b, int64_t ldb, double* residual);

/* ---- Memory, and how many layers it allows -------------------------------------------------- */

/* Bytes, at most, of a process in a multiplication: its parts of A, B and C, and what the call
 * allocates. `element`: bytes of one, 8 or 4; `panel` as in the options. Local. */
int torc_linalg_gemm_memory(int rows, int columns, int layers, const torc_linalg_matrix* a_matrix,
                            const torc_linalg_matrix* b_matrix, const torc_linalg_matrix* c_matrix,
                            int64_t panel, int element, int64_t* bytes);

/* The same of an LU factorization. */
int torc_linalg_lu_memory(int rows, int columns, int layers, const torc_linalg_matrix* matrix,
                          int pivoting, int element, int64_t* bytes);

/* The grid of `processes` on which a process receives fewest words, among those of which none uses
 * more than `memory` bytes (0: no limit): more layers save words and cost memory. Local.
 * TORC_LINALG_ERR_MEMORY: there is none; the message says what the smallest wants. */
int torc_linalg_choose_gemm_grid(int processes, const torc_linalg_matrix* a_matrix,
                                 const torc_linalg_matrix* b_matrix,
                                 const torc_linalg_matrix* c_matrix, int64_t panel, int element,
                                 int64_t memory, int* rows, int* columns, int* layers);
int torc_linalg_choose_lu_grid(int processes, const torc_linalg_matrix* matrix, int pivoting,
                               int element, int64_t memory, int* rows, int* columns, int* layers);

/* ---- ScaLAPACK ------------------------------------------------------------------------------ */

/* The grid of BLACS that descriptors are about: process (p, q) is rank p * columns + q of the
 * communicator ('R', row-major) or q * rows + p ('C'). Further ranks are not in it; they pass NULL
 * for local data. */
typedef struct torc_linalg_blacs {
  int rows, columns;
  char order;
} torc_linalg_blacs;

/* Collective. Copies between op(A(ia : ia + rows - 1, ja : ja + columns - 1)) of ScaLAPACK's
 * descriptor `desc` (9 integers; its context is not used) and a matrix of the grid. `transposed`:
 * 'N' or 'T', whether the matrix of the grid is the transpose of that part. The descriptor is the
 * same on all ranks but for its leading dimension, the ninth. */
int torc_linalg_dfrom_scalapack(torc_linalg_grid* grid, const torc_linalg_blacs* blacs,
                                char transposed, const double* a, int ia, int ja, const int* desc,
                                const torc_linalg_matrix* matrix, double* to, int64_t ldto);
int torc_linalg_dto_scalapack(torc_linalg_grid* grid, const torc_linalg_matrix* matrix,
                              const double* from, int64_t ldfrom, const torc_linalg_blacs* blacs,
                              char transposed, double* a, int ia, int ja, const int* desc);
int torc_linalg_sfrom_scalapack(torc_linalg_grid* grid, const torc_linalg_blacs* blacs,
                                char transposed, const float* a, int ia, int ja, const int* desc,
                                const torc_linalg_matrix* matrix, float* to, int64_t ldto);
int torc_linalg_sto_scalapack(torc_linalg_grid* grid, const torc_linalg_matrix* matrix,
                              const float* from, int64_t ldfrom, const torc_linalg_blacs* blacs,
                              char transposed, float* a, int ia, int ja, const int* desc);

/* Collective. pdgemm: C := alpha op(A) op(B) + beta C on parts of ScaLAPACK's matrices. They are
 * copied to the grid's layer 0, and C back. */
int torc_linalg_pdgemm(torc_linalg_grid* grid, const torc_linalg_blacs* blacs, char transa,
                       char transb, int m, int n, int k, double alpha, const double* a, int ia,
                       int ja, const int* desca, const double* b, int ib, int jb, const int* descb,
                       double beta, double* c, int ic, int jc, const int* descc,
                       const torc_linalg_options* options);
int torc_linalg_psgemm(torc_linalg_grid* grid, const torc_linalg_blacs* blacs, char transa,
                       char transb, int m, int n, int k, float alpha, const float* a, int ia,
                       int ja, const int* desca, const float* b, int ib, int jb, const int* descb,
                       float beta, float* c, int ic, int jc, const int* descc,
                       const torc_linalg_options* options);

/* Collective. pdgetrf: factors A(ia : ia + m - 1, ja : ja + n - 1) in place, by tournament
 * pivoting. `ipiv` as pdgetrf's: as many as local rows of A plus a block; its entries for the rows
 * of this process are set, and pdgetrs and pdlapiv take them. `info`: 0, or the column, from 1,
 * whose pivot is zero, and then the result is TORC_LINALG_SINGULAR and the factors are complete. */
int torc_linalg_pdgetrf(torc_linalg_grid* grid, const torc_linalg_blacs* blacs, int m, int n,
                        double* a, int ia, int ja, const int* desca, int* ipiv, int* info,
                        const torc_linalg_options* options);
int torc_linalg_psgetrf(torc_linalg_grid* grid, const torc_linalg_blacs* blacs, int m, int n,
                        float* a, int ia, int ja, const int* desca, int* ipiv, int* info,
                        const torc_linalg_options* options);

#ifdef __cplusplus
}
#endif

#endif /* TORC_LINALG_TORC_LINALG_H_ */
