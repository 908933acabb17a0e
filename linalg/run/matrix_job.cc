#include "linalg/run/matrix_job.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <unistd.h>

#include <mpi.h>

#include "support/options.h"
#include "support/version.h"

namespace torc::linalg {
namespace {

bool readGrid(const std::string& text, Arguments* arguments) {
  int read = 0;
  return std::sscanf(text.c_str(), "%dx%dx%d%n", &arguments->rows, &arguments->columns,
                     &arguments->layers, &read) == 3 &&
         static_cast<std::size_t>(read) == text.size();
}

void showProgress(double done, void*) {
  std::fprintf(stderr, "\r%3.0f %%", 100 * done);
}

using namespace options;

constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
constexpr std::string_view kMatrices = "Matrices", kLayout = "Layout", kRun = "Run";

/// The command lines of torc-gemm and torc-lu: one row per option.
struct CommandLine {
  Command gemm{"torc-gemm", "multiply random matrices by 2.5D SUMMA or Cannon's algorithm", nullptr,
               "mpiexec -n 8 torc-gemm -n 512"};
  Command lu{"torc-lu", "factor a random matrix by 2.5D LU with tournament pivoting, and solve",
             nullptr, "mpiexec -n 8 torc-lu -n 512"};
  Integer m{gemm, {kMatrices, "m", "ROWS", "Rows of C = A B; default: as -n"}, 1, kMost};
  Integer n{
      {&gemm, &lu}, {kMatrices, "n", "N", "Columns of C; of torc-lu size of A", "1000"}, 1, kMost};
  Integer k{gemm, {kMatrices, "k", "INNER", "Columns of A, rows of B; default: as -n"}, 1, kMost};
  Integer sides{lu, {kMatrices, "rhs", "COLUMNS", "Right-hand sides", "1"}, 1, kMost};
  Flag single{{&gemm, &lu}, {kMatrices, "single", "", "float instead of double"}};
  Text grid{{&gemm, &lu},
            {kLayout, "grid", "RxQxC", "Rows, columns, layers; default: fewest words"}};
  Integer block{{&gemm, &lu},
                {kLayout, "block", "SIZE", "Blocks of the block-cyclic layout", "64"},
                1,
                kMost};
  Integer panel{{&gemm, &lu},
                {kLayout, "panel", "COLUMNS", "Most columns of a panel; default: 256"},
                1,
                kMost};
  Integer memory{{&gemm, &lu},
                 {kLayout, "memory", "BYTES", "Memory of a process; limits the layers"},
                 1,
                 std::numeric_limits<std::int64_t>::max()};
  Flag cannon{gemm, {kRun, "cannon", "", "Cannon's algorithm: whole parts go to neighbours"}};
  Flag no_pivoting{lu, {kRun, "no-pivoting", "", "No pivoting, of a matrix with a large diagonal"}};
  Integer repeat{{&gemm, &lu}, {kRun, "repeat", "TIMES", "Calls", "1"}, 1, kMost};
  Flag barriers{{&gemm, &lu}, {kRun, "barriers", "", "Measure idle time apart, by barriers"}};
  Flag check{{&gemm, &lu}, {kRun, "check", "", "Compare with ScaLAPACK on all ranks"}};
};

/// The arguments of the command line. Errors are one line.
StatusOr<Arguments> argumentsOf(const CommandLine& line) {
  Arguments arguments;
  if (line.grid.isGiven() && !readGrid(line.grid, &arguments))
    return Status(StatusCode::kInvalidArgument,
                  "--grid " + line.grid + ": it is ROWSxCOLUMNSxLAYERS");
  const auto number = [](const Integer& option) { return static_cast<std::int64_t>(option); };
  arguments.n = number(line.n);
  arguments.m = line.m.isGiven() ? number(line.m) : arguments.n;
  arguments.k = line.k.isGiven() ? number(line.k) : arguments.n;
  arguments.block = number(line.block);
  arguments.panel = line.cannon ? std::int64_t{TORC_LINALG_CANNON} : number(line.panel);
  arguments.sides = number(line.sides);
  arguments.memory = number(line.memory);
  arguments.repeat = static_cast<int>(line.repeat);
  arguments.single = line.single;
  arguments.pivoting = !line.no_pivoting;
  arguments.check = line.check;
  arguments.barriers = line.barriers;
  return arguments;
}

}  // namespace

int runProgram(const char* name, int argc, char** argv,
               const std::function<int(const Arguments&)>& run) {
  MPI_Init(&argc, &argv);
  const std::span<char* const> words(argv + 1, argv + argc);
  CommandLine line;
  Command& command = line.gemm.name() == name ? line.gemm : line.lu;
  int result = 0;
  if (asksFor("help", words)) {
    say("%s\nRun it by mpiexec.hydra -n RANKS %s.\n"
        "Exit: 0 all right, 1 a wrong result or a fault, 2 wrong usage.\n",
        command.help(name, columnsOfHelp()).c_str(), name);
  } else if (asksFor("version", words)) {
    say("%s %s\n", name, kVersion.data());
  } else if (asksFor("table", words)) {
    say("%s", command.table().c_str());
  } else {
    const Status status = command.parse(words, name);
    const StatusOr<Arguments> arguments = status.ok() ? argumentsOf(line) : status;
    if (!arguments.ok() && worldRank() == 0)
      std::fprintf(stderr, "%s: %s\n", name, arguments.status().message().c_str());
    result = arguments.ok() ? run(*arguments) : 2;
  }
  MPI_Finalize();
  return result;
}

int worldRank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int worldSize() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void say(const char* format, ...) {
  if (worldRank() != 0) return;
  std::va_list list;
  va_start(list, format);
  std::vprintf(format, list);
  va_end(list);
  std::fflush(stdout);
}

void require(int result) {
  if (result == TORC_LINALG_OK) return;
  if (worldRank() == 0)
    std::fprintf(stderr, "%s: %s\n", torc_linalg_result_name(result), torc_linalg_error_message());
  MPI_Finalize();
  std::exit(1);
}

std::int64_t leadingOf(torc_linalg_grid* grid, const torc_linalg_matrix& matrix) {
  std::int64_t rows = 0, columns = 0;
  require(torc_linalg_local_size(grid, &matrix, &rows, &columns));
  return std::max<std::int64_t>(1, rows);
}

template <typename T>
std::vector<T> randomMatrix(torc_linalg_grid* grid, const torc_linalg_matrix& matrix, int number) {
  torc_linalg_grid_info info;
  require(torc_linalg_grid_query(grid, &info));
  std::int64_t rows = 0, columns = 0;
  require(torc_linalg_local_size(grid, &matrix, &rows, &columns));
  const auto global = [](std::int64_t local, std::int64_t block, int processes, int process) {
    return (local / block * processes + process) * block + local % block;
  };
  std::vector<T> data(static_cast<std::size_t>(rows * columns));
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i)
      data[static_cast<std::size_t>(i + j * rows)] = static_cast<T>(
          randomElement(global(i, matrix.row_block, info.rows, info.row),
                        global(j, matrix.column_block, info.columns, info.column), number));
  }
  return data;
}

template std::vector<double> randomMatrix(torc_linalg_grid*, const torc_linalg_matrix&, int);
template std::vector<float> randomMatrix(torc_linalg_grid*, const torc_linalg_matrix&, int);

torc_linalg_options optionsOf(const Arguments& arguments, torc_linalg_times* times) {
  torc_linalg_options options = {};
  options.panel = arguments.panel;
  options.memory = arguments.memory;
  options.barriers = arguments.barriers ? 1 : 0;
  options.times = times;
  if (worldRank() == 0 && isatty(STDERR_FILENO) != 0) options.progress = showProgress;
  return options;
}

void sayTimes(const char* what, double seconds, double flops, const torc_linalg_times& times) {
  double sums[3] = {times.compute, times.communicate, times.idle};
  MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double ranks = worldSize();
  if (worldRank() == 0 && isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r      \r");
  say("%s: %.4f s, %.3f Gflop/s; compute %.4f s, communicate %.4f s, idle %.4f s\n", what, seconds,
      flops / seconds / 1e9, sums[0] / ranks, sums[1] / ranks, sums[2] / ranks);
}

}  // namespace torc::linalg
