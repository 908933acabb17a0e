/* torc_job.h: positions of a job's ranks on the torus, in libtorc_pmpi.so. C99, C++.
 *
 * A program that is not linked with libtorc_pmpi.so finds the function, if the library is
 * preloaded, by dlsym(RTLD_DEFAULT, "torc_job_place").
 */
#ifndef TORC_RUNTIME_API_TORC_JOB_H_
#define TORC_RUNTIME_API_TORC_JOB_H_

#ifdef __cplusplus
extern "C" {
#endif

/* The position of the calling rank of MPI_COMM_WORLD on the job's partition, between MPI_Init and
 * MPI_Finalize: the number of axes, X first, and cores last if nodes have several; the number of
 * nodes along each, and the caller's coordinates, from 0. Local. Returns a torc_result (torc.h):
 * TORC_ERR_UNSUPPORTED if torc is off (no TORC_LIBRARY). */
int torc_job_place(int* axis_count, int sizes[8], int coordinates[8]);

#ifdef __cplusplus
}
#endif

#endif /* TORC_RUNTIME_API_TORC_JOB_H_ */
