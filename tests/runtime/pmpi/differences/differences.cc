/* Calls that differ between ranks, or that look wrong and are not, as a program makes them that
 * knows nothing of torc:
 *
 *   differences CASE FORM
 *
 * FORM: blocking, nonblocking or persistent. Every rank prints what became of its calls, one line
 * each; differences_test.sh knows what is expected. Errors are returned. */
#include <cstdio>
#include <cstring>
#include <string_view>
#include <unistd.h>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/collectives.h"

using mpi_calls::Arguments;
using mpi_calls::Form;

enum { MOST_RANKS = 16, COUNT = 1000 };

static int rank, size, odd; /* the rank that differs */
static Form form;
static MPI_Request request;

static void say(const char* what, int code) {
  int error_class = 0;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  if (code == MPI_SUCCESS) {
    printf("rank %d: %s: right\n", rank, what);
  } else {
    printf("rank %d: %s: error class %d\n", rank, what, error_class);
  }
  fflush(stdout);
}

static void expect(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: %s: WRONG\n", rank, what);
  fflush(stdout);
}

/* Makes a call to its end: its error, or that of the wait. */
static int make(const char* stem, const Arguments& arguments) {
  int code = mpi_calls::collectiveCalled(stem).call(form, arguments, &request);
  if (code != MPI_SUCCESS || form == Form::kBlocking) return code;
  if (form == Form::kPersistent) code = MPI_Start(&request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (form == Form::kPersistent && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  return code;
}

static Arguments with(const void* in, int in_count, void* out, int count,
                      MPI_Datatype type = MPI_INT, MPI_Op op = MPI_OP_NULL) {
  Arguments arguments;
  arguments.in = in;
  arguments.out = out;
  arguments.narrow.in_count = in_count;
  arguments.narrow.count = count;
  arguments.in_type = arguments.type = type;
  arguments.op = op;
  arguments.comm = MPI_COMM_WORLD;
  return arguments;
}

static int allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op) {
  return make("Allreduce", with(in, count, out, count, type, op));
}

static int allgather(const void* in, int in_count, void* out, int count) {
  return make("Allgather", with(in, in_count, out, count));
}

static int alltoall(const void* in, int in_count, void* out, int count) {
  return make("Alltoall", with(in, in_count, out, count));
}

/* Blocks of COUNT integers for all, but for what goes to `to` and what comes from `from`. */
static int alltoallv(const void* in, int to, int to_count, void* out, int from, int from_count) {
  Arguments arguments = with(in, COUNT, out, COUNT);
  for (int r = 0; r < size; ++r) {
    arguments.narrow.in_counts.push_back(r == to ? to_count : COUNT);
    arguments.narrow.counts.push_back(r == from ? from_count : COUNT);
    arguments.narrow.in_displacements.push_back(2 * COUNT * r);
  }
  arguments.narrow.displacements = arguments.narrow.in_displacements;
  return make("Alltoallv", arguments);
}

static double in[4 * COUNT * MOST_RANKS], out[4 * COUNT * MOST_RANKS];

static void leftOperand(void* left, void* right, int* count, MPI_Datatype*) {
  memcpy(right, left, *count * sizeof(double));
}

/* A right call behind all others, with the right result. */
static void after(void) {
  for (int i = 0; i < COUNT; ++i) {
    in[i] = rank + i;
    out[i] = -1;
  }
  const int code = allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM);
  say("after", code);
  for (int i = 0; i < COUNT && code == MPI_SUCCESS; ++i)
    expect(out[i] == size * (size - 1) / 2 + size * i, "a sum");
}

/* The `which`-th of four rooted collectives; MPI refuses one with MPI_DATATYPE_NULL. */
static int rooted(int which, MPI_Datatype type, MPI_Comm comm) {
  static const char* const stems[] = {"Gatherv", "Gather", "Reduce", "Scatterv"};
  static int whole[4 * MOST_RANKS];
  int own[4];
  const bool scatters = which == 3;
  Arguments arguments = with(scatters ? whole : own, 4, scatters ? own : whole, 4, type, MPI_SUM);
  for (int i = 0; i < 4 * size; ++i) {
    own[i % 4] = which < 2 ? rank : 1;
    whole[i] = scatters ? i / 4 : -1;
    if (i % 4 != 0) continue;
    arguments.narrow.counts.push_back(4);
    arguments.narrow.displacements.push_back(i);
  }
  arguments.narrow.in_counts = arguments.narrow.counts;
  arguments.narrow.in_displacements = arguments.narrow.displacements;
  (scatters ? arguments.type : arguments.in_type) = MPI_INT;
  arguments.comm = comm;
  const int code = make(stems[which], arguments);
  if (code != MPI_SUCCESS) return code;
  if (which == 3) expect(own[3] == rank, "a scattered block");
  for (int r = 0; r < size && rank == 0 && which < 3; ++r)
    expect(whole[which == 2 ? 3 : 4 * r + 3] == (which == 2 ? size : r), "what comes to the root");
  return code;
}

/* MPI refuses the root's call, which then makes a collective on this communicator or another one,
 * receives messages, makes the same call after all, as late as it likes, or all make another one.
 */
static void refusedAtRoot(int which, int then, int is_first) {
  if (which == 3 && then != 3) return; /* the others wait for the root, as with MPI alone */
  int one = 1, sum = 0, code, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (!is_first) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  code = rooted(which, rank == 0 ? MPI_DATATYPE_NULL : MPI_INT, comm);
  if (rank == 0) {
    expect(code != MPI_SUCCESS, "what MPI refuses");
    MPI_Error_string(code, text, &length);
    MPI_Comm_get_errhandler(comm, &handler);
    MPI_Errhandler_free(&handler);
    if (then == 3) usleep(700000);
    if (then == 3) expect(rooted(which, MPI_INT, comm) == MPI_SUCCESS, "the call after all");
  } else {
    /* They only send, or the root makes the call after all. */
    expect(code == MPI_SUCCESS, "the call of another rank");
  }
  if (then == 0) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (then == 1) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(then > 1 || sum == size, "a sum");
  for (int r = 1; r < size && then == 2 && rank == 0; ++r)
    MPI_Recv(&sum, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (then == 2 && rank > 0) MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (then == 4) {
    expect(rooted(which == 1 ? 2 : 1, MPI_INT, comm) == MPI_SUCCESS, "another call");
  }
  if (then > 0 && then < 4) expect(rooted(which, MPI_INT, comm) == MPI_SUCCESS, "the next call");
  MPI_Comm_free(&comm);
}

/* An allreduce as the others make it, but for what is given. */
static int sumOf(int count, MPI_Datatype type = MPI_DOUBLE, MPI_Op op = MPI_SUM) {
  return allreduce(in, out, count, type, op);
}

static int refused(void) {
  return sumOf(COUNT, MPI_DATATYPE_NULL);
}

/* What MPI has refused is made once more, and right: the others wait for that. */
static int makeUp(void) {
  if (odd) say("refused", refused());
  return sumOf(COUNT);
}

/* What MPI has refused is made on the others, and never here. */
static int goOn(void) {
  say("call", odd ? refused() : sumOf(COUNT));
  const int block = rank;
  int blocks[MOST_RANKS];
  const int code = allgather(&block, 1, blocks, 1);
  for (int r = 0; r < size; ++r)
    expect(blocks[r] == r, "a gathered block");
  return code;
}

/* No other rank makes what MPI refuses here. */
static int refuseAlone(void) {
  for (int i = 0; odd && i < 3; ++i) {
    say("refused", refused());
    say("refused", allgather(in, COUNT, MPI_IN_PLACE, COUNT));
    if (i == 1) say("refused", sumOf(COUNT, MPI_DOUBLE, MPI_OP_NULL));
  }
  return sumOf(COUNT);
}

/* The last rank sends rank 0 more than that takes: nothing is written behind the block. */
static int sendTooMuch(void) {
  memset(out, 0x55, sizeof(out));
  const int code = alltoallv(in, odd ? 0 : -1, 2 * COUNT, out, -1, 0);
  for (int r = 0; r < size; ++r)
    expect(((int*)out)[2 * COUNT * r + COUNT] == 0x55555555, "what is behind a block");
  return code;
}

static int useOwnOperation(void) {
  MPI_Op op;
  MPI_Op_create(leftOperand, 0, &op);
  return sumOf(COUNT, MPI_DOUBLE, odd ? op : MPI_SUM);
}

static int comeLate(void) {
  if (odd) sleep(2);
  return sumOf(COUNT);
}

static int failFatally(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  return sumOf(odd ? COUNT + 200 : COUNT);
}

/* Nonblocking calls find their communicator set up. */
static int refuseAtRoot(void) {
  for (int i = 0; i < 4 * 5 * (form == Form::kBlocking ? 2 : 1); ++i)
    refusedAtRoot(i % 4, i / 4 % 5, i >= 4 * 5);
  return MPI_SUCCESS;
}

static const struct {
  const char* name;
  int (*call)(void);
  const char* what = "call";
} cases[] = {
    {"more", [] { return sumOf(odd ? COUNT + 200 : COUNT); }},
    {"fewer", [] { return sumOf(odd ? COUNT - 200 : COUNT); }},
    {"first-fewer", [] { return sumOf(odd ? 1 : COUNT); }},
    {"other-collective", [] { return odd ? allgather(in, COUNT, out, COUNT) : sumOf(COUNT); }},
    {"refused", [] { return odd ? refused() : sumOf(COUNT); }},
    {"aliased", [] { return allreduce(in, odd ? in : out, COUNT, MPI_DOUBLE, MPI_SUM); }},
    {"made-up", makeUp},
    {"gone-on", goOn, "next"},
    {"alone", refuseAlone},
    {"all-refused", [] { return sumOf(COUNT, MPI_DOUBLE, MPI_OP_NULL); }},
    {"own-block", [] { return allgather(in, odd ? 2 * COUNT : COUNT, out, COUNT); }},
    {"exchange-more",
     [] { return alltoall(in, odd ? COUNT + 100 : COUNT, out, odd ? COUNT + 100 : COUNT); }},
    {"exchange-own-block", [] { return alltoall(in, odd ? 2 * COUNT : COUNT, out, COUNT); }},
    {"exchange-lists",
     [] { return odd ? alltoallv(in, -1, 0, out, -1, 0) : alltoall(in, COUNT, out, COUNT); }},
    {"block-too-long", sendTooMuch},
    {"block-too-short", [] { return alltoallv(in, odd ? 0 : -1, COUNT / 2, out, -1, 0); }},
    {"own-blocks-differ", [] { return alltoallv(in, odd ? rank : -1, 2 * COUNT, out, -1, 0); }},
    {"refused-at-root", refuseAtRoot, "refused at the root"},
    {"skipped", [] { return odd ? MPI_SUCCESS : sumOf(COUNT); }},
    {"not-commuting", useOwnOperation},
    {"late", comeLate},
    {"fatal", failFatally},
};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view name = argv[1];
  form = argv[2][0] == 'b'   ? Form::kBlocking
         : argv[2][0] == 'n' ? Form::kNonblocking
                             : Form::kPersistent;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  odd = rank == size - 1;
  /* A right call, so that what follows is not the first one. */
  if (name != "first-fewer" && name != "refused-at-root") say("before", sumOf(COUNT));
  for (const auto& one : cases) {
    if (one.name != name) continue;
    const int code = one.call();
    if (name != "skipped" || !odd) say(one.what, code);
  }
  /* Where MPI has refused a call of one rank, its next one goes with this one of the others. */
  if (name == "refused" || name == "aliased") {
    say("after", sumOf(COUNT));
  } else if (name != "skipped" && name != "refused-at-root") {
    after();
  }
  MPI_Finalize();
  return 0;
}
