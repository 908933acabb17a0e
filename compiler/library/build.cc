// Runs the tasks of a build and collects their results.
#include "compiler/library/build.h"

#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/FileSystem.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/library/folder.h"
#include "compiler/tool.h"
#include "ir/make_error.h"
#include "schedules/format/file.h"
#include "support/version.h"
#include "support/work_queue.h"

namespace torc::compiler {
namespace {

/// The files of a library under construction, each written once.
class FileStore {
 public:
  explicit FileStore(const std::string& folder) : folder_(folder) {}

  llvm::Error put(const std::string& name, std::span<const std::byte> bytes) {
    LibraryFile file{.name = name, .bytes = bytes.size(), .checksum = checksumOf(bytes)};
    {
      const std::lock_guard lock(mutex_);
      const auto [entry, is_new] = files_.try_emplace(name, std::move(file));
      if (!is_new) return llvm::Error::success();
    }
    return toError(writeFileAtomically(libraryFilePath(folder_, name), bytes));
  }

  /// The files with these `names`; the others are removed.
  llvm::Expected<std::vector<LibraryFile>> keep(const std::set<std::string>& names) {
    std::vector<LibraryFile> files;
    for (const auto& [name, file] : files_) {
      if (names.contains(name)) {
        files.push_back(file);
      } else if (const auto error = llvm::sys::fs::remove(libraryFilePath(folder_, name))) {
        return llvm::createStringError(error,
                                       libraryFilePath(folder_, name) + ": " + error.message());
      }
    }
    return files;
  }

 private:
  const std::string& folder_;
  std::mutex mutex_;
  std::map<std::string, LibraryFile> files_;
};

/// Shapes with the most ranks first: the longest tasks begin first, so that threads finish
/// together.
std::vector<std::uint32_t> bySize(const LibraryShapes& plan) {
  std::vector<std::uint32_t> order(plan.shapes.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return plan.shapes[a].topology.ranks() > plan.shapes[b].topology.ranks();
  });
  return order;
}

LibraryIndex indexOf(const LibraryShapes& plan, const model::Machine& machine) {
  LibraryIndex index;
  index.machine = machine.name;
  index.version = kVersion;
  index.partitions = plan.partitions;
  for (const PlannedShape& shape : plan.shapes)
    index.shapes.push_back({shape.topology});
  index.sub_tori = plan.sub_tori;
  return index;
}

/// The collective whose schedules serve `collective` there: itself, or its rootless form;
/// std::nullopt: it falls back to MPI.
std::optional<Collective> compiledFor(Collective collective, const Topology& topology) {
  if (isServed({collective, topology})) return collective;
  return servingRootless({collective, topology});
}

/// The number of a file in the index.
std::uint32_t fileNumber(const LibraryIndex& index, const std::string& name) {
  const auto file = llvm::lower_bound(
      index.files, name,
      [](const LibraryFile& of, const std::string& wanted) { return of.name < wanted; });
  return static_cast<std::uint32_t>(file - index.files.begin());
}

/// Adds the spares that serve none of the ranges.
void addCandidates(std::uint32_t shape, Collective collective,
                   const std::vector<ScheduleRange>& ranges, BuiltLibrary& library) {
  std::map<std::string, std::string> spares;  // descriptions by file
  for (const ScheduleRange& range : ranges) {
    for (const SpareSchedule& spare : range.spares)
      spares.try_emplace(spare.file, spare.description);
  }
  for (const ScheduleRange& range : ranges)
    spares.erase(range.file_name);
  for (const auto& [file, description] : spares) {
    library.index.candidates.push_back({shape, collective, fileNumber(library.index, file)});
    library.candidates.push_back(description);
  }
}

/// Adds an entry for each of the ranges; the index has their files.
void addEntries(std::uint32_t shape, Collective collective, std::vector<ScheduleRange> ranges,
                BuiltLibrary& library) {
  for (ScheduleRange& range : ranges) {
    range.shape = shape;
    range.collective = collective;
    range.file = fileNumber(library.index, range.file_name);
    library.index.entries.push_back(range);
    library.ranges.push_back(std::move(range));
  }
}

}  // namespace

llvm::Expected<BuiltLibrary> buildLibrary(const LibraryShapes& plan, const model::Machine& machine,
                                          const LibrarySettings& settings,
                                          llvm::StringRef destination, unsigned jobs,
                                          Progress& progress) {
  llvm::Expected<LibraryFolder> folder = LibraryFolder::create(destination);
  if (!folder) return folder.takeError();
  FileStore files(folder->path());
  const FileSink sink = [&](const std::string& name, std::span<const std::byte> bytes) {
    return files.put(name, bytes);
  };
  WorkQueue queue;
  using Served = std::pair<std::uint32_t, Collective>;  // a shape, and the called collective
  std::map<Served, RangeFinder> finders;
  std::map<Served, const RangeFinder*> finder_of;
  for (const std::uint32_t shape : bySize(plan)) {
    for (const Collective collective : settings.collectives) {
      const std::optional<Collective> compiled =
          compiledFor(collective, plan.shapes[shape].topology);
      if (!compiled) continue;
      auto [finder, is_new] =
          finders.try_emplace({shape, *compiled}, plan.shapes[shape], *compiled, settings.sizes,
                              settings.candidates, sink, queue, progress);
      if (is_new) finder->second.start();
      finder_of[{shape, collective}] = &finder->second;
    }
  }
  queue.run(jobs);
  progress.clear();
  for (const auto& [what, finder] : finders) {
    if (finder.error().empty()) continue;
    return makeError(llvm::Twine(finder.error()));
  }

  BuiltLibrary library{indexOf(plan, machine), {}, {}};
  std::map<Served, std::vector<ScheduleRange>> ranges;
  std::set<std::string> used;
  for (const auto& [what, finder] : finder_of) {
    for (const ScheduleRange& range : ranges[what] = finder->rangesFor(what.second)) {
      used.insert(range.file_name);
      for (const SpareSchedule& spare : range.spares)
        used.insert(spare.file);
    }
  }
  llvm::Expected<std::vector<LibraryFile>> kept = files.keep(used);
  if (!kept) return kept.takeError();
  library.index.files = std::move(*kept);
  for (auto& [what, of_it] : ranges) {
    addCandidates(what.first, what.second, of_it, library);
    addEntries(what.first, what.second, std::move(of_it), library);
  }
  const std::string manifest =
      manifestText(library.index, machine, settings, library.ranges, library.candidates);
  if (llvm::Error error = folder->writeLists(manifest, library.index)) return error;
  llvm::Expected<LibraryLock> lock = LibraryLock::take(destination);
  if (!lock) consumeError(lock.takeError());  // there is no library yet
  if (llvm::Error error = folder->publish()) return error;
  return library;
}

}  // namespace torc::compiler
