/* torc.h: replay of compiled torus collectives over MPI. C99, C++.
 *
 * A program makes a context, a geometry (a communicator mapped onto a torus), loads schedules that
 * the compiler `torc` wrote, and makes collectives from them. A collective is persistent: made once
 * for its buffers, started any number of times.
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
 * Results. Every function returns TORC_OK or an error code; nothing aborts. torc_error_message()
 * gives the text of the calling thread's last failure. After a failure output arguments are NULL.
 *
 * Collective functions (marked "Collective") are called by all ranks of the geometry, in the same
 * order. Their result is agreed: an argument that is wrong on one rank makes the call fail with
 * the same code and text on all ranks, and none hangs. What cannot be agreed on is a handle that
 * leads to no communicator: a null or freed context, geometry or schedule fails on its rank alone.
 * All other functions are local.
 *
 * Threads. A context, and everything made from it, is used by one thread at a time. Several
 * threads may use a context each; MPI must then have been started with MPI_THREAD_MULTIPLE.
 *
 * Progress happens inside torc's functions only: while a collective is under way call
 * torc_context_advance, torc_collective_test or torc_collective_wait now and then.
 *
 * Element counts are of the given datatype. Datatypes: predefined, or derived without gaps.
 * Operations: those that MPI predefines, and those of the user, which must live as long as the
 * collective. One that does not commute takes a schedule that promises ordered sums, and ranks in
 * the order of the schedule's: allreduce, reduce, scan and exscan, not reduce_scatter.
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
  TORC_ERR_MALFORMED = 2, /* a schedule file is torn, altered or unsound */
  TORC_ERR_MISMATCH = 3,  /* things that must agree do not: ranks and nodes, counts on two ranks */
  TORC_ERR_UNSUPPORTED = 4, /* understood, but not served; MPI's own collective would do it */
  TORC_ERR_OVERFLOW = 5,    /* a size does not fit */
  TORC_ERR_IO = 6,          /* the operating system refused a file */
  TORC_ERR_TRANSPORT = 7,   /* MPI failed */
  TORC_ERR_MEMORY = 8,      /* memory ran out */
  TORC_ERR_BUSY = 9         /* the object is running, or others depend on it */
} torc_result;

/* "TORC_ERR_MISMATCH"; "unknown result" for another number. */
const char* torc_result_name(int result);

/* One line that names the thing and the place, for the calling thread's last call that failed.
 * Valid until that thread's next call that fails. Never NULL. */
const char* torc_error_message(void);

/* ---- Version and settings ------------------------------------------------------------------- */

/* "0.1.0". */
const char* torc_version(void);

/* A variable TORC_... of the environment, with which a user says what torc does in a job. */
typedef struct torc_setting_info {
  const char* name;          /* "TORC_LIBRARY"; literals, as the next three */
  const char* values;        /* what it takes: "BYTES" */
  const char* default_value; /* "256M"; "": none */
  const char* meaning;       /* a sentence or two */
  int agreed;                /* it must be the same on all ranks; otherwise rank 0's counts */
  int is_set;                /* in the environment of this process, now */
  int valid;                 /* whether it could have this value */
  char value[512];           /* in that environment, or else the default; cut if longer */
  char fault[512];           /* not valid: what is wrong, and what is allowed */
} torc_setting_info;

/* The variables, as `torc info` prints them. Before MPI_Init, too. */
int torc_setting_count(void);

/* index: from 0. */
int torc_setting_query(int index, torc_setting_info* info);

/* ---- Context: progress ---------------------------------------------------------------------- */

typedef struct torc_context torc_context;

/* Belongs to no communicator. MPI must be initialised. */
int torc_context_create(torc_context** context);

/* TORC_ERR_BUSY while it has geometries or an open trace. NULL is allowed. */
int torc_context_destroy(torc_context* context);

/* Moves all started collectives of the context on, calls the callbacks of those that complete, and
 * returns without waiting. `completed`, unless NULL, is set to how many completed. The failure of a
 * collective is reported by its own test or wait, not here. TORC_ERR_BUSY from inside a callback.
 */
int torc_context_advance(torc_context* context, int* completed);

/* ---- Geometry: a communicator mapped onto a torus ------------------------------------------- */

typedef struct torc_geometry torc_geometry;

/* Collective over `comm`, which is duplicated and stays the caller's. `shape` as for the compiler:
 * "8x8x4m+4" (m: mesh dimension; +4: cores). `order`: axes from fastest to slowest with rank,
 * "XYZT"; NULL: as they come. `shape` NULL: that of the first schedule loaded. TORC_ERR_MISMATCH:
 * the communicator's size is not the number of nodes. */
int torc_geometry_create(torc_context* context, MPI_Comm comm, const char* shape, const char* order,
                         torc_geometry** geometry);

/* Collective. TORC_ERR_BUSY while a rank still has schedules of it. NULL is allowed. */
int torc_geometry_destroy(torc_geometry* geometry);

#define TORC_MAX_AXES 8

typedef struct torc_geometry_info {
  char shape[128];                /* "4x3x2"; "" before it is known */
  char order[16];                 /* "XYZ" */
  int rank;                       /* of the caller */
  int nodes;                      /* ranks in the geometry */
  int axis_count;                 /* 0 before the shape is known */
  int coordinates[TORC_MAX_AXES]; /* of the caller */
  int ranks_on_host;              /* ranks that share the caller's host */
  int oversubscribed;             /* more of them than cores: waiting calls yield */
} torc_geometry_info;

int torc_geometry_query(const torc_geometry* geometry, torc_geometry_info* info);

/* ---- Libraries ------------------------------------------------------------------------------ */

/* A folder made by `torc library build`: schedules for the partitions of a machine and for their
 * sub-tori (lines, planes, boxes), with an index that says which file serves which sub-torus,
 * collective and size. A job opens it once; communicators are recognised by where their ranks lie,
 * and get a geometry; a schedule is loaded when a call first needs it. */
typedef struct torc_library torc_library;

/* The same on all ranks. NULL: not said. */
typedef struct torc_library_options {
  const char* directory; /* the library's folder; rank 0 reads it */
  const char* torus;     /* the job's partition, "8x8x4m+4". NULL: the library's only partition with
                            as many nodes as there are ranks */
  const char* order;     /* of the ranks, axes from fastest to slowest: "XYZT". NULL: the one of the
                            partition in the library */
  const char* mapping; /* path of a mapping file, which rank 0 reads, in place of an order: one line
                          of coordinates per rank, "0 3 1", and the core, where nodes have cores.
                          `#` begins a comment. It may leave nodes out */
  const char* machine; /* name of the machine that the library must be for. NULL: any */
  uint64_t memory_limit; /* bytes of schedules that a rank keeps at most; 0: 256 MiB */
} torc_library_options;

/* Collective over `world`, whose ranks are those of the job: rank r lies on the partition as order
 * or mapping say. Rank 0 reads index and mapping file, all check them.
 *   TORC_ERR_IO: the folder or mapping file cannot be read
 *   TORC_ERR_MALFORMED: the index is torn or altered; the mapping has a fault (its line is named)
 *   TORC_ERR_MISMATCH: the index is stale (not made with the manifest beside it); the library is
 * for another machine; it has no such partition, or none with as many nodes as ranks (the message
 *     lists those it has), or several; ranks gave different options
 *   TORC_ERR_ARGUMENT: an order and a mapping, a torus or order that does not parse */
int torc_library_open(torc_context* context, MPI_Comm world, const torc_library_options* options,
                      torc_library** library);

/* Local. TORC_ERR_BUSY while there are geometries recognised by it. NULL is allowed. */
int torc_library_close(torc_library* library);

typedef struct torc_library_info {
  const char* directory; /* this and the other texts live as long as the library */
  const char* machine;   /* that it was made for */
  const char* version;   /* of the torc that made it */
  const char* torus;     /* the job's partition: "8x8x4" */
  const char* order;     /* of the job's ranks: "XYZ"; "" with a mapping file */
  uint64_t nodes;        /* of that partition */
  uint64_t partitions;   /* in the library, as the next three */
  uint64_t sub_tori;
  uint64_t entries;
  uint64_t files;
  uint64_t files_loaded; /* held by this rank, as the next */
  uint64_t bytes_loaded;
  uint64_t memory_limit; /* bytes */
} torc_library_info;

int torc_library_query(const torc_library* library, torc_library_info* info);

typedef enum torc_kind {
  TORC_ALLREDUCE = 0,
  TORC_REDUCE_SCATTER = 1, /* also serves reduce_scatter_block */
  TORC_ALLGATHER = 2,      /* also serves allgatherv */
  TORC_BROADCAST = 3,
  TORC_ALLTOALL = 4, /* alltoallv, too */
  TORC_REDUCE = 5,
  TORC_SCATTER = 6, /* also serves scatterv */
  TORC_GATHER = 7,  /* also serves gatherv */
  TORC_SCAN = 8,
  TORC_EXSCAN = 9,
  TORC_NEIGHBOR_ALLGATHER = 10, /* neighbor_allgatherv, too */
  TORC_NEIGHBOR_ALLTOALL = 11   /* neighbor_alltoallv, too */
} torc_kind;

/* A schedule of a library, and the calls that it is for. Bytes are those of the whole vector: all
 * blocks together, where ranks have blocks; of an alltoall, and among neighbours, those that one
 * rank sends. Texts live as long as the library. */
typedef struct torc_choice {
  torc_kind kind;
  const char* shape;      /* "8x4m": the sub-torus whose communicators it serves */
  uint64_t lowest_bytes;  /* of the calls it is for, both included */
  uint64_t highest_bytes; /* UINT64_MAX: no limit */
  const char* file;       /* name in the library's folder `files` */
  double predicted_s;     /* time of a call, seconds: of the given call, or of the smallest one */
  const char* reason;     /* why this schedule */
} torc_choice;

/* Entry `number`, from 0 to entries - 1, in the order of the index: by shape, kind and size. */
int torc_library_entry(const torc_library* library, uint64_t number, torc_choice* choice);

/* Collective over `comm`, which is duplicated and stays the caller's. Where its members form a
 * sub-torus of the partition that the library has schedules for, in any order, it gets a geometry
 * with that shape. TORC_ERR_UNSUPPORTED: they do not, and why: "7 ranks do not fill the box 2x4x1
 * from (0, 0, 0): (1, 3, 0) is missing". */
int torc_geometry_recognise(torc_library* library, MPI_Comm comm, torc_geometry** geometry);

/* ---- Schedules ------------------------------------------------------------------------------ */

typedef struct torc_schedule torc_schedule;

/* Collective. Rank 0 reads the file and sends it to all; every rank checks it. The path of rank 0
 * counts. */
int torc_schedule_load(torc_geometry* geometry, const char* path, torc_schedule** schedule);

/* Collective. The same from memory: `length` bytes at `bytes` on rank 0 count, elsewhere they may
 * be NULL and 0. `name` stands for the path in messages. */
int torc_schedule_load_memory(torc_geometry* geometry, const void* bytes, size_t length,
                              const char* name, torc_schedule** schedule);

/* TORC_ERR_BUSY while it has collectives. NULL is allowed. */
int torc_schedule_free(torc_schedule* schedule);

typedef struct torc_schedule_info {
  torc_kind kind;
  const char* kind_name; /* "allreduce"; lives as long as the schedule, like the next three */
  const char* name;      /* given by the compiler */
  const char* producer;  /* version and pipeline of the compiler */
  const char* shape;     /* "4x3x2" */
  uint64_t nodes;
  uint64_t operations; /* of the one program for all nodes */
  uint64_t streams;
  uint64_t parts; /* color x direction x chunk */
  uint64_t bytes; /* memory that the schedule takes on this rank */
} torc_schedule_info;

int torc_schedule_query(const torc_schedule* schedule, torc_schedule_info* info);

/* A call, for torc_schedule_serves and the library. Fields that the kind does not use are ignored.
 */
typedef struct torc_call {
  torc_kind kind;
  int64_t count; /* elements: of the vector (allreduce, reduce, broadcast, scan, exscan), of each
                    block otherwise */
  const int64_t* counts; /* elements of each rank's block, or NULL: all `count`. Of an alltoall the
                            elements that come from each rank: there only that they are not NULL
                            counts. Of neighbours those that come from each of them */
  MPI_Datatype datatype;
  MPI_Op op; /* MPI_OP_NULL where nothing is reduced */
} torc_call;

/* TORC_OK when the schedule serves such a call; otherwise why not, as code and message. */
int torc_schedule_serves(const torc_schedule* schedule, const torc_call* call);

/* Local: which schedule of the library serves such a call on a recognised geometry.
 * TORC_ERR_UNSUPPORTED: none, and why, or MPI's own, which tuning has measured to be faster;
 * TORC_ERR_ARGUMENT: the geometry was made without a library.
 */
int torc_library_choose(const torc_geometry* geometry, const torc_call* call, torc_choice* choice);

/* Collective: the schedule that torc_library_choose names, read by rank 0 of the geometry and sent
 * to the others, unless all hold it already. Geometries share one copy in memory.
 *   TORC_ERR_IO, TORC_ERR_MALFORMED: the file is gone, torn, or not the one of the index
 *   TORC_ERR_MEMORY: the schedules in use leave no room for it under the limit of the library
 *   TORC_ERR_MISMATCH: ranks gave calls that different schedules serve */
int torc_library_load(torc_geometry* geometry, const torc_call* call, torc_schedule** schedule);

/* ---- Collectives ---------------------------------------------------------------------------- */

typedef struct torc_collective torc_collective;

/* Arguments as those of the MPI function of that name, counts 64 bits wide. Each is collective,
 * and fails with TORC_ERR_MISMATCH when counts, datatypes or operations differ between ranks.
 * Buffers are read and written from start to completion of a round, and stay the caller's.
 * All memory is allocated here; starting and completing allocates nothing.
 *
 * Results are the same bits on every rank and in every round: the order in which contributions
 * are combined is fixed by the schedule. */

/* `in` may be MPI_IN_PLACE. */
int torc_allreduce_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                        MPI_Datatype datatype, MPI_Op op, torc_collective** collective);

/* counts[r] elements go to rank r. MPI_IN_PLACE: the whole vector is in `out`, and the caller's
 * block replaces its beginning. */
int torc_reduce_scatter_init(torc_schedule* schedule, const void* in, void* out,
                             const int64_t counts[], MPI_Datatype datatype, MPI_Op op,
                             torc_collective** collective);

/* `count` elements go to every rank. */
int torc_reduce_scatter_block_init(torc_schedule* schedule, const void* in, void* out,
                                   int64_t count, MPI_Datatype datatype, MPI_Op op,
                                   torc_collective** collective);

/* Block r of `out`, out_count elements, comes from rank r. The caller's own in_count of in_type
 * must be as many bytes. MPI_IN_PLACE: the own block stands in `out`; in_count and in_type are
 * ignored. */
int torc_allgather_init(torc_schedule* schedule, const void* in, int64_t in_count,
                        MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                        torc_collective** collective);

/* Block r is counts[r] elements at out + displacements[r] elements; blocks do not overlap. */
int torc_allgatherv_init(torc_schedule* schedule, const void* in, int64_t in_count,
                         MPI_Datatype in_type, void* out, const int64_t counts[],
                         const int64_t displacements[], MPI_Datatype out_type,
                         torc_collective** collective);

/* The root's `buffer` becomes everyone's. One collective serves one root, one schedule all of them.
 * A schedule for allreduce serves too, here and in a reduce; one for reduce_scatter serves a
 * scatter, one for allgather a gather. Ranks then need memory for what they would not get else. */
int torc_broadcast_init(torc_schedule* schedule, void* buffer, int64_t count, MPI_Datatype datatype,
                        int root, torc_collective** collective);

/* The sum of all `in` goes to `out` of the root; `out` of others is ignored. MPI_IN_PLACE, at the
 * root alone: its contribution is in `out`. */
int torc_reduce_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                     MPI_Datatype datatype, MPI_Op op, int root, torc_collective** collective);

/* The sum of the `in` of all ranks up to this one, its own included, goes to its `out`; of an
 * exscan that of the ranks before it, and rank 0's `out` is not written and may be NULL.
 * MPI_IN_PLACE as in an allreduce. */
int torc_scan_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                   MPI_Datatype datatype, MPI_Op op, torc_collective** collective);
int torc_exscan_init(torc_schedule* schedule, const void* in, void* out, int64_t count,
                     MPI_Datatype datatype, MPI_Op op, torc_collective** collective);

/* Block r of the root's `in`, in_count elements of in_type, goes to rank r, which describes it by
 * out_count and out_type: the same number of the same type. What describes `in` is ignored but at
 * the root. `out` MPI_IN_PLACE, at the root alone: its own block stays in `in`; out_count and
 * out_type are ignored. */
int torc_scatter_init(torc_schedule* schedule, const void* in, int64_t in_count,
                      MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                      int root, torc_collective** collective);

/* Block r is counts[r] elements at in + displacements[r] elements of the root; blocks do not
 * overlap. The counts and in_type are those of all ranks, everywhere: data pass through ranks that
 * neither send nor get them. The displacements are the root's. */
int torc_scatterv_init(torc_schedule* schedule, const void* in, const int64_t counts[],
                       const int64_t displacements[], MPI_Datatype in_type, void* out,
                       int64_t out_count, MPI_Datatype out_type, int root,
                       torc_collective** collective);

/* Block r of the root's `out`, out_count elements of out_type, comes from rank r, which describes
 * it by in_count and in_type: the same number of the same type. What describes `out` is ignored but
 * at the root. MPI_IN_PLACE, at the root alone: its own block stands in `out`; in_count and in_type
 * are ignored. */
int torc_gather_init(torc_schedule* schedule, const void* in, int64_t in_count,
                     MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                     int root, torc_collective** collective);

/* Likewise with counts[r] elements at out + displacements[r] elements of the root, as
 * torc_scatterv_init. */
int torc_gatherv_init(torc_schedule* schedule, const void* in, int64_t in_count,
                      MPI_Datatype in_type, void* out, const int64_t counts[],
                      const int64_t displacements[], MPI_Datatype out_type, int root,
                      torc_collective** collective);

/* Block r of `in`, in_count elements, goes to rank r; block r of `out`, out_count elements that are
 * as many bytes, comes from rank r. Not in place. (Preloaded programs are served in place.) */
int torc_alltoall_init(torc_schedule* schedule, const void* in, int64_t in_count,
                       MPI_Datatype in_type, void* out, int64_t out_count, MPI_Datatype out_type,
                       torc_collective** collective);

/* in_counts[r] elements at in + in_displacements[r] elements go to rank r, out_counts[r] elements
 * at out + out_displacements[r] elements come from rank r. What goes to a rank must be as many
 * bytes as it takes from this one. From their first block to the end of their last one, in and out
 * do not overlap. Not in place.
 * A schedule that forwards blocks: the counts travel first, by the schedule itself, in here, and a
 * block that is awaited with another length than it is sent with is TORC_ERR_MISMATCH on all ranks;
 * where a message fails in MPI, ranks that wait for others' counts may go on waiting.
 * A direct one needs no counts of others: nobody checks them, but for the own block; a longer
 * message is a truncation, an error of the round, and for one that does not come the round waits.
 * torc_library_load names a direct one for a call with `counts`. */
int torc_alltoallv_init(torc_schedule* schedule, const void* in, const int64_t in_counts[],
                        const int64_t in_displacements[], MPI_Datatype in_type, void* out,
                        const int64_t out_counts[], const int64_t out_displacements[],
                        MPI_Datatype out_type, torc_collective** collective);

/* Collectives among neighbours. The torus of the schedule is a grid, of which a mesh dimension is
 * one that is not periodic, and a rank has two neighbours along each axis. Blocks lie as MPI has
 * them for a Cartesian communicator: axis by axis, the one that varies slowest with the rank of the
 * schedule first, and on each the neighbour below before the one above. Where there is none, at the
 * end of a mesh dimension, the place of its block is there and not touched. Not in place.
 *
 * Between two neighbours as many bytes are sent as are taken, on ranks that may pass different
 * counts: nobody checks them; a longer message is a truncation, an error of the round.
 *
 * The one block of in_count elements goes to every neighbour; block k of `out`, out_count elements,
 * or counts[k] at out + displacements[k] elements, comes from neighbour k. */
int torc_neighbor_allgather_init(torc_schedule* schedule, const void* in, int64_t in_count,
                                 MPI_Datatype in_type, void* out, int64_t out_count,
                                 MPI_Datatype out_type, torc_collective** collective);
int torc_neighbor_allgatherv_init(torc_schedule* schedule, const void* in, int64_t in_count,
                                  MPI_Datatype in_type, void* out, const int64_t counts[],
                                  const int64_t displacements[], MPI_Datatype out_type,
                                  torc_collective** collective);

/* Block k of `in` goes to neighbour k. */
int torc_neighbor_alltoall_init(torc_schedule* schedule, const void* in, int64_t in_count,
                                MPI_Datatype in_type, void* out, int64_t out_count,
                                MPI_Datatype out_type, torc_collective** collective);
int torc_neighbor_alltoallv_init(torc_schedule* schedule, const void* in, const int64_t in_counts[],
                                 const int64_t in_displacements[], MPI_Datatype in_type, void* out,
                                 const int64_t out_counts[], const int64_t out_displacements[],
                                 MPI_Datatype out_type, torc_collective** collective);

/* Called once per round when it is complete or has failed (`result`), from a function of torc, on
 * the thread that called it. It may start collectives, this one too, and query; nothing else. */
typedef void (*torc_callback)(torc_collective* collective, int result, void* cookie);

/* NULL takes the callback away. TORC_ERR_BUSY while a round is under way. */
int torc_collective_set_callback(torc_collective* collective, torc_callback callback, void* cookie);

/* Begins a round. Every rank of the geometry starts it, at its own time; several collectives may be
 * under way at once, and may be started in different orders on different ranks. TORC_ERR_BUSY while
 * a round is under way. */
int torc_collective_start(torc_collective* collective);

/* Moves the context on; *done is 1 when no round is under way. The round's own error, if any. */
int torc_collective_test(torc_collective* collective, int* done);

/* Returns when the round is complete, or has failed. */
int torc_collective_wait(torc_collective* collective);

/* TORC_ERR_BUSY while a round is under way. NULL is allowed. */
int torc_collective_free(torc_collective* collective);

typedef struct torc_collective_info {
  uint64_t operations;    /* that this rank executes per round */
  uint64_t messages;      /* sent and received by this rank per round */
  uint64_t scratch_bytes; /* working memory for data */
  uint64_t table_bytes;   /* working memory for the program, without MPI's requests */
  uint64_t rounds;        /* completed so far */
} torc_collective_info;

int torc_collective_query(const torc_collective* collective, torc_collective_info* info);

/* ---- Trace ---------------------------------------------------------------------------------- */

/* Begins to record what the context does: calls, rounds, messages, local work; of geometries that
 * are made from here on. Collective over `comm`, whose ranks the file will show; it is duplicated
 * and stays the caller's. `path` of rank 0 counts, and must be writable now. `events`: room on this
 * rank, 64 bytes each, allocated here; when it is full the oldest are dropped. 0: 100000.
 * TORC_ERR_BUSY: the context is traced already. */
int torc_trace_open(torc_context* context, MPI_Comm comm, const char* path, uint64_t events);

/* Collective over the ranks of torc_trace_open: writes one file of all ranks, Chrome's trace event
 * format in JSON, which replaces what was there. Nothing is recorded any more, also after an error.
 * `dropped`, unless NULL: events of all ranks that found no room. No round is under way. */
int torc_trace_close(torc_context* context, uint64_t* dropped);

#ifdef __cplusplus
}
#endif

#endif /* TORC_RUNTIME_API_TORC_H_ */
