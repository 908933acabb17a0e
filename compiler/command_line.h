// The command line of torc and torc-model: selects the command, prints --help and --version, and
// ends the program; rows of options that several commands have.
#ifndef TORC_COMPILER_COMMAND_LINE_H_
#define TORC_COMPILER_COMMAND_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>

#include "support/options.h"

namespace torc::compiler {

/// The result of a program's main(): the exit code of `run`, or of a `CommandEnd`. If memory runs
/// out, prints one line and returns the exit code of a fault. Messages name the program `name`.
int runProgram(const char* name, llvm::function_ref<int()> run);

/// Runs the command named by the first one or two words, and returns the exit code. `about` is the
/// head of --help.
int runCommand(llvm::ArrayRef<options::Command*> commands, std::string_view about,
               llvm::ArrayRef<const char*> words);

/// Values to complete: presets of machines, names of collectives.
std::string machineWords();
std::string collectiveWords();

inline constexpr options::Row
    kFileRow = {options::kWhat, "FILE", "FILE", "The schedule"},
    kFilesRow = {options::kWhat, "FILE...", "FILE", "Schedules"},
    kFolderRow = {options::kWhat, "DIR", "DIR", "The library"},
    kCollectiveRow = {options::kWhat, "COLLECTIVE", "NAME", "The collective", "", collectiveWords},
    kCountRow = {options::kWhat, "count", "N",
                 "With --rank: elements of the vector, or of each block", "1000"},
    kTorusRow = {options::kMachine, "torus", "SHAPE",
                 "Shape, as 8x8x8; 8x8x4m: Z is a mesh; 8x8+4: 4 cores"},
    kOrderRow = {options::kMachine, "order", "AXES",
                 "Order of ranks, fastest axis first; default: XYZ...T"},
    kMachineRow = {options::kMachine, "machine", "NAME", "A preset (torc machines) or a file", "",
                   machineWords},
    kDeadLinkRow = {options::kMachine, "dead-link", "X,Y,Z:AXIS",
                    "A dead cable, from a node up an axis, as 0,0,1:Z; repeatable"},
    kDeadNodeRow = {options::kMachine, "dead-node", "X,Y,Z", "A dead node, as 1,2,3; repeatable"},
    kBytesRow = {options::kMachine, "bytes", "N[:N]",
                 "Size, or range of sizes; else what the file was chosen for", "1M"},
    kJobsRow = {options::kOutput, "jobs", "N", "Threads; default: one for each core"},
    kJsonRow = {options::kOutput, "json", "", "Print JSON"},
    kCsvRow = {options::kOutput, "csv", "",
               "Print a line of keys and a row of values each, as CSV"},
    kQuietRow = {options::kOutput, "quiet", "", "Print no progress and no summary"};

inline constexpr std::uint64_t kMostJobs = 1024, kHighestRank = 0x7fffffff,
                               kHighestCount = UINT64_MAX;

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMAND_LINE_H_
