// Assigns sizes to users' schedules, in a copy of the library that replaces it.
#include "compiler/library/add.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <llvm/ADT/STLExtras.h>
#include <nlohmann/json.hpp>

#include "compiler/library/folder.h"
#include "compiler/library/library_shapes.h"
#include "compiler/library/manifest.h"
#include "compiler/library/own_schedule.h"
#include "compiler/library/served_range.h"
#include "compiler/target.h"
#include "compiler/tool.h"
#include "ir/thrown.h"
#include "model/simulator/simulator.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

constexpr llvm::StringRef kAdded = "added: ";

class Adder {
 public:
  Adder(Library library, Progress& progress)
      : old_(std::move(library)), index_(old_.index), progress_(progress) {
    for (std::size_t i = 0; i < old_.index.entries.size(); ++i)
      entries_.push_back({old_.index.entries[i], i});
    for (std::size_t i = 0; i < old_.index.tuned.size(); ++i)
      tuned_.push_back({old_.index.tuned[i], i});
    for (std::size_t i = 0; i < old_.index.candidates.size(); ++i)
      candidates_[old_.index.candidates[i]] = scheduleOf(old_, i);
  }

  // Errors are thrown.
  void add(const Addition& addition);
  /// Writes the library with the additions.
  AddedToLibrary write(LibraryFolder& folder);

 private:
  void addOn(std::uint32_t shape, const OwnSchedule& own, const Addition& addition);
  void checkNew(const LibraryEntry& entry, const OwnSchedule& own) const;
  model::Machine machineOf(std::uint32_t shape) const;
  std::uint32_t numberOf(const std::string& name, std::vector<std::byte> bytes);
  std::optional<std::pair<double, double>> secondsBefore(const LibraryEntry& entry) const;
  void takeSizes(const LibraryEntry& entry);
  bool serves(const LibraryCandidate& candidate) const;
  bool isMeasured(const LibraryCandidate& candidate) const;
  void settleIndex();
  void sortFiles();
  std::vector<Json> factsOfEntries() const;

  const Library old_;
  LibraryIndex index_;  // files keep their old numbers, new ones follow
  Progress& progress_;
  std::vector<ServedRange> entries_, tuned_;
  std::map<LibraryCandidate, std::string> candidates_;  // with descriptions
  std::map<std::string, std::vector<std::byte>> written_;
  std::vector<AddedRange> added_;
};

/// The number at `key`; 0 if there is none.
std::uint64_t numberIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

/// The file of an entry or of a measurement, as a candidate.
template <typename Thing>
LibraryCandidate candidateOf(const Thing& thing) {
  return {thing.shape, thing.collective, thing.file};
}

std::string rangeOn(const LibraryIndex& index, const LibraryEntry& entry) {
  return std::string(rowOf(entry.collective).name) + " on " +
         index.shapes[entry.shape].topology.shape() + ", " + rangeText(entry) + " bytes";
}

void Adder::add(const Addition& addition) {
  progress_.begin("reading " + addition.path);
  const OwnSchedule own = orThrow(OwnSchedule::read(addition.path));
  const Collective collective = addition.collective.value_or(own.view().collective);
  const CollectiveRow& row = rowOf(collective);
  if (own.view().collective != collective && own.view().collective != row.rootless) {
    throwError(addition.path + ": is one for " + std::string(rowOf(own.view().collective).name) +
               ", which does not do for " + std::string(row.name));
  }
  if (addition.highest == kNoSize && row.blocks == BlockSpace::kNode && !row.reduces()) {
    throwError(addition.path + ": no call of " + std::string(row.name) + " is without a size");
  }
  for (const std::uint32_t shape : orThrow(own.shapesIn(old_.index)))
    addOn(shape, own, addition);
}

/// Adds the schedule for one shape.
void Adder::addOn(std::uint32_t shape, const OwnSchedule& own, const Addition& addition) {
  const Topology& topology = index_.shapes[shape].topology;
  progress_.begin("proving " + addition.path);
  const ProvedFile file = orThrow(own.provedFor(topology));
  const ScheduleView& schedule = file.schedule.view();
  LibraryEntry entry;
  entry.shape = shape;
  entry.collective = addition.collective.value_or(schedule.collective);
  entry.lowest = addition.lowest;
  entry.highest = addition.highest;
  entry.predicted_to =
      addition.highest != kOpenEnd
          ? addition.highest
          : std::max(addition.lowest, numberIn(old_.manifest.value("settings", Json()), "highest"));
  entry.reason = kAdded.str() + own.description();
  entry.file =
      numberOf(libraryFileName(schedule.collective, topology, checksumOf(file.bytes)), file.bytes);
  if (Status status = checkServes(index_, entry, schedule); !status.ok())
    throwError(addition.path + ": " + status.message());
  checkNew(entry, own);

  progress_.begin("simulating " + addition.path);
  const model::Machine machine = machineOf(shape);
  for (const auto& [bytes, seconds] : {std::pair(entry.lowest, &entry.lowest_s),
                                       std::pair(entry.predicted_to, &entry.highest_s)}) {
    model::SimulateOptions options;
    options.bytes =
        static_cast<double>(std::max(bytes, leastModelled(entry.collective, schedule.topology)));
    llvm::Expected<model::SimulateResult> result = model::simulate(schedule, machine, options);
    if (!result) throwError(addition.path + ": " + toString(result.takeError()));
    *seconds = result->makespan_s;
  }
  added_.push_back({addition.path, entry, secondsBefore(entry)});
  takeSizes(entry);
}

/// An error if an earlier addition serves some of its sizes, or if the library's entries with this
/// schedule serve all of them.
void Adder::checkNew(const LibraryEntry& entry, const OwnSchedule& own) const {
  const auto meets = [&](const LibraryEntry& other) {
    return other.shape == entry.shape && other.collective == entry.collective &&
           other.lowest <= entry.highest && entry.lowest <= other.highest;
  };
  for (const AddedRange& before : added_) {
    if (!meets(before.entry)) continue;
    if (before.path == own.path()) throwError(own.path() + ": is there twice");
    if (before.entry.file == entry.file) {
      throwError(own.path() + ": is the same schedule as " + before.path +
                 ", and for the same sizes");
    }
    throwError(own.path() + ": is for " + rangeOn(index_, entry) + ", as is " + before.path);
  }
  const auto isOld = [&](const LibraryEntry& other) {
    return meets(other) && other.file == entry.file && other.lowest <= entry.lowest &&
           entry.highest <= other.highest;
  };
  const bool is_tuned_away = llvm::any_of(old_.index.tuned, [&](const LibraryEntry& other) {
    return meets(other) && other.file != entry.file;
  });
  if (llvm::any_of(old_.index.entries, isOld) && !is_tuned_away)
    throwError(own.path() + ": serves " + rangeOn(index_, entry) + " already");
}

/// The machine of the first sub-torus of a shape.
model::Machine Adder::machineOf(std::uint32_t shape) const {
  const LibrarySubTorus& sub_torus =
      *llvm::find_if(index_.sub_tori, [&](const auto& of) { return of.shape == shape; });
  const Topology& partition = index_.partitions[sub_torus.partition].topology;
  const model::Machine whole = orThrow(model::parseMachine(
      old_.manifest.value("machine", Json()).dump(), manifestPath(old_.path) + ": machine"));
  model::Machine machine = orThrow(model::partitionOf(whole, partition.shape()));
  machine.dead_links.assign(partition.deadLinks().begin(), partition.deadLinks().end());
  machine.dead_nodes.assign(partition.deadNodes().begin(), partition.deadNodes().end());
  return subTorusMachine({std::move(machine), partition}, sub_torus.extents, sub_torus.axes);
}

/// The number of the file of that name; a new file is added.
std::uint32_t Adder::numberOf(const std::string& name, std::vector<std::byte> bytes) {
  const auto known =
      llvm::find_if(index_.files, [&](const LibraryFile& file) { return file.name == name; });
  const auto number = static_cast<std::uint32_t>(known - index_.files.begin());
  if (known == index_.files.end()) {
    index_.files.push_back({name, bytes.size(), checksumOf(bytes)});
    written_[name] = std::move(bytes);
  }
  return number;
}

/// Previous times at the first and the last predicted size of an entry; std::nullopt if one was not
/// served.
std::optional<std::pair<double, double>> Adder::secondsBefore(const LibraryEntry& entry) const {
  std::pair<double, double> seconds;
  for (const auto& [bytes, of] :
       {std::pair(entry.lowest, &seconds.first), std::pair(entry.predicted_to, &seconds.second)}) {
    const auto serves = [&](const LibraryEntry& other) {
      return other.shape == entry.shape && other.collective == entry.collective &&
             other.lowest <= bytes && bytes <= other.highest;
    };
    const auto before = llvm::find_if(old_.index.entries, serves);
    if (before == old_.index.entries.end()) return std::nullopt;
    *of = secondsAt(*before, bytes);
  }
  return seconds;
}

/// Assigns the entry its sizes.
void Adder::takeSizes(const LibraryEntry& entry) {
  entries_ = withoutSizes(entries_, entry);
  tuned_ = withoutSizes(tuned_, entry);
  entries_.push_back({entry, std::nullopt});
  llvm::sort(entries_, [](const ServedRange& a, const ServedRange& b) {
    return std::tie(a.entry.shape, a.entry.collective, a.entry.lowest) <
           std::tie(b.entry.shape, b.entry.collective, b.entry.lowest);
  });
}

/// Whether the candidate serves a size.
bool Adder::serves(const LibraryCandidate& candidate) const {
  return llvm::any_of(entries_, [&](const ServedRange& range) {
    return candidateOf(range.entry) == candidate && range.entry.highest != kNoSize;
  });
}

/// Whether tuning has measured the candidate.
bool Adder::isMeasured(const LibraryCandidate& candidate) const {
  const auto names = [&](const auto& other) { return candidateOf(other) == candidate; };
  return llvm::any_of(index_.measurements, names) || llvm::any_of(old_.index.tuned, names);
}

/// Puts entries and candidates into the index. A schedule that has lost its last size becomes a
/// candidate, except for a replaced addition.
void Adder::settleIndex() {
  for (const LibraryEntry& entry : old_.index.entries) {
    const LibraryCandidate candidate = candidateOf(entry);
    if (entry.highest == kNoSize || (isAdded(entry) && !isMeasured(candidate))) continue;
    candidates_.try_emplace(candidate, llvm::StringRef(entry.reason).split(';').first.str());
  }
  index_.entries.clear();
  for (const ServedRange& range : entries_)
    index_.entries.push_back(range.entry);
  index_.tuned.clear();
  for (const ServedRange& range : tuned_)
    index_.tuned.push_back(range.entry);
  std::erase_if(candidates_, [&](const auto& candidate) { return serves(candidate.first); });
  sortFiles();
}

/// Drops unused files, and numbers the others by name.
void Adder::sortFiles() {
  std::set<std::uint32_t> used;
  const auto use = [&](const auto& things) {
    for (const auto& thing : things)
      used.insert(thing.file);
  };
  use(index_.entries);
  use(llvm::make_first_range(candidates_));
  use(index_.tuned);
  use(index_.measurements);
  used.erase(kMpisOwn);
  std::map<std::string, std::uint32_t> old_numbers;
  for (const std::uint32_t number : used)
    old_numbers[index_.files[number].name] = number;
  std::map<std::uint32_t, std::uint32_t> numbers = {{kMpisOwn, kMpisOwn}};
  std::vector<LibraryFile> files;
  for (const auto& [name, number] : old_numbers) {
    numbers[number] = static_cast<std::uint32_t>(files.size());
    files.push_back(index_.files[number]);
  }
  index_.files = std::move(files);
  const auto renumber = [&](auto& things) {
    for (auto& thing : things)
      thing.file = numbers.at(thing.file);
  };
  renumber(index_.entries);
  renumber(index_.tuned);
  renumber(index_.measurements);
  llvm::sort(index_.measurements, [](const LibraryMeasurement& a, const LibraryMeasurement& b) {
    return std::tie(a.shape, a.collective, a.bytes, a.file) <
           std::tie(b.shape, b.collective, b.bytes, b.file);
  });
  std::map<LibraryCandidate, std::string> candidates;
  for (const auto& [candidate, what] : candidates_) {
    LibraryCandidate renumbered = candidate;
    renumbered.file = numbers.at(candidate.file);
    candidates[renumbered] = what;
  }
  candidates_ = std::move(candidates);
  index_.candidates.clear();
  llvm::append_range(index_.candidates, llvm::make_first_range(candidates_));
  for (AddedRange& range : added_)
    range.entry.file = numbers.at(range.entry.file);
}

/// Bounds, and the choices for sizes that are still in a range.
std::vector<Json> Adder::factsOfEntries() const {
  std::map<std::uint32_t, model::Machine> machines;
  std::vector<Json> all;
  for (const auto& [entry, from] : entries_) {
    if (!machines.contains(entry.shape)) machines[entry.shape] = machineOf(entry.shape);
    const Topology& shape = index_.shapes[entry.shape].topology;
    const auto bound = [&](std::uint64_t bytes) {
      return boundAt(entry.collective, machines[entry.shape],
                     std::max(bytes, leastModelled(entry.collective, shape)));
    };
    const Json before = from ? old_.manifest["entries"][*from] : Json();
    const bool is_whole = from && entry == old_.index.entries[*from];
    Json& facts = all.emplace_back(is_whole ? before : Json());
    if (is_whole) continue;
    facts = {{"lowest_bound_s", bound(entry.lowest)},
             {"highest_bound_s", bound(entry.predicted_to)}};
    Json choices = Json::array();
    for (const Json& choice : from ? before.value("choices", choices) : Json::array()) {
      const std::uint64_t bytes = numberIn(choice, "bytes");
      if (entry.lowest <= bytes && bytes <= entry.highest) choices.push_back(choice);
    }
    if (!choices.empty()) facts["choices"] = std::move(choices);
  }
  return all;
}

AddedToLibrary Adder::write(LibraryFolder& folder) {
  // Before files are renumbered.
  const std::vector<Json> facts = factsOfEntries();
  settleIndex();
  std::vector<std::string> schedules;
  llvm::append_range(schedules, llvm::make_second_range(candidates_));
  std::set<std::string> gone;
  for (const LibraryFile& file : old_.index.files)
    gone.insert(file.name);
  for (const LibraryFile& file : index_.files)
    gone.erase(file.name);
  orThrow(folder.takeOldFiles(gone));
  for (const auto& [name, bytes] : written_)
    orThrow(toError(writeFileAtomically(libraryFilePath(folder.path(), name), bytes)));
  const std::string manifest = changedManifestText(old_.manifest, index_, facts, schedules);
  orThrow(folder.writeLists(manifest, index_));
  orThrow(folder.publish());
  return {std::move(index_), std::move(added_)};
}

}  // namespace

bool isAdded(const LibraryEntry& entry) {
  return llvm::StringRef(entry.reason).starts_with(kAdded);
}

llvm::Expected<AddedToLibrary> addToLibrary(llvm::StringRef path,
                                            llvm::ArrayRef<Addition> additions,
                                            Progress& progress) {
  return caught([&] {
    // Also restores a library that an interrupted build has moved.
    LibraryFolder folder = orThrow(LibraryFolder::create(path));
    const LibraryLock lock = orThrow(LibraryLock::take(path));
    Adder adder(orThrow(loadLibrary(path)), progress);
    progress.expect(additions.size());
    for (const Addition& addition : additions) {
      adder.add(addition);
      progress.done();
    }
    return adder.write(folder);
  });
}

}  // namespace torc::compiler
