/* A profiling tool: counts the program's calls and tells of them at the end, by rank 0 as summed up
 * over the ranks. It needs its own MPI_Init and MPI_Finalize. What it calls in MPI it has by name
 * (PMPI_...), or as TOOL_FINDS says from the loader: 1: PMPI_..., 2: the next MPI_... */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef TOOL_NAME
#define TOOL_NAME "tool"
#endif

#define CALLS(X)                                                                                  \
  X(Allreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),             \
    (a, b, n, t, o, c))                                                                           \
  X(Iallreduce,                                                                                   \
    (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* q),        \
    (a, b, n, t, o, c, q))                                                                        \
  X(Bcast, (void* b, int n, MPI_Datatype t, int r, MPI_Comm c), (b, n, t, r, c))                  \
  X(Reduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, int r, MPI_Comm c),         \
    (a, b, n, t, o, r, c))                                                                        \
  X(Allgather,                                                                                    \
    (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),           \
    (a, n, t, b, m, u, c))                                                                        \
  X(Send, (const void* a, int n, MPI_Datatype t, int d, int g, MPI_Comm c), (a, n, t, d, g, c))   \
  X(Recv, (void* a, int n, MPI_Datatype t, int s, int g, MPI_Comm c, MPI_Status * z),             \
    (a, n, t, s, g, c, z))                                                                        \
  X(Wait, (MPI_Request * q, MPI_Status * z), (q, z))                                              \
  X(Start, (MPI_Request * q), (q))                                                                \
  X(Comm_dup, (MPI_Comm c, MPI_Comm * d), (c, d))                                                 \
  X(Comm_free, (MPI_Comm * c), (c))                                                               \
  X(Type_commit, (MPI_Datatype * t), (t))

enum {
#define ENUMERATOR(Name, parameters, arguments) k##Name,
  CALLS(ENUMERATOR) kCalls
};

static long* counts; /* there from MPI_Init on */

/* The function that MPI_Name is to call. */
#if TOOL_FINDS == 1
#define NEXT(Name) ((__typeof__(&MPI_##Name))dlsym(RTLD_NEXT, "PMPI_" #Name))
#elif TOOL_FINDS == 2
#define NEXT(Name) ((__typeof__(&MPI_##Name))dlsym(RTLD_NEXT, "MPI_" #Name))
#else
#define NEXT(Name) (&PMPI_##Name)
#endif

#define COUNTED(Name, parameters, arguments) \
  int MPI_##Name parameters {                \
    counts[k##Name]++;                       \
    return NEXT(Name) arguments;             \
  }
CALLS(COUNTED)

int MPI_Init(int* count, char*** arguments) {
  const int code = NEXT(Init)(count, arguments);
  counts = calloc(kCalls, sizeof *counts);
  return code;
}

int MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
  const int code = NEXT(Init_thread)(count, arguments, required, provided);
  counts = calloc(kCalls, sizeof *counts);
  return code;
}

int MPI_Pcontrol(const int level, ...) {
  counts[kSend] += level;
  return MPI_SUCCESS;
}

int MPI_Finalize(void) {
  static const char* const kNames[] = {
#define NAME(Name, parameters, arguments) #Name,
      CALLS(NAME)};
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  long all[kCalls];
  PMPI_Reduce(counts, all, kCalls, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    char line[512];
    int at = 0;
    for (int i = 0; i < kCalls; ++i)
      at += sprintf(line + at, " %s %ld", kNames[i], all[i]);
    fprintf(stderr, TOOL_NAME ":%s\n", line);
  }
  return NEXT(Finalize)();
}
