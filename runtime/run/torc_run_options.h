// The command line of torc-run.
#ifndef TORC_RUNTIME_RUN_TORC_RUN_OPTIONS_H_
#define TORC_RUNTIME_RUN_TORC_RUN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "schedules/collective.h"
#include "support/options.h"
#include "support/status.h"

namespace torc::runtime {

/// An element type that torc-run offers.
struct RunType {
  MPI_Datatype datatype;
  std::size_t bytes;
  bool floating;
};

/// A predefined operation that torc-run offers.
struct RunOp {
  MPI_Op op;
  bool rounds;  // floating-point results depend on the order of combining
};

/// The command line: one row per option, and behind the rows the values that are read from texts.
struct RunOptions {
  static constexpr std::uint64_t kMost = 1'000'000'000;
  static constexpr std::string_view
      kReplay = "Replay: torc-run FILE.torc",
      kTuning = "Tuning: measure a library and MPI, write a copy of the fastest",
      kCalibrating = "Calibrating: measure links, cores and memory, write a machine",
      kDedicated = "Dedicated ranks: measure sums at all ratios";
  static std::string collectiveWords() { return collectiveNames(" ", " "); }

  options::Command command{
      "torc-run", "replay a schedule on MPI ranks, one per node of its torus", nullptr,
      "mpiexec -n 8 torc-run a.torc --bytes 1K:1M --check",
      "0 on success, 1 on a wrong result or a fault in the input, 2 on wrong usage"};
  options::Text schedule{command, {options::kWhat, "[FILE.torc]", "FILE", "The schedule"}};
  options::Text collective_name{
      command,
      {kReplay, "collective", "NAME", "Collective to call; default: the schedule's own", "",
       collectiveWords}};
  options::Text bytes{command,
                      {kReplay, "bytes,sizes", "SIZES",
                       "Sizes of the whole vector, ranges double: 0,24,1K:64K", "4:1M"}};
  options::Word type_name{
      command,
      {kReplay, "type", "float|double|int8|int16|int32|int64|uint8|uint16|uint32|uint64",
       "Element type", "float"}};
  options::Word op_name{
      command, {kReplay, "op", "sum|prod|max|min|land|lor|lxor|band|bor|bxor", "Operation", "sum"}};
  options::Flag check{
      command, {kReplay, "check", "", "Compare results with MPI's, and all ranks bit by bit"}};
  options::Flag compare{
      command, {kReplay, "compare", "", "Time MPI's own collective in turns, print the ratio"}};
  options::Integer root{
      command, {kReplay, "root", "RANK", "Root of the collective", "0"}, 0, kMost};
  options::Flag in_place{command, {kReplay, "in-place", "", "MPI_IN_PLACE"}};
  options::Flag uneven{command, {kReplay, "uneven", "", "Blocks of different sizes"}};
  options::Integer iterations{
      command,
      {kReplay, "iterations", "N", "Of each size; default: by --seconds, 3 to 1000"},
      1,
      kMost};
  options::Text seconds_text{
      command, {kReplay, "seconds", "S", "Of each size, for each of torc and MPI", "0.3"}};
  options::Integer warmup{
      command, {kReplay, "warmup", "N", "Most untimed iterations before", "2"}, 0, kMost};
  options::Text trace{
      command, {kReplay, "trace", "FILE", "Write a trace of all ranks; calls:FILE: of calls only"}};
  options::Integer trace_events{
      command,
      {kReplay, "trace-events", "N", "Last events kept of each rank; default: 100000"},
      1,
      kMost};
  options::Text tune{command,
                     {kTuning, "tune", "LIBRARY", "Library, best built with --candidates"}};
  options::Text output{command, {kTuning, "output,o", "DIR", "The copy, a new folder"}};
  options::Text collective_names{
      command, {kTuning, "collectives", "A,B", "Tune these alone", "", collectiveWords}};
  options::Text minutes_text{
      command, {kTuning, "minutes", "M", "Most minutes; of --calibrate about, default 1", "5"}};
  options::Text torus{command,
                      {kTuning, "torus", "SHAPE", "As TORC_TORUS; of --calibrate default: a ring"}};
  options::Text order{command, {kTuning, "order", "AXES", "As TORC_ORDER"}};
  options::Text mapping{command, {kTuning, "mapping", "FILE", "As TORC_MAPPING"}};
  options::Text calibrate{
      command, {kCalibrating, "calibrate", "FILE", "Description of the machine, a new file"}};
  options::Text name{command,
                     {kCalibrating, "name", "NAME", "Name of the machine; default: the file's"}};
  options::Flag dedicated_sweep{command,
                                {kDedicated, "dedicated-sweep", "",
                                 "With --bytes, default 8, and --iterations, default 200"}};

  struct Sizes {
    std::uint64_t lowest = 4;          // sizes double from lowest ...
    std::uint64_t highest = 1u << 20;  // ... to highest
  };
  std::optional<Collective> collective;  // the collective to call; none: the schedule's own
  std::vector<Collective> collectives;   // to tune; none: all
  std::vector<Sizes> sizes = {Sizes{}};
  RunType type{};
  RunOp op{};
  double seconds = 0.3;  // per size and implementation
  double minutes = 5;    // for tuning, the maximum; for calibration, approximate
  std::string printed;   // printed instead of a run: help, the version

  /// Reads the command line. Errors: `--bytes 4x: ...`, one line.
  Status parse(int argc, char** argv);
  /// Whether results or times are compared with those of MPI's functions, which limits sizes.
  bool comparesWithMpi() const { return check || compare || !tune.empty(); }

 private:
  Status checkCombination();
};

/// The sizes to run, in bytes, multiples of an element, ascending.
std::vector<std::uint64_t> runSizes(const RunOptions& options);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TORC_RUN_OPTIONS_H_
