// manifest.json: a library's content and the reasons for it, for people.
// docs/schemas/library.schema.json describes it. All that the index says stands in it too, in the
// same words for both.
#ifndef TORC_COMPILER_LIBRARY_MANIFEST_H_
#define TORC_COMPILER_LIBRARY_MANIFEST_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>
#include <nlohmann/json.hpp>

#include "compiler/library/ranges.h"
#include "schedules/library/index.h"

namespace torc::compiler {

inline constexpr int kManifestVersion = 3;

/// Schedules that `torc library build` keeps of a range, at most.
inline constexpr std::uint32_t kMostCandidates = 16;

/// The index as JSON, but for the manifest's checksum and the results of tuning. Entries of an open
/// range have `highest` null.
nlohmann::ordered_json indexJson(const LibraryIndex& index);

/// The results of tuning in an index, as JSON. Where MPI's own collective serves, `file` is null.
nlohmann::ordered_json tunedJson(const LibraryIndex& index);

/// All collectives that a library may serve.
std::vector<Collective> allCollectives();

/// The settings of a library's build.
struct LibrarySettings {
  std::string order;                    // empty: X fastest
  std::string sub_tori = "whole-axes";  // or "all"
  std::vector<Collective> collectives = allCollectives();
  SizeRange sizes{1, std::uint64_t{64} << 20};
  std::uint32_t candidates = 1;  // schedules that are kept of a range, at most
};

/// The text of the manifest. `ranges` are those of the index's entries, in their order; `machine`
/// is the whole one; `candidates` are the schedules of the index's candidates.
std::string manifestText(const LibraryIndex& index, const model::Machine& machine,
                         const LibrarySettings& settings, llvm::ArrayRef<ScheduleRange> ranges,
                         llvm::ArrayRef<std::string> candidates);

/// The text of the manifest `old` of an index that has changed. `facts` are the further values of
/// each entry, which the index lacks; `candidates` as above.
std::string changedManifestText(nlohmann::ordered_json old, const LibraryIndex& index,
                                llvm::ArrayRef<nlohmann::ordered_json> facts,
                                llvm::ArrayRef<std::string> candidates);

/// The first value of the index that a manifest lacks or contradicts:
/// `/entries/3/lowest is 5, the index says 6`; empty: none.
std::string manifestFault(const nlohmann::ordered_json& manifest, const LibraryIndex& index);

/// A library's index, and its manifest, which is the one that the index was written with and says
/// the same.
struct Library {
  std::string path;
  LibraryIndex index;
  nlohmann::ordered_json manifest;
};

/// Errors name the file: `lib/manifest.json: is not the one that lib/index.torc was written with`.
llvm::Expected<LibraryIndex> loadIndex(llvm::StringRef path);
llvm::Expected<nlohmann::ordered_json> loadManifest(llvm::StringRef path,
                                                    const LibraryIndex& index);
llvm::Expected<Library> loadLibrary(llvm::StringRef path);

/// The fault in the bytes of a file of the library `path`; empty: none.
std::string bytesFault(const std::string& path, const LibraryFile& file,
                       std::span<const std::byte> bytes);

/// "4x4 of 4x4x4: XY": a sub-torus, by the axes along which it lies.
std::string subTorusName(const LibraryIndex& index, const LibrarySubTorus& sub_torus);

/// The name of a file of the index, or "MPI's own".
std::string fileText(const LibraryIndex& index, std::uint32_t file);

/// The schedule of a candidate in the manifest; empty without it.
std::string scheduleOf(const Library& library, std::size_t candidate);

/// Whether tuning has added something.
bool isTuned(const LibraryIndex& index);

/// "1..4095", "64K.." of an open one.
std::string rangeText(const LibraryEntry& entry);

/// Bytes of all its files.
std::uint64_t libraryBytes(const LibraryIndex& index);

/// "machine generic, torc 0.1.0; 1 partition, 7 sub-tori of 3 shapes, 41 ranges, 12 candidates, 23
/// files of 1204 KiB".
std::string librarySummary(const LibraryIndex& index);

/// Time over bound; 1 where the bound is 0.
inline double boundRatio(double seconds, double bound_s) {
  return bound_s > 0 ? seconds / bound_s : 1.0;
}

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_MANIFEST_H_
