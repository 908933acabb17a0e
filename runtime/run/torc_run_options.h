// The command line of torc-run.
#ifndef TORC_RUNTIME_RUN_TORC_RUN_OPTIONS_H_
#define TORC_RUNTIME_RUN_TORC_RUN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "schedules/collective.h"
#include "support/status.h"

namespace torc::runtime {

/// An element type that torc-run offers.
struct RunType {
  const char* name;
  MPI_Datatype datatype;
  std::size_t bytes;
  bool floating;
};

/// A predefined operation that torc-run offers.
struct RunOp {
  const char* name;
  MPI_Op op;
  bool rounds;  // floating-point results depend on the order of combining
};

struct RunOptions {
  std::string schedule;                  // path; empty: another of the modes below
  std::optional<Collective> collective;  // the collective to call; none: the schedule's own
  struct Sizes {
    std::uint64_t lowest = 4;          // sizes double from lowest ...
    std::uint64_t highest = 1u << 20;  // ... to highest
  };
  std::vector<Sizes> sizes = {Sizes{}};
  RunType type{};
  RunOp op{};
  int iterations = 0;  // 0: as many as `seconds` allow
  int warmup = 2;
  double seconds = 0.3;  // per size and implementation
  bool check = false;
  bool compare = false;
  int root = 0;
  bool in_place = false;
  bool uneven = false;
  std::string printed;                  // printed instead of a run: help, the version
  std::string tune;                     // path of a library
  std::string output;                   // of its tuned copy
  std::vector<Collective> collectives;  // to tune; none: all
  double minutes = 5;                   // for tuning, the maximum; for calibration, approximate
  bool dedicated_sweep = false;         // measures ratios of dedicated ranks
  std::string calibrate;                // path of the new machine description
  std::string name;                     // of that machine
  std::string torus, order, mapping;    // of the job, as in torc_library_options
  std::string trace;                    // path; empty: none
  std::uint64_t trace_events = 0;       // per rank; 0: torc's default
};

/// Reads the command line. Errors: `--bytes 4x: ...`, one line.
StatusOr<RunOptions> parseRunOptions(int argc, char** argv);

/// The sizes to run, in bytes, multiples of an element, ascending.
std::vector<std::uint64_t> runSizes(const RunOptions& options);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TORC_RUN_OPTIONS_H_
