// Converts a library to shapes with their ranges.
#include "compiler/view/page_data.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

Json entryData(const LibraryIndex& index, const LibraryEntry& entry, const Json& manifest) {
  Json data = {{"collective", rowOf(entry.collective).name},
               {"lowest", entry.lowest},
               {"highest", entry.highest == kOpenEnd ? Json() : Json(entry.highest)},
               {"to", entry.predicted_to},
               {"lowest_s", entry.lowest_s},
               {"highest_s", entry.highest_s},
               {"file", fileText(index, entry.file)},
               {"reason", entry.reason}};
  for (const char* key : {"lowest_bound_s", "highest_bound_s", "schedule"}) {
    if (const auto found = manifest.find(key); found != manifest.end()) data[key] = *found;
  }
  return data;
}

}  // namespace

Json libraryData(const Library& library) {
  const LibraryIndex& index = library.index;
  Json data = {{"path", library.path}, {"machine", index.machine}, {"tuned_on", index.tuned_on}};
  Json& shapes = data["shapes"] = Json::array();
  for (const LibraryShape& shape : index.shapes)
    shapes.push_back({{"shape", shape.topology.shape()},
                      {"sub_tori", Json::array()},
                      {"entries", Json::array()},
                      {"tuned", Json::array()}});
  for (const LibrarySubTorus& sub_torus : index.sub_tori)
    shapes[sub_torus.shape]["sub_tori"].push_back(subTorusName(index, sub_torus));
  for (std::size_t i = 0; i < index.entries.size(); ++i) {
    const LibraryEntry& entry = index.entries[i];
    shapes[entry.shape]["entries"].push_back(
        entryData(index, entry, library.manifest["entries"][i]));
  }
  for (const LibraryEntry& entry : index.tuned)
    shapes[entry.shape]["tuned"].push_back(entryData(index, entry, Json::object()));
  return data;
}

}  // namespace torc::compiler
