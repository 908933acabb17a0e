// torc library list DIR: what is in a library.
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>

#include "compiler/commands/commands.h"
#include "compiler/commands/tool.h"
#include "compiler/library/manifest.h"

namespace torc {
namespace {

using namespace llvm::cl;

SubCommand command("library list", "Print the sub-tori, size ranges and schedules of a library");
OptionCategory category("Options of library list");

opt<std::string> path(Positional, desc("DIR"), sub(command), cat(category));
opt<bool> json("json", sub(command), cat(category), desc("Print the result as JSON"));

/// A number of the manifest that the index does not have; 0 where the manifest has none either.
double boundIn(const nlohmann::ordered_json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_number() ? found->get<double>() : 0.0;
}

void printRow(const Library& library, std::size_t entry, llvm::raw_ostream& out) {
  const LibraryEntry& row = library.index.entries[entry];
  const auto& manifest = library.manifest["entries"][entry];
  const std::string highest = row.highest == kOpenEnd ? "and more" : std::to_string(row.highest);
  out << "  " << llvm::left_justify(rowOf(row.collective).name, 14)
      << llvm::format("%12llu  ", static_cast<unsigned long long>(row.lowest))
      << llvm::right_justify(highest, 12)
      << llvm::format("%13.2f %8.3f", 1e6 * row.lowest_s,
                      boundRatio(row.lowest_s, boundIn(manifest, "lowest_bound_s")))
      << llvm::format("%13.2f %8.3f  ", 1e6 * row.highest_s,
                      boundRatio(row.highest_s, boundIn(manifest, "highest_bound_s")))
      << library.index.files[row.file].name << '\n';
}

void printTables(const Library& library, llvm::raw_ostream& out) {
  const LibraryIndex& index = library.index;
  out << library.path << ": " << librarySummary(index) << '\n';
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
  }
}

/// The manifest, without what was not chosen.
void printJson(Library& library, llvm::raw_ostream& out) {
  for (auto& entry : library.manifest["entries"])
    entry.erase("choices");
  out << library.manifest.dump(2) << '\n';
}

int run() {
  if (path.empty()) return wrongUsage("library list: which folder? torc library list DIR");
  llvm::Expected<Library> library = loadLibrary(path);
  if (!library) return inputFault(library.takeError());
  std::string text;
  llvm::raw_string_ostream out(text);
  json ? printJson(*library, out) : printTables(*library, out);
  if (llvm::Error error = writeOutput("-", text)) return inputFault(std::move(error));
  return kSuccess;
}

}  // namespace

Command libraryListCommand() {
  return {&command, &category, run};
}

}  // namespace torc
