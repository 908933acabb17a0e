/* torc_statistics.h: statistics of libtorc_pmpi.so so far on this rank. C99, C++.
 *
 * A program that is not linked with libtorc_pmpi.so finds the functions, if the library is
 * preloaded, by dlsym(RTLD_DEFAULT, "torc_statistics_take").
 *
 * Calls are counted while TORC_STATS or TORC_VERBOSE=3 is set, between MPI_Init and MPI_Finalize.
 * All functions are local, and may be called by any thread.
 */
#ifndef TORC_RUNTIME_API_TORC_STATISTICS_H_
#define TORC_RUNTIME_API_TORC_STATISTICS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The counts at one moment. */
typedef struct torc_statistics torc_statistics;

/* Functions return a torc_result (torc.h). TORC_ERR_UNSUPPORTED: statistics are off. */
int torc_statistics_take(torc_statistics** statistics);

/* NULL is allowed. */
void torc_statistics_free(torc_statistics* statistics);

/* Calls with the same signature. Texts are valid as long as the statistics. */
typedef struct torc_statistics_row {
  int served;               /* by torc; otherwise by MPI */
  int strict;               /* not served, and an error under TORC_STRICT=1 */
  const char* function;     /* "MPI_Iallreduce"; "": calls beyond the limit of rows */
  const char* communicator; /* "4x2 sub-torus of 4x4x2", "6 ranks" */
  const char* datatype;     /* "MPI_DOUBLE"; "derived"; "": none */
  const char* operation;    /* "MPI_SUM"; "user's"; "": none */
  const char* by;           /* the library's file, or the reason of the fallback */
  uint64_t calls;
  uint64_t bytes;       /* of all of them */
  double seconds;       /* from call to completion, of all of them */
  double least_seconds; /* of one */
  double most_seconds;
} torc_statistics_row;

size_t torc_statistics_rows(const torc_statistics* statistics);

/* TORC_ERR_ARGUMENT: there is no such row. */
int torc_statistics_query(const torc_statistics* statistics, size_t number,
                          torc_statistics_row* row);

#ifdef __cplusplus
}
#endif

#endif /* TORC_RUNTIME_API_TORC_STATISTICS_H_ */
