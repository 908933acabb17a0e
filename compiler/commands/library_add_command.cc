// torc library add DIR FILE...: adds users' schedules to an existing library.
#include <csignal>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>

#include "compiler/commands/commands.h"
#include "compiler/library/add.h"
#include "compiler/library/manifest.h"
#include "compiler/sizes.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace library_add_command {

using namespace options;

int run();
Command command("library add", "let schedules of your own serve in a library", run,
                "torc library add lib a.torc --bytes 64K:1M");
Text path{command, kFolderRow};
List files{command, {kWhat, "FILE...", "FILE", "Schedules"}};
Text collective{command,
                {kWhat, "collective", "NAME", "Serve this one; default: the schedule's own", "",
                 collectiveWords}};
List sizes{command,
           {kMachine, "bytes", "N[:[N]]",
            "Sizes it serves, as 64K:1M, 64K: or 0; one, or one a file", "1:"}};
Flag quiet{command, kQuietRow};

/// Parses sizes like "64K:1M", "64K:", "0".
void readSizes(llvm::StringRef text, Addition& addition) {
  llvm::StringRef lowest = text;
  const bool is_open = lowest.consume_back(":");
  const SizeRange range = orUsageFault(parseSizeRange(is_open ? lowest : text, "--bytes"));
  addition.lowest = range.lowest;
  addition.highest = is_open ? kOpenEnd : range.highest;
  if (addition.lowest == kNoSize && addition.highest != kNoSize) {
    wrongUsage("--bytes " + text +
               ": 0 is for calls without a size and stands alone; sizes begin at 1");
  }
}

std::vector<Addition> readAdditions() {
  if (path.empty() || files.empty())
    wrongUsage("library add: which folder, and which files? torc library add DIR FILE...");
  if (sizes.size() > 1 && sizes.size() != files.size()) {
    wrongUsage("--bytes is given once, or once for each file: " + llvm::Twine(sizes.size()) +
               " times for " + llvm::Twine(files.size()) +
               (files.size() == 1 ? " file" : " files"));
  }
  std::vector<Addition> additions;
  for (const std::string& file : files) {
    Addition addition;
    addition.path = file;
    if (!collective.empty()) addition.collective = orUsageFault(parseCollective(collective));
    if (!sizes.empty()) {
      const std::size_t number = sizes.size() == 1 ? 0 : additions.size();
      readSizes(sizes[number], addition);
    }
    additions.push_back(std::move(addition));
  }
  return additions;
}

/// Prints the added ranges, with new and previous times.
void printSummary(const AddedToLibrary& added) {
  llvm::raw_ostream& out = llvm::errs();
  for (const AddedRange& range : added.ranges) {
    const LibraryEntry& entry = range.entry;
    out << rowOf(entry.collective).name << " on "
        << added.index.shapes[entry.shape].topology.shape() << ", " << rangeText(entry) << ": "
        << range.path
        << llvm::format(", predicted %.2f..%.2f us; ", 1e6 * entry.lowest_s, 1e6 * entry.highest_s);
    if (range.before_s) {
      out << llvm::format("before %.2f..%.2f us\n", 1e6 * range.before_s->first,
                          1e6 * range.before_s->second);
    } else {
      out << "before, MPI's own\n";
    }
  }
  out << path << ": " << librarySummary(added.index) << '\n';
}

int run() {
  const std::vector<Addition> additions = readAdditions();
  // A limit on the size of files is a write error, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  Progress progress(quiet);
  llvm::Expected<AddedToLibrary> added_or = addToLibrary(path, additions, progress);
  progress.clear();
  const AddedToLibrary added = orInputFault(std::move(added_or));
  if (!quiet) printSummary(added);
  return kSuccess;
}

}  // namespace library_add_command

options::Command& kLibraryAddCommand = library_add_command::command;

}  // namespace torc::compiler
