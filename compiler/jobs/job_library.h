// The library of a job that is about to start: the shape that its ranks have, and the folder in the
// user's cache that has the schedules for it.
#ifndef TORC_COMPILER_JOBS_JOB_LIBRARY_H_
#define TORC_COMPILER_JOBS_JOB_LIBRARY_H_

#include <cstdint>
#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "schedules/library/job_mapping.h"
#include "settings/settings.h"

namespace torc::compiler {

/// Where `ranks` ranks lie by the library and the settings, as the job will find; `torus`, unless
/// empty, goes before that of the settings. 0 ranks: as many as the torus, or the only partition,
/// has nodes. Errors: those that the job would report.
llvm::Expected<JobMapping> mappingOf(const Settings& settings, llvm::StringRef torus,
                                     std::uint64_t ranks);

/// Where the ranks of a job lie.
struct JobPlace {
  std::string torus;      // "4x2"
  std::string why;        // "the most cubic box of 8 ranks"
  std::string mapping{};  // the text of a mapping file; empty: none is needed
  std::string library{};  // TORC_LIBRARY; empty: not set
};

/// The place of a job of `ranks` ranks: in the library of TORC_LIBRARY, where that is set; else of
/// the shape of `torus`, where it is given; of the hosts of a job of Slurm, where `machine` or the
/// system's file has their places; of `machine`, where it has as many nodes, or cores; else of the
/// most cubic box. With a torus `ranks` may be 0. Errors: another number of ranks, no number.
llvm::Expected<JobPlace> placeOfJob(std::uint64_t ranks, llvm::StringRef torus,
                                    llvm::StringRef machine);

/// `ranks` nodes in up to three dimensions whose sizes differ least, the largest first: "4x3x2"; a
/// prime number is a ring.
std::string mostCubicBox(std::uint64_t ranks);

/// $XDG_CACHE_HOME/torc/VERSION or ~/.cache/torc/VERSION, which is made. Errors name the variable.
llvm::Expected<std::string> cacheFolder();

/// Sets `folder` to that of the library for `torus` on `machine`, in the cache: one that is there
/// is taken, else it is built, with lines of progress unless `quiet`. A signal ends the build, and
/// leaves nothing. Returns the exit code: 128 and the signal's number then, or that of a fault,
/// after a line.
int cachedLibrary(llvm::StringRef torus, llvm::StringRef machine, bool quiet, std::string& folder);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_JOBS_JOB_LIBRARY_H_
