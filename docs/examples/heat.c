/* heat.c: torc.h in a program. Heat spreads in a closed rod, a piece of it on each rank; now and
 * then all ranks add up what they have, by a compiled schedule, while the next steps are under way.
 *
 *   torc library build --partition 3x2 -o library
 *   mpicc.mpich -std=c99 heat.c $(pkg-config --cflags --libs torc) -lm -o heat
 *   mpiexec.hydra -n 6 ./heat library
 *
 * Instead of a library it takes a schedule: torc compile allreduce --torus 3x2 -o allreduce.torc.
 * Where neither can be used (no such file, another number of ranks), the program says why and goes
 * on with MPI's own collective. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <torc.h>

#include <mpi.h>

enum { kCells = 16, kSteps = 400, kStepsPerReport = 100, kSums = 2 };

/* A share of the heat that flows to each neighbour in a step. */
static const double kFlow = 0.25;

/* Everything of torc's that the program keeps. */
typedef struct {
  torc_context* context;
  torc_library* library; /* NULL: a schedule's file was given */
  torc_geometry* geometry;
  torc_schedule* schedule;
  torc_collective* sum; /* NULL: MPI's own */
} Torc;

/* What is added up: sums[0] the heat, sums[1] the squares of its distance from the mean, 1. */
typedef struct {
  double mine[kSums];
  double sums[kSums];
  int step;    /* at which `mine` was taken */
  int reports; /* that have arrived */
  int cells;   /* of all ranks */
  int rank;
  int faults; /* results that are not what the theory says */
} Report;

/* The starting heat, 1 + sin(2 pi x), keeps its form: a step multiplies the wave by a factor. */
static void check_report(Report* report) {
  const double angle = 2 * acos(-1.0) / report->cells;
  const double wave = pow(1 - 2 * kFlow * (1 - cos(angle)), report->step);
  const double expected = 0.5 * report->cells * wave * wave;
  ++report->reports;
  if (fabs(report->sums[0] - report->cells) > 1e-9 * report->cells ||
      fabs(report->sums[1] - expected) > 1e-9 * report->cells) {
    ++report->faults;
  }
  if (report->rank == 0) {
    printf("step %4d: heat %.6f, distance from the mean %.6f (theory: %.6f)\n", report->step,
           report->sums[0], report->sums[1], expected);
  }
}

/* torc calls this when a sum is complete, from whichever function of torc completes it. */
static void on_sum(torc_collective* collective, int result, void* cookie) {
  Report* report = cookie;
  (void)collective;
  if (result != TORC_OK) {
    fprintf(stderr, "heat: rank %d: %s\n", report->rank, torc_error_message());
    ++report->faults;
    return;
  }
  check_report(report);
}

/* Frees in the reverse order of making; NULL is allowed everywhere. */
static void close_torc(Torc* torc) {
  (void)torc_collective_free(torc->sum);
  (void)torc_schedule_free(torc->schedule);
  (void)torc_geometry_destroy(torc->geometry);
  (void)torc_library_close(torc->library);
  (void)torc_context_destroy(torc->context);
  memset(torc, 0, sizeof(*torc));
}

static int is_schedule(const char* path) {
  const char* suffix = strrchr(path, '.');
  return suffix != NULL && strcmp(suffix, ".torc") == 0;
}

/* A file is for its torus; the geometry takes its shape. */
static int load_schedule(Torc* torc, const char* path) {
  const int code = torc_geometry_create(torc->context, MPI_COMM_WORLD, NULL, NULL, &torc->geometry);
  return code != TORC_OK ? code : torc_schedule_load(torc->geometry, path, &torc->schedule);
}

/* A library knows the partitions of the machine, and which schedule is best for a call. */
static int choose_schedule(Torc* torc, const char* path) {
  torc_library_options options = {NULL, NULL, NULL, NULL, NULL, 0};
  torc_call call = {TORC_ALLREDUCE, kSums, NULL, MPI_DOUBLE, MPI_SUM};
  int code;
  options.directory = path;
  code = torc_library_open(torc->context, MPI_COMM_WORLD, &options, &torc->library);
  if (code != TORC_OK) return code;
  code = torc_geometry_recognise(torc->library, MPI_COMM_WORLD, &torc->geometry);
  return code != TORC_OK ? code : torc_library_load(torc->geometry, &call, &torc->schedule);
}

/* Every result of a collective function is agreed on: all ranks come out of here alike. */
static int open_torc(Torc* torc, const char* path, Report* report) {
  torc_geometry_info place;
  torc_schedule_info schedule;
  torc_collective_info cost;
  int code = torc_context_create(&torc->context);
  if (code != TORC_OK) return code;
  code = is_schedule(path) ? load_schedule(torc, path) : choose_schedule(torc, path);
  if (code != TORC_OK) return code;
  code = torc_allreduce_init(torc->schedule, report->mine, report->sums, kSums, MPI_DOUBLE, MPI_SUM,
                             &torc->sum);
  if (code != TORC_OK) return code;
  code = torc_collective_set_callback(torc->sum, on_sum, report);
  if (code != TORC_OK) return code;

  if (torc_geometry_query(torc->geometry, &place) == TORC_OK &&
      torc_schedule_query(torc->schedule, &schedule) == TORC_OK &&
      torc_collective_query(torc->sum, &cost) == TORC_OK && report->rank == 0) {
    printf("%s on %s, %d ranks; rank 0: %d messages, %d bytes of working memory\n",
           schedule.kind_name, place.shape, place.nodes, (int)cost.messages,
           (int)(cost.scratch_bytes + cost.table_bytes));
  }
  return TORC_OK;
}

/* One step: the two ends come from the neighbours. rod[0] and rod[kCells + 1] are theirs. */
static void step(double* rod, int left, int right) {
  double next[kCells + 2];
  int i;
  MPI_Sendrecv(&rod[1], 1, MPI_DOUBLE, left, 0, &rod[kCells + 1], 1, MPI_DOUBLE, right, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&rod[kCells], 1, MPI_DOUBLE, right, 1, &rod[0], 1, MPI_DOUBLE, left, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (i = 1; i <= kCells; ++i) {
    next[i] = rod[i] + kFlow * (rod[i - 1] - 2 * rod[i] + rod[i + 1]);
  }
  memcpy(&rod[1], &next[1], kCells * sizeof(double));
}

/* Begins to add up. The sum before is complete by now, or is waited for: `mine` and `sums` are
 * torc's while it is under way. */
static int start_report(const Torc* torc, const double* rod, int now, Report* report) {
  int i, code = TORC_OK;
  if (torc->sum != NULL) code = torc_collective_wait(torc->sum);
  if (code != TORC_OK) return code;
  report->step = now;
  report->mine[0] = report->mine[1] = 0;
  for (i = 1; i <= kCells; ++i) {
    report->mine[0] += rod[i];
    report->mine[1] += (rod[i] - 1) * (rod[i] - 1);
  }
  if (torc->sum != NULL) return torc_collective_start(torc->sum);
  MPI_Allreduce(report->mine, report->sums, kSums, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  check_report(report);
  return TORC_OK;
}

static int run(const char* path) {
  Torc torc = {NULL, NULL, NULL, NULL, NULL};
  Report report = {{0, 0}, {0, 0}, 0, 0, 0, 0, 0};
  double rod[kCells + 2];
  int ranks, i, now, code;
  MPI_Comm_rank(MPI_COMM_WORLD, &report.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  report.cells = ranks * kCells;
  for (i = 0; i < kCells + 2; ++i) {
    rod[i] = 1 + sin(2 * acos(-1.0) * (report.rank * kCells + i) / report.cells);
  }
  code = open_torc(&torc, path, &report);
  if (code != TORC_OK) {
    if (report.rank == 0) {
      fprintf(stderr, "heat: %s: %s; going on with MPI's own allreduce\n", torc_result_name(code),
              torc_error_message());
    }
    close_torc(&torc);
  }
  code = TORC_OK;
  for (now = 0; now < kSteps && code == TORC_OK; ++now) {
    if (now % kStepsPerReport == 0) code = start_report(&torc, rod, now, &report);
    step(rod, (report.rank + ranks - 1) % ranks, (report.rank + 1) % ranks);
    /* Progress is made inside torc's functions only: one look per step. */
    if (code == TORC_OK && torc.context != NULL) code = torc_context_advance(torc.context, NULL);
  }
  if (code == TORC_OK) code = start_report(&torc, rod, now, &report);
  if (code == TORC_OK && torc.sum != NULL) code = torc_collective_wait(torc.sum);
  if (code != TORC_OK) fprintf(stderr, "heat: rank %d: %s\n", report.rank, torc_error_message());
  close_torc(&torc);
  return code == TORC_OK && report.faults == 0 && report.reports == kSteps / kStepsPerReport + 1
             ? 0
             : 1;
}

int main(int argc, char** argv) {
  int code;
  MPI_Init(&argc, &argv);
  code = argc == 2 ? run(argv[1]) : 2;
  if (code == 2) fprintf(stderr, "usage: heat LIBRARY|SCHEDULE.torc\n");
  MPI_Finalize();
  return code;
}
