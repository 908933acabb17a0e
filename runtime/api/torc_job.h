/* torc_job.h: where the ranks of a job lie that libtorc_pmpi.so serves. C99, C++.
 *
 * The function is in libtorc_pmpi.so. A program that is not linked with it finds it, where it is
 * preloaded, by dlsym(RTLD_DEFAULT, "torc_job_place").
 */
#ifndef TORC_RUNTIME_API_TORC_JOB_H_
#define TORC_RUNTIME_API_TORC_JOB_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Where the calling rank of MPI_COMM_WORLD lies on the job's partition, between MPI_Init and
 * MPI_Finalize: the number of axes, X first, and cores last where nodes have several; how many
 * nodes each has, and the caller's coordinates, from 0. Local. Returns a torc_result (torc.h):
 * TORC_ERR_UNSUPPORTED where torc is off (no TORC_LIBRARY). */
int torc_job_place(int* axis_count, int sizes[8], int coordinates[8]);

#ifdef __cplusplus
}
#endif

#endif /* TORC_RUNTIME_API_TORC_JOB_H_ */
