// torc library list DIR: prints the contents of a library.
#include <span>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "compiler/commands/commands.h"
#include "compiler/library/manifest.h"
#include "compiler/report.h"

namespace torc::compiler {
namespace library_list_command {

using namespace options;

int run();
Command command("library list", "print the schedules of a library and the calls that they serve",
                run, "torc library list lib");
Text path{command, kFolderRow};
Flag explain{command, {kWhat, "explain", "", "Add candidates, reasons, and measured times"}};
Flag json{command, kJsonRow};
Flag csv{command, kCsvRow};

/// Ratio of the time to the manifest's bound, which the index does not have.
double ratioIn(const nlohmann::ordered_json& entry, double seconds, const char* bound) {
  const auto found = entry.find(bound);
  const bool is_known = found != entry.end() && found->is_number();
  return boundRatio(seconds, is_known ? found->get<double>() : 0.0);
}

/// `manifest` has the bounds of the entry; null for a tuned one.
Record recordOf(const LibraryIndex& index, const LibraryEntry& row, const Json* manifest) {
  const bool is_open = row.highest == kOpenEnd;
  Record record = {{"shape", index.shapes[row.shape].topology.shape()},
                   {"collective", rowOf(row.collective).name, "collective"},
                   {"lowest", row.lowest, "from byte"},
                   {"highest", is_open ? Json() : Json(row.highest)},
                   {"", is_open ? "and more" : std::to_string(row.highest), " to byte"}};
  const auto addTime = [&](const std::string& key, const char* head, double seconds) {
    record.push_back({key + "_s", seconds, head, kFixedMicros});
    if (manifest == nullptr) return;
    const double ratio = ratioIn(*manifest, seconds, (key + "_bound_s").c_str());
    record.push_back({key + "_ratio", ratio, "x bound", kBoundRatio});
  };
  addTime("lowest", manifest != nullptr ? "predicted us" : "measured us", row.lowest_s);
  addTime("highest", "to us", row.highest_s);
  record.push_back({"file", fileText(index, row.file), "file"});
  return record;
}

/// A table of entries; with --explain each one has its reason below.
void printEntries(const std::vector<Record>& records, std::span<const LibraryEntry> entries,
                  llvm::raw_ostream& out) {
  const std::vector<std::string> lines = tableLines(records, 2);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out << lines[i];
    if (explain && i > 0) out << "    " << entries[i - 1].reason << '\n';
  }
}

/// The adjacent things of a shape.
template <typename Thing>
std::span<const Thing> ofShape(const std::vector<Thing>& things, std::uint32_t shape) {
  const auto found = std::ranges::equal_range(things, shape, {}, &Thing::shape);
  return {found.begin(), found.end()};
}

/// Calls `print` with the things of each collective. All things have one shape.
template <typename Thing, typename Print>
void forEachCollective(std::span<const Thing> things, Print print) {
  while (!things.empty()) {
    const auto end = std::ranges::find_if(
        things, [&](const Thing& thing) { return thing.collective != things.front().collective; });
    const auto count = static_cast<std::size_t>(end - things.begin());
    print(things.first(count));
    things = things.subspan(count);
  }
}

void printCandidates(const Library& library, std::uint32_t shape, llvm::raw_ostream& out) {
  const LibraryIndex& index = library.index;
  const auto print = [&](std::span<const LibraryCandidate> candidates) {
    out << "  candidates of " << rowOf(candidates.front().collective).name << ": "
        << candidates.size() << (candidates.size() == 1 ? " more file\n" : " more files\n");
    if (!explain) return;
    for (const LibraryCandidate& candidate : candidates) {
      const auto number = static_cast<std::size_t>(&candidate - index.candidates.data());
      out << "    " << index.files[candidate.file].name << "  " << scheduleOf(library, number)
          << '\n';
    }
  };
  forEachCollective(ofShape(index.candidates, shape), print);
}

void printTuned(const LibraryIndex& index, std::uint32_t shape, llvm::raw_ostream& out) {
  const std::span<const LibraryEntry> tuned = ofShape(index.tuned, shape);
  if (tuned.empty()) return;
  out << "  tuned; for these sizes it serves in the place of the above:\n";
  std::vector<Record> records;
  for (const LibraryEntry& row : tuned)
    records.push_back(recordOf(index, row, nullptr));
  printEntries(records, tuned, out);
}

/// All measurements, by size and then by time.
void printMeasurements(const LibraryIndex& index, std::uint32_t shape, llvm::raw_ostream& out) {
  const auto print = [&](std::span<const LibraryMeasurement> measured) {
    std::vector<LibraryMeasurement> rows(measured.begin(), measured.end());
    llvm::stable_sort(rows, [](const LibraryMeasurement& a, const LibraryMeasurement& b) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds;
    });
    out << "  measured of " << rowOf(measured.front().collective).name << ":\n";
    std::vector<Record> records;
    LibraryMeasurement fastest;
    for (const LibraryMeasurement& row : rows) {
      if (records.empty() || fastest.bytes != row.bytes) fastest = row;
      records.push_back(
          {{"bytes", row.bytes, "bytes"},
           {"seconds", row.seconds, "us", kFixedMicros},
           {"ratio", boundRatio(row.seconds, fastest.seconds), "x fastest", kBoundRatio},
           {"file", fileText(index, row.file), "file"}});
    }
    out << tableText(records, 4);
  };
  forEachCollective(ofShape(index.measurements, shape), print);
}

/// `records` belong to the index's entries.
void printTables(const Library& library, const std::vector<Record>& records,
                 llvm::raw_ostream& out) {
  const LibraryIndex& index = library.index;
  out << library.path << ": " << librarySummary(index) << '\n';
  if (isTuned(index)) out << "tuned on: " << index.tuned_on << '\n';
  for (const LibraryPartition& partition : index.partitions) {
    const Topology& topology = partition.topology;
    out << "partition " << topology.shape() << ": " << topology.ranks() << " ranks, order "
        << topology.orderString();
    if (topology.isDamaged()) {
      out << ", " << topology.dead_link_count << " dead links, " << topology.dead_node_count
          << " dead nodes";
    }
    out << '\n';
  }
  std::span<const Record> left = records;
  for (std::uint32_t shape = 0; shape < index.shapes.size(); ++shape) {
    out << "\nshape " << index.shapes[shape].topology.shape() << ": ";
    llvm::ListSeparator separator;
    for (const LibrarySubTorus& sub_torus : index.sub_tori) {
      if (sub_torus.shape == shape) out << separator << subTorusName(index, sub_torus);
    }
    out << '\n';
    const std::span<const LibraryEntry> entries = ofShape(index.entries, shape);
    printEntries({left.begin(), left.begin() + entries.size()}, entries, out);
    left = left.subspan(entries.size());
    printCandidates(library, shape, out);
    printTuned(index, shape, out);
    if (explain) printMeasurements(index, shape, out);
  }
}

/// The manifest without rejected candidates, and the results of tuning.
std::string jsonOf(Library& library) {
  for (auto& entry : library.manifest["entries"])
    entry.erase("choices");
  if (isTuned(library.index)) library.manifest.update(tunedJson(library.index));
  return jsonText(library.manifest);
}

int run() {
  if (path.empty()) wrongUsage("library list: which folder? torc library list DIR");
  Library library = orInputFault(loadLibrary(path));
  if (json && !csv) return printOutput(jsonOf(library));
  std::vector<Record> records;
  const LibraryIndex& index = library.index;
  for (std::size_t i = 0; i < index.entries.size(); ++i)
    records.push_back(recordOf(index, index.entries[i], &library.manifest["entries"][i]));
  return printReport(records, {json, csv},
                     [&](llvm::raw_ostream& out) { printTables(library, records, out); });
}

}  // namespace library_list_command

options::Command& kLibraryListCommand = library_list_command::command;

}  // namespace torc::compiler
