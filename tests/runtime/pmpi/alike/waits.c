/* waits [KIND...]: a nonblocking collective is under way on ranks that wait in another call of MPI, to which
 * the last rank comes when it has waited for the collective. MPI demands that this ends: the program
 * prints the sum, which the others have waited for after the call. No KIND: all of them. With
 * WAITS_WITH_THREADS MPI is initialised with MPI_THREAD_MULTIPLE. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static MPI_Comm world;
static MPI_Win window;
static MPI_File file;
static double memory[16];
static char buffer[1000];

/* ---- Communicators */
static void comm_dup(void) { MPI_Comm made; MPI_Comm_dup(world, &made); MPI_Comm_free(&made); }
static void comm_split(void) {
  MPI_Comm made;
  MPI_Comm_split(world, rank % 2, 0, &made);
  MPI_Comm_free(&made);
}
static void comm_create_group(void) {
  MPI_Group group;
  MPI_Comm made;
  MPI_Comm_group(world, &group);
  MPI_Comm_create_group(world, group, 3, &made);
  MPI_Group_free(&group);
  MPI_Comm_disconnect(&made);
}
static void dist_graph(void) {
  MPI_Comm made;
  int next = (rank + 1) % size, degree = 1;
  MPI_Dist_graph_create(world, 1, &rank, &degree, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  double is[8];
  MPI_Neighbor_allgather(memory, 1, MPI_DOUBLE, is, 1, MPI_DOUBLE, made);
  MPI_Comm_free(&made);
}
static void intercomm(void) {
  MPI_Comm half, inter, merged;
  const int is_last = rank == size - 1;
  MPI_Comm_split(world, is_last, 0, &half);
  MPI_Intercomm_create(half, 0, world, is_last ? 0 : size - 1, 5, &inter);
  MPI_Intercomm_merge(inter, is_last, &merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}
#if MPI_VERSION >= 4
static void comm_from_group(void) {
  MPI_Group group;
  MPI_Comm made;
  MPI_Comm_group(world, &group);
  MPI_Comm_create_from_group(group, "waits", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  MPI_Group_free(&group);
  MPI_Comm_free(&made);
}
#endif

/* ---- Collectives that are MPI's */
static void gatherv(void) {
  int counts[64], places[64], all[64];
  for (int i = 0; i < size; ++i)
    counts[i] = 1, places[i] = i;
  MPI_Gatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, size - 1, world);
  MPI_Scatterv(all, counts, places, MPI_INT, &all[63], 1, MPI_INT, size - 1, world);
}
static void barrier(void) { MPI_Barrier(world); }
static void nothing(void) { MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, world); }

/* ---- Messages */
static void messages(void) {
  MPI_Status status;
  if (rank == size - 1) {
    for (int to = 0; to < size - 1; ++to) {
      MPI_Send(memory, 1, MPI_DOUBLE, to, 7, world);
      MPI_Recv(memory, 1, MPI_DOUBLE, to, 8, world, &status);
      MPI_Send(memory, 1, MPI_DOUBLE, to, 9, world);
    }
  } else {
    MPI_Probe(size - 1, 7, world, &status);
    MPI_Recv(memory, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 7, world, &status);
    MPI_Sendrecv(memory, 1, MPI_DOUBLE, size - 1, 8, memory, 1, MPI_DOUBLE, size - 1, 9, world,
                 &status);
  }
}
static void long_message(void) {
  static double much[1 << 18];
  if (rank == size - 1) {
    for (int from = 0; from < size - 1; ++from)
      MPI_Recv(much, 1 << 18, MPI_DOUBLE, from, 7, world, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(much, 1 << 18, MPI_DOUBLE, size - 1, 7, world);
  }
}
static void requests(void) {
  MPI_Request two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index, done, indices[2];
  for (int round = 0; round < 4; ++round) {
    if (rank == size - 1) {
      for (int to = 0; to < size - 1; ++to)
        MPI_Ssend(memory, 1, MPI_DOUBLE, to, round, world);
      continue;
    }
    MPI_Irecv(memory, 1, MPI_DOUBLE, size - 1, round, world, &two[0]);
    if (round == 0) MPI_Wait(&two[0], MPI_STATUS_IGNORE);
    if (round == 1) MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
    if (round == 2) MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE);
    if (round == 3) MPI_Waitsome(2, two, &done, indices, MPI_STATUSES_IGNORE);
  }
}
static void buffer_detach(void) {
  void* detached;
  int bytes;
  if (rank == size - 1) {
    for (int from = 0; from < size - 1; ++from)
      MPI_Recv(memory, 16, MPI_DOUBLE, from, 7, world, MPI_STATUS_IGNORE);
  } else {
    MPI_Buffer_attach(buffer, sizeof(buffer));
    MPI_Bsend(memory, 16, MPI_DOUBLE, size - 1, 7, world);
    MPI_Buffer_detach(&detached, &bytes);
  }
}

/* ---- Windows */
static void window_begin(void) {
  double* base;
  MPI_Win_allocate(sizeof(double), sizeof(double), MPI_INFO_NULL, world, &base, &window);
}
static void window_end(void) { MPI_Win_free(&window); }
#ifndef OPEN_MPI
static void win_create(void) {
  MPI_Win made;
  MPI_Win_create(memory, sizeof(memory), 8, MPI_INFO_NULL, world, &made);
  MPI_Win_free(&made);
}
#endif
static void win_allocate(void) { window_begin(), window_end(); }
static void win_shared(void) {
  double* base;
  MPI_Win made;
  MPI_Win_allocate_shared(80, 8, MPI_INFO_NULL, world, &base, &made);
  MPI_Win_free(&made);
}
#ifndef OPEN_MPI
static void win_dynamic(void) {
  MPI_Win made;
  MPI_Win_create_dynamic(MPI_INFO_NULL, world, &made);
  MPI_Win_free(&made);
}
#endif
static void win_fence(void) { MPI_Win_fence(0, window), MPI_Win_fence(0, window); }
/* Not the last rank: in MPICH 4.0.2 one that waits in MPI_Win_start or MPI_Win_complete makes no
 * progress for its nonblocking collectives. */
static void win_wait(void) {
  MPI_Group all, first, others;
  const int root = 0;
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, 1, &root, &first);
  MPI_Group_excl(all, 1, &root, &others);
  if (rank == root) {
    MPI_Win_post(others, 0, window);
    MPI_Win_wait(window);
  } else {
    MPI_Win_start(first, 0, window);
    MPI_Win_complete(window);
  }
  MPI_Group_free(&all), MPI_Group_free(&first), MPI_Group_free(&others);
}

/* ---- Files */
static char name[200];
static void file_begin(void) {
  MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
}
static void file_end(void) { MPI_File_close(&file); }
static void file_open(void) { file_begin(), file_end(); }
static void file_close(void) { MPI_File_close(&file); }
static void write_all(void) {
  MPI_File_write_all(file, memory, 10, MPI_DOUBLE, MPI_STATUS_IGNORE);
}
static void read_at_all(void) {
  MPI_File_read_at_all(file, 0, memory, 10, MPI_DOUBLE, MPI_STATUS_IGNORE);
}
static void write_ordered(void) {
  MPI_File_write_ordered(file, memory, 10, MPI_DOUBLE, MPI_STATUS_IGNORE);
}
static void write_split(void) {
  MPI_File_write_all_begin(file, memory, 10, MPI_DOUBLE);
  MPI_File_write_all_end(file, memory, MPI_STATUS_IGNORE);
}
static void set_view(void) {
  MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
}
static void set_size(void) { MPI_File_set_size(file, 80), MPI_File_preallocate(file, 160); }
static void file_sync(void) { MPI_File_sync(file); }
static void set_atomicity(void) { MPI_File_set_atomicity(file, 1); }
static void seek_shared(void) { MPI_File_seek_shared(file, 8, MPI_SEEK_SET); }
static void iwrite_all(void) {
  MPI_Request request;
  MPI_File_iwrite_all(file, memory, 10, MPI_DOUBLE, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void nowhere(void) {}

struct kind {
  const char* name;
  void (*begin)(void); /* by all ranks, before */
  void (*call)(void);
  void (*end)(void);
};
#define KIND(call) {#call, nowhere, call, nowhere}
#define IN_WINDOW(call) {#call, window_begin, call, window_end}
#define IN_FILE(call) {#call, file_begin, call, file_end}
static const struct kind kinds[] = {
    KIND(comm_dup), KIND(comm_split), KIND(comm_create_group), KIND(dist_graph), KIND(intercomm),
#if MPI_VERSION >= 4
    KIND(comm_from_group),
#endif
    KIND(gatherv), KIND(barrier), KIND(nothing), KIND(messages), KIND(long_message),
    KIND(requests), KIND(buffer_detach), KIND(win_allocate), KIND(win_shared),
#ifndef OPEN_MPI /* which has no component for these on one host, in Debian */
    KIND(win_create), KIND(win_dynamic),
#endif
    IN_WINDOW(win_fence), IN_WINDOW(win_wait),
    KIND(file_open), {"file_close", file_begin, file_close, nowhere}, IN_FILE(write_all),
    IN_FILE(read_at_all), IN_FILE(write_ordered), IN_FILE(write_split), IN_FILE(set_view),
    IN_FILE(set_size), IN_FILE(file_sync), IN_FILE(set_atomicity), IN_FILE(seek_shared),
    IN_FILE(iwrite_all),
};

int main(int argc, char** argv) {
  static double in[4096], sum[4096];
  int level;
  MPI_Request request;
  MPI_Init_thread(&argc, &argv,
                  getenv("WAITS_WITH_THREADS") != NULL ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  snprintf(name, sizeof(name), "%s/waits.data", getenv("TEST_TMPDIR") ? getenv("TEST_TMPDIR") : ".");
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    const struct kind* kind = &kinds[i];
    int is_meant = argc == 1;
    for (int j = 1; j < argc; ++j)
      is_meant = is_meant || strcmp(argv[j], kind->name) == 0;
    if (!is_meant) continue;
    for (int j = 0; j < 4096; ++j)
      in[j] = rank + j + (double)i;
    kind->begin();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) usleep(50000);
    MPI_Iallreduce(in, sum, 4096, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == size - 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    kind->call();
    if (rank < size - 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    kind->end();
    if (rank == 0) printf("%s %.0f\n", kind->name, sum[4095]), fflush(stdout);
  }
  MPI_Comm_free(&world);
  return MPI_Finalize();
}
