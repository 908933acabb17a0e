// A program that ends in the way of its argument, mostly without MPI_Finalize, like programs on
// their error paths. Its earlier output is the same with torc and without.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <mpi.h>

namespace {

std::string_view kind;
int rank = 0, size = 1;

void say(const char* what) {
  std::printf("rank %d: %s\n", rank, what);
  std::fflush(stdout);
}

int sum() {
  int one = 1, all = 0;
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// Constructed before main() begins, and destroyed when the process ends: after what main() has
/// made.
struct EndsLate {
  ~EndsLate() {
    if (kind != "destructor") return;
    double numbers[3] = {1, 2, 3};
    MPI_Allreduce(MPI_IN_PLACE, numbers, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (numbers[2] == 3.0 * size) say("summed in a destructor");
    MPI_Finalize();
  }
} ends_late;

void finalize() {
  if (sum() == size) say("summed at exit");
  MPI_Finalize();
}

void exitInOperation(void*, void*, int*, MPI_Datatype*) {
  std::exit(5);
}

/// A child process that ends by `end`; how it has ended.
template <typename End>
void inChild(End end) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) end();
  int status = -1;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 7) say("the child has ended");
}

[[noreturn]] void endBySignal(int number) {
  raise(number);
  std::abort();
}

/// False: the program is to finalize MPI.
bool end() {
  static int from[1 << 16], to[1 << 16];
  if (kind == "exit") std::exit(3);
  if (kind == "return") return true;
  if (kind == "quick_exit") std::quick_exit(3);
  if (kind == "_exit") _exit(3);
  if (kind == "abort") std::abort();
  if (kind == "terminate") std::terminate();
  if (kind == "SIGTERM") endBySignal(SIGTERM);
  if (kind == "SIGSEGV") endBySignal(SIGSEGV);
  if (kind == "MPI_Abort") {
    if (rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 9);
    sleep(60);
  }
  if (kind == "other_thread") {
    std::thread([] { std::exit(3); }).detach();
    for (;;)
      pause();
  }
  if (kind == "under_way") {
    MPI_Request request;
    MPI_Iallreduce(from, to, 1 << 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    std::exit(3);
  }
  if (kind == "operation") {
    MPI_Op op;
    MPI_Op_create(exitInOperation, 1, &op);
    MPI_Request request;
    MPI_Iallreduce(from, to, 1 << 10, MPI_INT, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (kind == "atexit") {
    std::atexit(finalize);
    std::exit(0);
  }
  if (kind == "destructor") return true;
  if (kind == "fork") {
    inChild([] { std::exit(7); });
    inChild([] { _exit(7); });
    inChild([] { std::quick_exit(7); });
    inChild([] { execlp("sh", "sh", "-c", "exit 7", nullptr); });
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  kind = argc > 1 ? argv[1] : "";
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (sum() == size) say("summed");
  // Launchers end a job when its first rank ends without MPI_Finalize: all have printed by then.
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(100000);
  if (end()) return 4;
  if (sum() == size) say("goes on");
  MPI_Finalize();
  return 0;
}
