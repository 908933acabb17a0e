// torc library list DIR: what is in a library.
#include <algorithm>
#include <span>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>

#include "compiler/commands/commands.h"
#include "compiler/library/manifest.h"
#include "compiler/report.h"
#include "compiler/rows.h"
#include "compiler/tool.h"

namespace torc::compiler {
namespace library_list_command {

using namespace options;

int run();
Command command("library list", "print the schedules of a library and the calls that they serve",
                run);
Text path{command, kFolderRow};
Flag explain{command, {kWhat, "explain", "", "Add candidates, reasons, and measured times"}};
Flag json{command, kJsonRow};

/// A number of the manifest that the index does not have; 0 where the manifest has none either.
double boundIn(const nlohmann::ordered_json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_number() ? found->get<double>() : 0.0;
}

/// Collective, first and last size.
void printRange(const LibraryEntry& row, llvm::raw_ostream& out) {
  const std::string highest = row.highest == kOpenEnd ? "and more" : std::to_string(row.highest);
  out << "  " << llvm::left_justify(rowOf(row.collective).name, 14)
      << llvm::format("%12llu  ", static_cast<unsigned long long>(row.lowest))
      << llvm::right_justify(highest, 12);
}

void printRow(const Library& library, std::size_t entry, llvm::raw_ostream& out) {
  const LibraryEntry& row = library.index.entries[entry];
  const auto& manifest = library.manifest["entries"][entry];
  printRange(row, out);
  out << llvm::format("%13.2f %8.3f", 1e6 * row.lowest_s,
                      boundRatio(row.lowest_s, boundIn(manifest, "lowest_bound_s")))
      << llvm::format("%13.2f %8.3f  ", 1e6 * row.highest_s,
                      boundRatio(row.highest_s, boundIn(manifest, "highest_bound_s")))
      << library.index.files[row.file].name << '\n';
  if (explain) out << "    " << row.reason << '\n';
}

/// Those of a shape, which lie together.
template <typename Thing>
std::span<const Thing> ofShape(const std::vector<Thing>& things, std::uint32_t shape) {
  const auto found = std::ranges::equal_range(things, shape, {}, &Thing::shape);
  return {found.begin(), found.end()};
}

/// Calls `print` with all things of each collective in turn. The things are of one shape.
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

/// The schedule of a candidate, as the manifest says; empty where it does not.
std::string scheduleOf(const Library& library, const LibraryCandidate& candidate) {
  const auto number = static_cast<std::size_t>(&candidate - library.index.candidates.data());
  const auto& manifest = library.manifest["candidates"][number];
  const auto found = manifest.find("schedule");
  return found != manifest.end() && found->is_string() ? found->get<std::string>() : "";
}

void printCandidates(const Library& library, std::uint32_t shape, llvm::raw_ostream& out) {
  const LibraryIndex& index = library.index;
  const auto print = [&](std::span<const LibraryCandidate> candidates) {
    out << "  candidates of " << rowOf(candidates.front().collective).name << ": "
        << candidates.size() << (candidates.size() == 1 ? " more file\n" : " more files\n");
    if (!explain) return;
    for (const LibraryCandidate& candidate : candidates) {
      out << "    " << index.files[candidate.file].name << "  " << scheduleOf(library, candidate)
          << '\n';
    }
  };
  forEachCollective(ofShape(index.candidates, shape), print);
}

void printTuned(const LibraryIndex& index, std::uint32_t shape, llvm::raw_ostream& out) {
  const std::span<const LibraryEntry> tuned = ofShape(index.tuned, shape);
  if (tuned.empty()) return;
  out << "  tuned; for these sizes it serves in the place of the above:\n"
         "  collective        from byte       to byte   measured us        to us  file\n";
  for (const LibraryEntry& row : tuned) {
    printRange(row, out);
    out << llvm::format("%14.2f%13.2f  ", 1e6 * row.lowest_s, 1e6 * row.highest_s)
        << fileText(index, row.file) << '\n';
    if (explain) out << "    " << row.reason << '\n';
  }
}

/// All that was measured, by size; of a size the fastest first.
void printMeasurements(const LibraryIndex& index, std::uint32_t shape, llvm::raw_ostream& out) {
  const auto print = [&](std::span<const LibraryMeasurement> measured) {
    std::vector<LibraryMeasurement> rows(measured.begin(), measured.end());
    std::ranges::stable_sort(rows, [](const LibraryMeasurement& a, const LibraryMeasurement& b) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds;
    });
    out << "  measured of " << rowOf(measured.front().collective).name << ":\n"
        << "         bytes           us  x fastest  file\n";
    const LibraryMeasurement* fastest = nullptr;
    for (const LibraryMeasurement& row : rows) {
      const bool is_first = fastest == nullptr || fastest->bytes != row.bytes;
      if (is_first) fastest = &row;
      out << llvm::right_justify(is_first ? std::to_string(row.bytes) : "", 14)
          << llvm::format("%13.2f %10.3f  ", 1e6 * row.seconds,
                          boundRatio(row.seconds, fastest->seconds))
          << fileText(index, row.file) << '\n';
    }
  };
  forEachCollective(ofShape(index.measurements, shape), print);
}

void printTables(const Library& library, llvm::raw_ostream& out) {
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
  std::size_t entry = 0;
  for (std::uint32_t shape = 0; shape < index.shapes.size(); ++shape) {
    out << "\nshape " << index.shapes[shape].topology.shape() << ": ";
    llvm::ListSeparator separator;
    for (const LibrarySubTorus& sub_torus : index.sub_tori) {
      if (sub_torus.shape == shape) out << separator << subTorusName(index, sub_torus);
    }
    out << "\n  collective        from byte       to byte  predicted us  x bound      to us  x "
           "bound  file\n";
    for (; entry < index.entries.size() && index.entries[entry].shape == shape; ++entry)
      printRow(library, entry, out);
    printCandidates(library, shape, out);
    printTuned(index, shape, out);
    if (explain) printMeasurements(index, shape, out);
  }
}

/// The manifest, without what was not chosen, and what tuning has added.
std::string jsonOf(Library& library) {
  for (auto& entry : library.manifest["entries"])
    entry.erase("choices");
  if (isTuned(library.index)) library.manifest.update(tunedJson(library.index));
  return jsonText(library.manifest);
}

int run() {
  if (path.empty()) return wrongUsage("library list: which folder? torc library list DIR");
  llvm::Expected<Library> library = loadLibrary(path);
  if (!library) return inputFault(library.takeError());
  if (json) return printOutput(jsonOf(*library));
  return printReport({}, {}, [&](llvm::raw_ostream& out) { printTables(*library, out); });
}

}  // namespace library_list_command

options::Command& libraryListCommand() {
  return library_list_command::command;
}

}  // namespace torc::compiler
