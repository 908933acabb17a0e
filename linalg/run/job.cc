#include "linalg/run/job.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <unistd.h>

#include <mpi.h>

#include "support/version.h"

namespace torc::linalg {
namespace {

/// A whole number from `least` on, with K, M or G of 1024; false where `text` is none.
bool readNumber(const std::string& text, std::int64_t least, std::int64_t* number) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  std::string unit = end;
  int shift = 0;
  if (!unit.empty()) {
    const std::size_t power = std::string("KMG").find(unit);
    if (power == std::string::npos || unit.size() > 1) return false;
    shift = 10 * (static_cast<int>(power) + 1);
  }
  if (text.empty() || end == text.c_str() || value < least ||
      value > (std::numeric_limits<std::int64_t>::max() >> shift))
    return false;
  *number = static_cast<std::int64_t>(value) << shift;
  return true;
}

bool readGrid(const std::string& text, Arguments* arguments) {
  int read = 0;
  return std::sscanf(text.c_str(), "%dx%dx%d%n", &arguments->rows, &arguments->columns,
                     &arguments->layers, &read) == 3 &&
         static_cast<std::size_t>(read) == text.size();
}

void showProgress(double done, void*) {
  std::fprintf(stderr, "\r%3.0f %%", 100 * done);
}

}  // namespace

std::string Arguments::parse(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--single" || name == "--check" || name == "--barriers" ||
        name == "--no-pivoting" || name == "--cannon" || name == "--help" || name == "--version") {
      single |= name == "--single";
      check |= name == "--check";
      barriers |= name == "--barriers";
      help |= name == "--help";
      version |= name == "--version";
      if (name == "--cannon") panel = TORC_LINALG_CANNON;
      pivoting &= name != "--no-pivoting";
      continue;
    }
    if (i + 1 == argc) return name + ": unknown, or its value is missing; --help lists the options";
    const std::string value = argv[++i];
    if (name == "--grid") {
      if (!readGrid(value, this)) return "--grid " + value + ": it is ROWSxCOLUMNSxLAYERS";
      continue;
    }
    std::int64_t times = 1;
    std::int64_t* const number = name == "-m"         ? &m
                                 : name == "-n"       ? &n
                                 : name == "-k"       ? &k
                                 : name == "--block"  ? &block
                                 : name == "--panel"  ? &panel
                                 : name == "--rhs"    ? &sides
                                 : name == "--memory" ? &memory
                                 : name == "--repeat" ? &times
                                                      : nullptr;
    if (number == nullptr) return name + ": unknown; --help lists the options";
    if (!readNumber(value, 1, number))
      return name + " " + value + ": a whole number from 1 is wanted; K, M, G are units of 1024";
    if (std::max({m, n, k, block, sides, times}) > std::numeric_limits<int>::max())
      return name + " " + value + ": it is less than 2^31";
    if (name == "--repeat") repeat = static_cast<int>(times);
  }
  n = n == 0 ? 1000 : n;
  m = m == 0 ? n : m;
  k = k == 0 ? n : k;
  return "";
}

int runProgram(const char* name, const char* help, int argc, char** argv,
               const std::function<int(const Arguments&)>& run) {
  MPI_Init(&argc, &argv);
  Arguments arguments;
  const std::string fault = arguments.parse(argc, argv);
  int result = 0;
  if (!fault.empty()) {
    if (worldRank() == 0) std::fprintf(stderr, "%s: %s\n", name, fault.c_str());
    result = 2;
  } else if (arguments.help) {
    say("%s", help);
  } else if (arguments.version) {
    say("%s %s\n", name, kVersion.data());
  } else {
    result = run(arguments);
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
