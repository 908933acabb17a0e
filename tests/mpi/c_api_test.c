/* torc.h from C99: the program of docs/users/runtime.md, on the schedule that argv[1] names. */
#include <mpi.h>
#include <stdio.h>

#include "runtime/api/torc.h"

enum { kCount = 1000 };

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, torc_error_message());
  return 1;
}

static int run(const char* path) {
  static float in[kCount], out[kCount];
  torc_context* context = NULL;
  torc_geometry* geometry = NULL;
  torc_schedule* schedule = NULL;
  torc_collective* sum = NULL;
  torc_geometry_info info;
  int i, round;

  if (torc_context_create(&context) != TORC_OK) return fail("context");
  if (torc_geometry_create(context, MPI_COMM_WORLD, NULL, NULL, &geometry) != TORC_OK) {
    return fail("geometry");
  }
  if (torc_schedule_load(geometry, path, &schedule) != TORC_OK) return fail("load");
  if (torc_geometry_query(geometry, &info) != TORC_OK) return fail("query");
  if (torc_allreduce_init(schedule, in, out, kCount, MPI_FLOAT, MPI_SUM, &sum) != TORC_OK) {
    return fail("init");
  }
  for (round = 0; round < 3; ++round) {
    for (i = 0; i < kCount; ++i) in[i] = (float)(info.rank + i + round);
    if (torc_collective_start(sum) != TORC_OK) return fail("start");
    if (torc_collective_wait(sum) != TORC_OK) return fail("wait");
    for (i = 0; i < kCount; ++i) {
      const float expected =
          (float)(info.nodes * (i + round) + info.nodes * (info.nodes - 1) / 2);
      if (out[i] != expected) {
        fprintf(stderr, "rank %d, element %d: %g, expected %g\n", info.rank, i, out[i], expected);
        return 1;
      }
    }
  }
  if (torc_collective_free(sum) != TORC_OK) return fail("free");
  if (torc_schedule_free(schedule) != TORC_OK) return fail("unload");
  if (torc_geometry_destroy(geometry) != TORC_OK) return fail("geometry");
  if (torc_context_destroy(context) != TORC_OK) return fail("context");
  return 0;
}

int main(int argc, char** argv) {
  int code;
  MPI_Init(&argc, &argv);
  code = argc == 2 ? run(argv[1]) : 2;
  MPI_Finalize();
  return code;
}
