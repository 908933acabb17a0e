// The manifest of a library, written, read and compared with the index.
#include "compiler/library/manifest.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "compiler/tool.h"
#include "ir/json/topology_json.h"
#include "ir/make_error.h"
#include "schedules/format/file.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

// Of a size; the best ones.
constexpr std::size_t kShownCandidates = 5;

std::string hexText(std::uint64_t value) {
  return llvm::utohexstr(value, /*LowerCase=*/true, /*Width=*/16);
}

Json topologyEntry(const Topology& topology) {
  return {{"torus", topology.shape()},
          {"ranks", topology.ranks()},
          {"topology", ir::topologyJson(topology)}};
}

Json subTorusJson(const LibraryIndex& index, const LibrarySubTorus& sub_torus) {
  const Topology& partition = index.partitions[sub_torus.partition].topology;
  const Topology& shape = index.shapes[sub_torus.shape].topology;
  Json extents = Json::array();
  for (std::uint32_t i = 0; i < partition.axis_count; ++i)
    extents.push_back(sub_torus.extents[i]);
  std::string axes;
  for (std::uint32_t i = 0; i < shape.axis_count; ++i)
    axes += partition.axes[sub_torus.axes[i]].name;
  return {{"partition", sub_torus.partition},
          {"extents", std::move(extents)},
          {"shape", sub_torus.shape},
          {"axes", axes}};
}

Json servingJson(const LibraryIndex& index, std::uint32_t file) {
  return file == kMpisOwn ? Json() : Json(index.files[file].name);
}

/// `looked_to` is the key of the largest size that was looked at.
Json entryJson(const LibraryIndex& index, const LibraryEntry& entry, const char* looked_to) {
  return {{"shape", entry.shape},
          {"collective", rowOf(entry.collective).name},
          {"lowest", entry.lowest},
          {"highest", entry.highest == kOpenEnd ? Json() : Json(entry.highest)},
          {"file", servingJson(index, entry.file)},
          {looked_to, entry.predicted_to},
          {"lowest_s", entry.lowest_s},
          {"highest_s", entry.highest_s},
          {"reason", entry.reason}};
}

Json candidateJson(const Candidate& candidate) {
  return {{"schedule", candidate.description()}, {"predicted_s", candidate.predicted_s},
          {"busiest_link_s", candidate.busy_s},  {"steps", candidate.steps},
          {"messages", candidate.messages},      {"operations", candidate.operations},
          {"per_rank", candidate.per_rank}};
}

Json choiceJson(const SizedChoice& sized) {
  Json candidates = Json::array();
  for (const Candidate& candidate : sized.choice.candidates) {
    if (candidate.refusal.empty() && candidates.size() < kShownCandidates) {
      candidates.push_back(candidateJson(candidate));
    }
  }
  return {{"bytes", sized.bytes},
          {"bound_s", sized.bound_s},
          {"reason", sized.choice.reason()},
          {"considered", sized.choice.candidates.size()},
          {"candidates", std::move(candidates)}};
}

Json settingsJson(const LibrarySettings& settings) {
  Json collectives = Json::array();
  for (const Collective collective : settings.collectives)
    collectives.push_back(rowOf(collective).name);
  return {{"order", settings.order},
          {"sub_tori", settings.sub_tori},
          {"collectives", std::move(collectives)},
          {"lowest", settings.sizes.lowest},
          {"highest", settings.sizes.highest},
          {"candidates", settings.candidates}};
}

/// Where `whole` lacks or contradicts something of `wanted`. Objects may have more members; arrays
/// may not have more elements.
std::string difference(const Json& whole, const Json& wanted, const std::string& place) {
  if (wanted.is_object() && whole.is_object()) {
    for (const auto& [key, value] : wanted.items()) {
      const auto found = whole.find(key);
      if (found == whole.end()) return place + "/" + key + " is missing";
      if (std::string fault = difference(*found, value, place + "/" + key); !fault.empty()) {
        return fault;
      }
    }
    return {};
  }
  if (wanted.is_array() && whole.is_array()) {
    if (whole.size() != wanted.size()) {
      return place + " has " + std::to_string(whole.size()) + " elements, the index has " +
             std::to_string(wanted.size());
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      std::string fault = difference(whole[i], wanted[i], place + "/" + std::to_string(i));
      if (!fault.empty()) return fault;
    }
    return {};
  }
  if (whole == wanted) return {};
  auto shown = [](const Json& value) {
    std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
    return text.size() > 80 ? text.substr(0, 77) + "..." : text;
  };
  return place + " is " + shown(whole) + ", the index says " + shown(wanted);
}

}  // namespace

std::vector<Collective> allCollectives() {
  std::vector<Collective> all;
  for (int i = 0; i < kCollectiveCount; ++i) {
    if (rowOf(static_cast<Collective>(i)).isIntercepted())
      all.push_back(static_cast<Collective>(i));
  }
  return all;
}

Json indexJson(const LibraryIndex& index) {
  Json document;
  document["torc"] = index.version;
  document["machine"]["name"] = index.machine;
  Json& partitions = document["partitions"] = Json::array();
  for (const LibraryPartition& partition : index.partitions)
    partitions.push_back(topologyEntry(partition.topology));
  Json& shapes = document["shapes"] = Json::array();
  for (const LibraryShape& shape : index.shapes)
    shapes.push_back(topologyEntry(shape.topology));
  Json& sub_tori = document["sub_tori"] = Json::array();
  for (const LibrarySubTorus& sub_torus : index.sub_tori)
    sub_tori.push_back(subTorusJson(index, sub_torus));
  Json& entries = document["entries"] = Json::array();
  for (const LibraryEntry& entry : index.entries)
    entries.push_back(entryJson(index, entry, "predicted_to"));
  Json& candidates = document["candidates"] = Json::array();
  for (const LibraryCandidate& candidate : index.candidates) {
    candidates.push_back({{"shape", candidate.shape},
                          {"collective", rowOf(candidate.collective).name},
                          {"file", index.files[candidate.file].name}});
  }
  Json& files = document["files"] = Json::array();
  for (const LibraryFile& file : index.files) {
    files.push_back(
        {{"name", file.name}, {"bytes", file.bytes}, {"checksum", hexText(file.checksum)}});
  }
  return document;
}

Json tunedJson(const LibraryIndex& index) {
  Json document;
  document["tuned_on"] = index.tuned_on;
  Json& tuned = document["tuned"] = Json::array();
  for (const LibraryEntry& entry : index.tuned)
    tuned.push_back(entryJson(index, entry, "measured_to"));
  Json& measurements = document["measurements"] = Json::array();
  for (const LibraryMeasurement& measured : index.measurements) {
    measurements.push_back({{"shape", measured.shape},
                            {"collective", rowOf(measured.collective).name},
                            {"bytes", measured.bytes},
                            {"file", servingJson(index, measured.file)},
                            {"seconds", measured.seconds}});
  }
  return document;
}

std::string manifestText(const LibraryIndex& index, const model::Machine& machine,
                         const LibrarySettings& settings, llvm::ArrayRef<ScheduleRange> ranges,
                         llvm::ArrayRef<std::string> candidates) {
  Json document;
  document["torc_library"] = kManifestVersion;
  document["torc"] = index.version;
  document["machine"] = Json::parse(model::machineJson(machine));
  document["settings"] = settingsJson(settings);
  std::vector<Json> facts;
  for (const ScheduleRange& range : ranges) {
    Json choices = Json::array();
    for (const SizedChoice& choice : range.choices)
      choices.push_back(choiceJson(choice));
    facts.push_back({{"lowest_bound_s", range.lowest_bound_s},
                     {"highest_bound_s", range.highest_bound_s},
                     {"choices", std::move(choices)}});
  }
  return changedManifestText(std::move(document), index, facts, candidates);
}

std::string changedManifestText(Json old, const LibraryIndex& index, llvm::ArrayRef<Json> facts,
                                llvm::ArrayRef<std::string> candidates) {
  Json of_index = indexJson(index);
  for (const char* key : {"partitions", "shapes", "sub_tori", "entries", "candidates", "files"})
    old[key] = std::move(of_index[key]);
  for (std::size_t i = 0; i < facts.size(); ++i)
    old["entries"][i].update(facts[i]);
  for (std::size_t i = 0; i < candidates.size(); ++i)
    old["candidates"][i]["schedule"] = candidates[i];
  return old.dump(1) + "\n";
}

std::string manifestFault(const Json& manifest, const LibraryIndex& index) {
  if (!manifest.is_object()) return "is not an object";
  return difference(manifest, indexJson(index), "");
}

llvm::Expected<LibraryIndex> loadIndex(llvm::StringRef path) {
  const std::string file = indexPath(path.str());
  StatusOr<std::vector<std::byte>> bytes = readFile(file);
  if (!bytes.ok()) return toError(bytes.status());
  StatusOr<LibraryIndex> index = readLibraryIndex(*bytes, file);
  if (!index.ok()) return toError(index.status());
  return std::move(*index);
}

llvm::Expected<Json> loadManifest(llvm::StringRef path, const LibraryIndex& index) {
  const std::string file = manifestPath(path.str());
  StatusOr<std::vector<std::byte>> bytes = readFile(file);
  if (!bytes.ok()) return toError(bytes.status());
  if (checksumOf(*bytes) != index.manifest_checksum) {
    return makeError(file + ": is not the one of " + indexPath(path.str()) + ": checksum " +
                     hexText(checksumOf(*bytes)) + ", expected " +
                     hexText(index.manifest_checksum));
  }
  const char* const begin = reinterpret_cast<const char*>(bytes->data());
  Json manifest = Json::parse(begin, begin + bytes->size(), nullptr, /*allow_exceptions=*/false);
  if (manifest.is_discarded()) return makeError(file + ": is not JSON");
  if (const std::string what = manifestFault(manifest, index); !what.empty()) {
    return makeError(file + ": " + what);
  }
  return manifest;
}

llvm::Expected<Library> loadLibrary(llvm::StringRef path) {
  llvm::Expected<LibraryIndex> index = loadIndex(path);
  if (!index) return index.takeError();
  llvm::Expected<Json> manifest = loadManifest(path, *index);
  if (!manifest) return manifest.takeError();
  return Library{path.str(), std::move(*index), std::move(*manifest)};
}

std::string bytesFault(const std::string& path, const LibraryFile& file,
                       std::span<const std::byte> bytes) {
  const std::string name = libraryFilePath(path, file.name);
  if (bytes.size() != file.bytes) {
    return name + ": has " + std::to_string(bytes.size()) + " bytes, the index says " +
           std::to_string(file.bytes);
  }
  if (checksumOf(bytes) == file.checksum) return {};
  return name + ": is not the file that the index was written with: its checksum is another";
}

std::string subTorusName(const LibraryIndex& index, const LibrarySubTorus& sub_torus) {
  const Topology& partition = index.partitions[sub_torus.partition].topology;
  std::string text;
  for (std::uint32_t i = 0; i < partition.axis_count; ++i) {
    const Axis& axis = partition.axes[i];
    text += (i == 0 ? "" : axis.kind == AxisKind::kCore ? "+" : "x");
    text += std::to_string(sub_torus.extents[i]);
  }
  return text + " of " + partition.shape();
}

std::string fileText(const LibraryIndex& index, std::uint32_t file) {
  return file == kMpisOwn ? "MPI's own" : index.files[file].name;
}

std::string scheduleOf(const Library& library, std::size_t candidate) {
  const Json& of_it = library.manifest["candidates"][candidate];
  const auto found = of_it.find("schedule");
  return found != of_it.end() && found->is_string() ? found->get<std::string>() : "";
}

bool isTuned(const LibraryIndex& index) {
  return !index.tuned_on.empty() || !index.tuned.empty() || !index.measurements.empty();
}

std::string rangeText(const LibraryEntry& entry) {
  return std::to_string(entry.lowest) + ".." +
         (entry.highest == kOpenEnd ? "" : std::to_string(entry.highest));
}

std::uint64_t libraryBytes(const LibraryIndex& index) {
  std::uint64_t bytes = 0;
  for (const LibraryFile& file : index.files)
    bytes += file.bytes;
  return bytes;
}

std::string librarySummary(const LibraryIndex& index) {
  auto counted = [](std::size_t count, llvm::StringRef what) {
    return std::to_string(count) + " " + what.str() + (count == 1 ? "" : "s");
  };
  const std::size_t sub_tori = index.sub_tori.size();
  return "machine " + index.machine + ", torc " + index.version + "; " +
         counted(index.partitions.size(), "partition") + ", " + std::to_string(sub_tori) +
         (sub_tori == 1 ? " sub-torus of " : " sub-tori of ") +
         counted(index.shapes.size(), "shape") + ", " + counted(index.entries.size(), "range") +
         (index.candidates.empty() ? "" : ", " + counted(index.candidates.size(), "candidate")) +
         ", " + counted(index.files.size(), "file") + " of " +
         std::to_string((libraryBytes(index) + 1023) / 1024) + " KiB";
}

}  // namespace torc::compiler
