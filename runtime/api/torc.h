/* torc.h: replay of compiled torus collectives over MPI. C99, C++.
 *
 * A program creates a context and a geometry (a communicator mapped onto a torus), loads schedules
 * that the compiler `torc` has written, and creates collectives from them. A collective is
 * persistent: created once for its buffers, started any number of times.
 *
 *   torc_context* context;
 *   torc_geometry* geometry;
 *   torc_schedule* schedule;
 *   torc_collective* sum;
 *   torc_context_create(&context);
 *   torc_geometry_create(context, MPI_COMM_WORLD, "4x3x2", NULL, &geometry);
 *   torc_schedule_load(geometry, "allreduce.torc", &schedule);
 *   torc_allreduce_init(schedule, in, out, count, MPI_FLOAT, MPI_SUM, &sum);
 *   for (...) { torc_collective_start(sum); ...; torc_collective_wait(sum); }
 *   torc_collective_free(sum);
 *   torc_schedule_free(schedule);
 *   torc_geometry_destroy(geometry);
 *   torc_context_destroy(context);
 *
 * Results. Every function returns TORC_OK or an error code; none aborts. torc_error_message()
 * returns the text of the calling thread's last error. After an error output arguments are NULL.
 *
 * Collective functions (marked "Collective") are called by all ranks of the geometry, in the same
 * order. The ranks agree on the result: a wrong argument on one rank makes the call fail with the
 * same code and text on all ranks, and none hangs. An exception is a handle without a communicator:
 * a null or freed context, geometry or schedule fails on its rank alone. All other functions are
 * local.
 *
 * Threads. One thread at a time may use a context, and all objects created from it. Several
 * threads may use a context each, if MPI was initialised with MPI_THREAD_MULTIPLE.
 *
 * Progress happens inside torc's functions only: while a collective is active, call
 * torc_context_advance, torc_collective_test or torc_collective_wait now and then.
 *
 * Counts are numbers of elements of the given datatype. Datatypes: predefined, or derived without
 * gaps. Operations: predefined, or user-defined ones that outlive the collective. A non-commutative
 * operation needs a schedule with ordered sums, and ranks in the schedule's order: allreduce,
 * reduce, scan and exscan, not reduce_scatter.
 */
#ifndef TORC_RUNTIME_API_TORC_H_
#define TORC_RUNTIME_API_TORC_H_

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum torc_result {
  TORC_OK = 0,
  TORC_ERR_ARGUMENT = 1,  /* an argument is wrong: null, out of range */
  TORC_ERR_MALFORMED = 2, /* a schedule file is incomplete, altered or invalid */
  TORC_ERR_MISMATCH =
      3, /* values that must be equal differ: ranks and nodes, counts of two ranks */
  TORC_ERR_UNSUPPORTED = 4, /* valid, but not served; MPI's own collective can serve it */
  TORC_ERR_OVERFLOW = 5,    /* a size does not fit */
  TORC_ERR_IO = 6,          /* the operating system refused access to a file */
  TORC_ERR_TRANSPORT = 7,   /* an MPI call failed */
  TORC_ERR_MEMORY = 8,      /* memory ran out */
  TORC_ERR_BUSY = 9         /* the object is active, or others depend on it */
} torc_result;

/* "TORC_ERR_MISMATCH"; "unknown result" for other numbers. */
const char* torc_result_name(int result);

/* One line that names the object and the place of the calling thread's last error. Valid until that
 * thread's next error. Never NULL. */
const char* torc_error_message(void);

/* ---- Version and settings ------------------------------------------------------------------- */

/* "0.1.0". */
const char* torc_version(void);

/* A setting of a job: an environment variable TORC_... */
typedef struct torc_setting_info {
  const char* name;          /* "TORC_LIBRARY"; literals, as the next three */
  const char* values;        /* allowed values: "BYTES" */
  const char* default_value; /* "256M"; "": none */
  const char* meaning;       /* a sentence or two */
  int agreed;                /* 1: must be equal on all ranks; 0: rank 0's value is used */
  int is_set;                /* in the environment of this process, now */
  int valid;                 /* whether the value is allowed */
  char value[512];           /* in the environment, otherwise the default; cut if longer */
  char fault[512];           /* if not valid: the error, and the allowed values */
} torc_setting_info;

/* The number of variables, in the order of `torc info`. May be called before MPI_Init. */
int torc_setting_count(void);

/* index: from 0. */
int torc_setting_query(int index, torc_setting_info* info);

/* ---- Context: progress ---------------------------------------------------------------------- */

typedef struct torc_context torc_context;

/* A context is independent of communicators. MPI must be initialised. */
int torc_context_create(torc_context** context);

/* TORC_ERR_BUSY while it has geometries or an open trace. NULL is allowed. */
int torc_context_destroy(torc_context* context);

/* Makes progress on all started collectives of the context, calls the callbacks of those that
 * complete, and returns without waiting. `completed`, unless NULL, is set to their number. The
 * failure of a collective is reported by its own test or wait, not here. TORC_ERR_BUSY inside a
 * callback. */
int torc_context_advance(torc_context* context, int* completed);

/* ---- Geometry: a communicator mapped onto a torus ------------------------------------------- */

typedef struct torc_geometry torc_geometry;

/* Collective over `comm`, which is duplicated and still belongs to the caller. `shape` as for the
 * compiler: "8x8x4m+4" (m: mesh dimension; +4: cores). `order`: axes from fastest to slowest with
 * rank, "XYZT"; NULL: the order in `shape`. `shape` NULL: that of the first schedule loaded.
 * TORC_ERR_MISMATCH: the communicator's size is not the number of nodes. */
int torc_geometry_create(torc_context* context, MPI_Comm comm, const char* shape, const char* order,
                         torc_geometry** geometry);

/* Collective. TORC_ERR_BUSY while a rank has schedules of the geometry. NULL is allowed. */
int torc_geometry_destroy(torc_geometry* geometry);

#define TORC_MAX_AXES 8

typedef struct torc_geometry_info {
  char shape[128];                /* "4x3x2"; "" while unknown */
  char order[16];                 /* "XYZ" */
  int rank;                       /* of the caller */
  int nodes;                      /* ranks in the geometry */
  int axis_count;                 /* 0 while the shape is unknown */
  int coordinates[TORC_MAX_AXES]; /* of the caller */
  int ranks_on_host;              /* number of ranks on the caller's host */
  int oversubscribed;             /* more ranks than cores: waiting calls yield */
} torc_geometry_info;

int torc_geometry_query(const torc_geometry* geometry, torc_geometry_info* info);

/* ---- Libraries ------------------------------------------------------------------------------ */

/* A folder made by `torc library build`: schedules for the partitions of a machine and for their
 * sub-tori (lines, planes, boxes), with an index that gives the file for each sub-torus, collective
 * and size. A job opens it once. Communicators are recognised by the positions of their ranks, and
 * get a geometry; a schedule is loaded when a call first needs it. */
typedef struct torc_library torc_library;

/* The same on all ranks. NULL: unspecified. */
typedef struct torc_library_options {
  const char* directory; /* the library's folder; rank 0 reads it */
  const char* torus;     /* the job's partition, "8x8x4m+4". NULL: the library's only partition with
                            as many nodes as the job has ranks */
  const char* order;     /* of the ranks, axes from fastest to slowest: "XYZT". NULL: the order of
                            the partition in the library */
  const char* mapping;   /* path of a mapping file, read by rank 0, instead of an order: one line of
                            coordinates per rank, "0 3 1", with the core, if nodes have cores.
                            `#` begins a comment. The file may omit nodes */
  const char* machine;   /* required machine of the library, by name. NULL: any */
  uint64_t memory_limit; /* maximal bytes of schedules on a rank; 0: 256 MiB */
} torc_library_options;

/* Collective over `world`, which has the ranks of the job; order or mapping give their positions on
 * the partition. Rank 0 reads index and mapping file, all ranks check them.
 *   TORC_ERR_IO: the folder or mapping file cannot be read
 *   TORC_ERR_MALFORMED: the index is incomplete or altered; the mapping has an error (the message
 *     has its line)
 *   TORC_ERR_MISMATCH: the index is stale (not made with the manifest beside it); the library is
 *     for another machine; it has no such partition, or none with as many nodes as ranks (the
 *     message lists its partitions), or several; ranks have different options
 *   TORC_ERR_ARGUMENT: both an order and a mapping; a torus or order that does not parse */
int torc_library_open(torc_context* context, MPI_Comm world, const torc_library_options* options,
                      torc_library** library);

/* Local. TORC_ERR_BUSY while geometries recognised by the library exist. NULL is allowed. */
int torc_library_close(torc_library* library);

typedef struct torc_library_info {
  const char* directory; /* this and the other texts are valid as long as the library */
  const char* machine;   /* of the library */
  const char* version;   /* of torc when it built the library */
  const char* torus;     /* the job's partition: "8x8x4" */
  const char* order;     /* of the job's ranks: "XYZ"; "" with a mapping file */
  uint64_t nodes;        /* of that partition */
  uint64_t partitions;   /* in the library, as the next three */
  uint64_t sub_tori;
  uint64_t entries;
  uint64_t files;
  uint64_t files_loaded; /* on this rank, as the next */
  uint64_t bytes_loaded;
  uint64_t memory_limit; /* bytes */
} torc_library_info;

int torc_library_query(const torc_library* library, torc_library_info* info);

typedef enum torc_kind {
  TORC_ALLREDUCE = 0,
  TORC_REDUCE_SCATTER = 1, /* also serves reduce_scatter_block */
  TORC_ALLGATHER = 2,      /* also serves allgatherv */
  TORC_BROADCAST = 3,
  TORC_ALLTOALL = 4, /* also serves alltoallv */
  TORC_REDUCE = 5,
  TORC_SCATTER = 6, /* also serves scatterv */
  TORC_GATHER = 7,  /* also serves gatherv */
  TORC_SCAN = 8,
  TORC_EXSCAN = 9,
  TORC_NEIGHBOR_ALLGATHER = 10, /* also serves neighbor_allgatherv */
  TORC_NEIGHBOR_ALLTOALL = 11   /* also serves neighbor_alltoallv */
} torc_kind;

/* A schedule of a library, and the calls that it is for. Bytes are those of the whole vector: all
 * blocks together, if ranks have blocks; for an alltoall, and among neighbours, the bytes that one
 * rank sends. Texts are valid as long as the library. */
typedef struct torc_choice {
  torc_kind kind;
  const char* shape;      /* "8x4m": the shape of its communicators */
  uint64_t lowest_bytes;  /* of its calls, both included */
  uint64_t highest_bytes; /* UINT64_MAX: no limit */
  const char* file;       /* name in the library's folder `files` */
  double predicted_s;     /* seconds of the given call, or of the smallest one */
  const char* reason;     /* of the choice */
} torc_choice;

/* Entry `number`, from 0 to entries - 1, in the order of the index: by shape, kind and size. */
int torc_library_entry(const torc_library* library, uint64_t number, torc_choice* choice);

/* Collective over `comm`, which is duplicated and still belongs to the caller. If its members, in
 * any order, form a sub-torus of the partition with schedules in the library, creates a geometry of
 * that shape. Otherwise TORC_ERR_UNSUPPORTED, with the reason: "7 ranks do not fill the box 2x4x1
 * from (0, 0, 0): (1, 3, 0) is missing". */
int torc_geometry_recognise(torc_library* library, MPI_Comm comm, torc_geometry** geometry);

/* ---- Schedules ------------------------------------------------------------------------------ */

typedef struct torc_schedule torc_schedule;

/* Collective. Rank 0 reads the file and broadcasts it; every rank checks it. `path` is significant
 * only on rank 0. */
int torc_schedule_load(torc_geometry* geometry, const char* path, torc_schedule** schedule);

/* Collective. The same from memory: `length` bytes at `bytes`, significant only on rank 0; on other
 * ranks they may be NULL and 0. `name` replaces the path in messages. */
int torc_schedule_load_memory(torc_geometry* geometry, const void* bytes, size_t length,
                              const char* name, torc_schedule** schedule);

/* TORC_ERR_BUSY while the schedule has collectives. NULL is allowed. */
int torc_schedule_free(torc_schedule* schedule);

typedef struct torc_schedule_info {
  torc_kind kind;
  const char* kind_name; /* "allreduce"; valid as long as the schedule, as the next three */
  const char* name;      /* given by the compiler */
  const char* producer;  /* version and pipeline of the compiler */
  const char* shape;     /* "4x3x2" */
  uint64_t nodes;
  uint64_t operations; /* of the one program for all nodes */
  uint64_t streams;
  uint64_t parts; /* color x direction x chunk */
  uint64_t bytes; /* memory of the schedule on this rank */
} torc_schedule_info;

int torc_schedule_query(const torc_schedule* schedule, torc_schedule_info* info);

/* A call, for torc_schedule_serves and the library. Fields unused by the kind are ignored. */
typedef struct torc_call {
  torc_kind kind;
  int64_t count; /* elements of the vector (allreduce, reduce, broadcast, scan, exscan), otherwise
                    of each block */
  const int64_t* counts; /* elements of each rank's block, or NULL: all `count`. For an alltoall
                            only whether it is NULL matters. For neighbours the elements received
                            from each of them */
  MPI_Datatype datatype;
  MPI_Op op; /* MPI_OP_NULL without a reduction */
} torc_call;

/* TORC_OK if the schedule serves such a call; otherwise the reason, as code and message. */
int torc_schedule_serves(const torc_schedule* schedule, const torc_call* call);

/* Local: the library's schedule for such a call on a recognised geometry. TORC_ERR_UNSUPPORTED:
 * there is none, with the reason, or tuning has found MPI's own function to be faster;
 * TORC_ERR_ARGUMENT: the geometry was created without a library. */
int torc_library_choose(const torc_geometry* geometry, const torc_call* call, torc_choice* choice);

/* Collective: loads the schedule that torc_library_choose returns. Rank 0 of the geometry reads and
 * broadcasts it, unless all ranks have it already. Geometries share one copy in memory.
 *   TORC_ERR_IO, TORC_ERR_MALFORMED: the file is missing, incomplete, or not the one of the index
 *   TORC_ERR_MEMORY: the schedules in use leave too little room under the library's limit
 *   TORC_ERR_MISMATCH: the calls of the ranks need different schedules */
int torc_library_load(torc_geometry* geometry, const torc_call* call, torc_schedule** schedule);

/* ---- Collectives ---------------------------------------------------------------------------- */

typedef struct torc_collective torc_collective;

/* Arguments as in the MPI function of that name, with counts of 64 bits. Each function is
 * collective, and fails with TORC_ERR_MISMATCH if counts, datatypes or operations differ between
 * ranks. Buffers belong to the caller; a round reads and writes them from its start to its
 * completion. All memory is allocated here; start and completion allocate none.
 *
 * Results are bitwise the same on every rank and in every round: the schedule fixes the order in
 * which contributions are combined. */

/* `in` may be MPI_IN_PLACE. */
int torc_allreduce_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                        MPI_Datatype datatype, MPI_Op op, torc_collective** collective);

/* Rank r gets counts[r] elements. MPI_IN_PLACE: the whole vector is in `out`, and the caller's
 * block replaces its beginning. */
int torc_reduce_scatter_init(torc_schedule* schedule, const void* in, void* out,
                             const int64_t counts[], MPI_Datatype datatype, MPI_Op op,
                             torc_collective** collective);

/* Every rank gets `count` elements. */
int torc_reduce_scatter_block_init(torc_schedule* schedule, const void* in, void* out,
                                   int64_t count, MPI_Datatype datatype, MPI_Op op,
                                   torc_collective** collective);

/* Block r of `out`, out_count elements, comes from rank r. The caller's in_count elements of
 * in_type must have as many bytes. MPI_IN_PLACE: the own block is in `out`; in_count and in_type
 * are ignored. */
int torc_allgather_init(torc_schedule* schedule, const void* in, int64_t in_count,
                        MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                        torc_collective** collective);

/* Block r is counts[r] elements at out + displacements[r] elements; blocks do not overlap. */
int torc_allgatherv_init(torc_schedule* schedule, const void* in, int64_t in_count,
                         MPI_Datatype in_type, void* out, const int64_t counts[],
                         const int64_t displacements[], MPI_Datatype out_type,
                         torc_collective** collective);

/* Copies the root's `buffer` to that of every rank. A collective has one root, a schedule serves
 * all roots. Other schedules serve, too: one for allreduce a broadcast or reduce, one for
 * reduce_scatter a scatter, one for allgather a gather. Ranks then need memory for additional
 * data. */
int torc_broadcast_init(torc_schedule* schedule, void* buffer, int64_t count, MPI_Datatype datatype,
                        int root, torc_collective** collective);

/* Writes the sum of all `in` to the root's `out`; `out` of other ranks is ignored. MPI_IN_PLACE, at
 * the root only: its contribution is in `out`. */
int torc_reduce_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                     MPI_Datatype datatype, MPI_Op op, int root, torc_collective** collective);

/* Writes the sum of `in` over the ranks up to and including this one to its `out`. An exscan sums
 * over the ranks before this one; rank 0's `out` is not written and may be NULL. MPI_IN_PLACE as in
 * an allreduce. */
int torc_scan_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                   MPI_Datatype datatype, MPI_Op op, torc_collective** collective);
int torc_exscan_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                     MPI_Datatype datatype, MPI_Op op, torc_collective** collective);

/* Rank r gets block r of the root's `in`, in_count elements of in_type. out_count and out_type must
 * be the same number of the same type. The arguments of `in` are significant only at the root.
 * `out` MPI_IN_PLACE, at the root only: its own block stays in `in`; out_count and out_type are
 * ignored. */
int torc_scatter_init(torc_schedule* schedule, const void* in, int64_t in_count,
                      MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                      int root, torc_collective** collective);

/* Block r is counts[r] elements at in + displacements[r] elements of the root; blocks do not
 * overlap. counts and in_type are significant on all ranks, and equal: ranks may forward blocks of
 * others. The displacements are significant only at the root. */
int torc_scatterv_init(torc_schedule* schedule, const void* in, const int64_t counts[],
                       const int64_t displacements[], MPI_Datatype in_type, void* out,
                       int64_t out_count, MPI_Datatype out_type, int root,
                       torc_collective** collective);

/* Block r of the root's `out`, out_count elements of out_type, comes from rank r. in_count and
 * in_type must be the same number of the same type. The arguments of `out` are significant only at
 * the root. MPI_IN_PLACE, at the root only: its own block is in `out`; in_count and in_type are
 * ignored. */
int torc_gather_init(torc_schedule* schedule, const void* in, int64_t in_count,
                     MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                     int root, torc_collective** collective);

/* Likewise, with counts[r] elements at out + displacements[r] elements of the root. Significance
 * of arguments as in torc_scatterv_init. */
int torc_gatherv_init(torc_schedule* schedule, const void* in, int64_t in_count,
                      MPI_Datatype in_type, void* out, const int64_t counts[],
                      const int64_t displacements[], MPI_Datatype out_type, int root,
                      torc_collective** collective);

/* Rank r gets block r of `in`, in_count elements. Block r of `out`, out_count elements with as many
 * bytes, comes from rank r. Not in place. (The interposer also serves calls in place.) */
int torc_alltoall_init(torc_schedule* schedule, const void* in, int64_t in_count,
                       MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                       torc_collective** collective);

/* in_counts[r] elements at in + in_displacements[r] elements go to rank r, out_counts[r] elements
 * at out + out_displacements[r] elements come from rank r. The bytes sent to a rank must equal the
 * bytes that it expects. From their first block to the end of their last one, in and out do not
 * overlap. Not in place.
 * A schedule that forwards blocks: this function first exchanges the counts, by the schedule
 * itself. A block whose sent and expected lengths differ is TORC_ERR_MISMATCH on all ranks; if a
 * message fails in MPI, ranks may wait for the counts of others without end.
 * A direct schedule: the counts of other ranks are not checked. A longer message is a truncation,
 * an error of the round; for a missing message the round waits. torc_library_load returns a direct
 * schedule for a call with `counts`. */
int torc_alltoallv_init(torc_schedule* schedule, const void* in, const int64_t in_counts[],
                        const int64_t in_displacements[], MPI_Datatype in_type, void* out,
                        const int64_t out_counts[], const int64_t out_displacements[],
                        MPI_Datatype out_type, torc_collective** collective);

/* Neighbourhood collectives. The torus of the schedule is a Cartesian grid, whose mesh dimensions
 * are not periodic, and a rank has two neighbours along each axis. The order of blocks is MPI's for
 * a Cartesian communicator: axis by axis, first the one that varies slowest with the rank of the
 * schedule, and on each the neighbour below before the one above. A missing neighbour, at the end
 * of a mesh dimension, has a block in the buffer, which is not touched. Not in place.
 *
 * Ranks may pass different counts, but the bytes between two neighbours must be equal. The counts
 * are not checked; a longer message is a truncation, an error of the round.
 *
 * In an allgather every neighbour gets the one block of in_count elements; block k of `out`,
 * out_count elements, or counts[k] at out + displacements[k] elements, comes from neighbour k. */
int torc_neighbor_allgather_init(torc_schedule* schedule, const void* in, int64_t in_count,
                                 MPI_Datatype in_type, void* out, int64_t out_count,
                                 MPI_Datatype out_type, torc_collective** collective);
int torc_neighbor_allgatherv_init(torc_schedule* schedule, const void* in, int64_t in_count,
                                  MPI_Datatype in_type, void* out, const int64_t counts[],
                                  const int64_t displacements[], MPI_Datatype out_type,
                                  torc_collective** collective);

/* Neighbour k gets block k of `in`. */
int torc_neighbor_alltoall_init(torc_schedule* schedule, const void* in, int64_t in_count,
                                MPI_Datatype in_type, void* out, int64_t out_count,
                                MPI_Datatype out_type, torc_collective** collective);
int torc_neighbor_alltoallv_init(torc_schedule* schedule, const void* in, const int64_t in_counts[],
                                 const int64_t in_displacements[], MPI_Datatype in_type, void* out,
                                 const int64_t out_counts[], const int64_t out_displacements[],
                                 MPI_Datatype out_type, torc_collective** collective);

/* Called once per round after its completion or failure (`result`), from a function of torc, on the
 * thread that called it. It may start collectives, including this one, and query, but call no other
 * function of torc. */
typedef void (*torc_callback)(torc_collective* collective, int result, void* cookie);

/* NULL removes the callback. TORC_ERR_BUSY while a round is active. */
int torc_collective_set_callback(torc_collective* collective, torc_callback callback, void* cookie);

/* Starts a round. Every rank of the geometry must start it, at any time; several collectives may be
 * active at once, and may be started in different orders on different ranks. TORC_ERR_BUSY while a
 * round is active. */
int torc_collective_start(torc_collective* collective);

/* Makes progress; *done is 1 if no round is active. Returns the round's own error, if any. */
int torc_collective_test(torc_collective* collective, int* done);

/* Returns after the round is complete, or has failed. */
int torc_collective_wait(torc_collective* collective);

/* TORC_ERR_BUSY while a round is active. NULL is allowed. */
int torc_collective_free(torc_collective* collective);

typedef struct torc_collective_info {
  uint64_t operations;    /* executed by this rank per round */
  uint64_t messages;      /* sent and received by this rank per round */
  uint64_t scratch_bytes; /* scratch memory for data */
  uint64_t table_bytes;   /* memory of the program, without MPI's requests */
  uint64_t rounds;        /* completed so far */
} torc_collective_info;

int torc_collective_query(const torc_collective* collective, torc_collective_info* info);

/* ---- Trace ---------------------------------------------------------------------------------- */

/* Starts to record calls, rounds, messages and local work of the context, for geometries that are
 * created from here on. Collective over `comm`, whose ranks the file will show; it is duplicated
 * and still belongs to the caller. `path` is significant only on rank 0, and must be writable now;
 * "calls:FILE" stands for a trace of FILE with one event per call and rank, without messages.
 * `events`: number of events kept on this rank, 64 bytes each, allocated here; beyond it the oldest
 * are dropped. 0: 100000. TORC_ERR_BUSY: the context is traced already. */
int torc_trace_open(torc_context* context, MPI_Comm comm, const char* path, uint64_t events);

/* Collective over the ranks of torc_trace_open: writes one file for all ranks, in Chrome's trace
 * event format in JSON, which replaces an older one. Ends the recording, also after an error.
 * `dropped`, unless NULL: number of dropped events of all ranks. Precondition: no round is active.
 */
int torc_trace_close(torc_context* context, uint64_t* dropped);

#ifdef __cplusplus
}
#endif

#endif /* TORC_RUNTIME_API_TORC_H_ */
