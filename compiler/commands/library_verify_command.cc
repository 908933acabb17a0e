// torc library verify DIR: whether a library is whole, consistent and proved.
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "compiler/commands/commands.h"
#include "compiler/library/manifest.h"
#include "compiler/report.h"
#include "ir/make_error.h"
#include "ir/verifier/verifier.h"
#include "schedules/format/file.h"
#include "support/work_queue.h"

namespace torc::compiler {
namespace library_verify_command {

using namespace options;

int run();
Command command("library verify", "check a library's files, and prove its schedules again", run,
                "torc library verify lib");
Text path{command, kFolderRow};
Integer jobs{command, kJobsRow, 1, kMostJobs};
Flag json{command, kJsonRow};

std::string filePath(const LibraryFile& file) {
  return libraryFilePath(path, file.name);
}

/// A candidate as an entry for any size: the same rules hold for both.
LibraryEntry entryOf(const LibraryCandidate& candidate) {
  return {.shape = candidate.shape,
          .collective = candidate.collective,
          .lowest = kNoSize + 1,
          .file = candidate.file,
          .reason = {}};
}

/// The uses of file `number` in the index: the entries, tuned ones and candidates that have it, by
/// name.
std::vector<std::pair<std::string, LibraryEntry>> usesOf(const LibraryIndex& index,
                                                         std::uint32_t number) {
  std::vector<std::pair<std::string, LibraryEntry>> uses;
  const auto add = [&](const char* what, std::size_t i, const LibraryEntry& entry) {
    if (entry.file == number) uses.emplace_back(what + std::to_string(i), entry);
  };
  for (std::size_t i = 0; i < index.entries.size(); ++i)
    add("entry ", i, index.entries[i]);
  for (std::size_t i = 0; i < index.tuned.size(); ++i)
    add("tuned entry ", i, index.tuned[i]);
  for (std::size_t i = 0; i < index.candidates.size(); ++i)
    add("candidate ", i, entryOf(index.candidates[i]));
  return uses;
}

/// The fault of file `number`; empty: none.
std::string fileFault(const LibraryIndex& index, std::uint32_t number) {
  const LibraryFile& file = index.files[number];
  const StatusOr<std::vector<std::byte>> bytes = readFile(filePath(file));
  if (!bytes.ok()) return bytes.status().message();
  if (std::string fault = bytesFault(path, file, *bytes); !fault.empty()) return fault;
  const StatusOr<LoadedSchedule> loaded = readSchedule(*bytes, filePath(file));
  if (!loaded.ok()) return loaded.status().message();
  const auto uses = usesOf(index, number);
  if (uses.empty()) return filePath(file) + ": serves no entry and is no candidate";
  for (const auto& [name, entry] : uses) {
    const Status serves = checkServes(index, entry, loaded->view());
    if (!serves.ok()) return filePath(file) + ": " + name + ": " + serves.message();
  }
  const ir::VerifyResult proof = ir::verify(loaded->view());
  if (!proof.ok()) return filePath(file) + ": is not proved: " + proof.faults.front().message;
  return {};
}

/// Faults of all files, in their order.
std::vector<std::string> fileFaults(const LibraryIndex& index, unsigned threads) {
  std::vector<std::string> faults(index.files.size());
  WorkQueue queue;
  for (std::uint32_t i = 0; i < index.files.size(); ++i)
    queue.add([&, i] { faults[i] = fileFault(index, i); });
  queue.run(threads);
  llvm::erase_if(faults, [](const std::string& fault) { return fault.empty(); });
  return faults;
}

/// Things in the folder that no one asks for.
std::vector<std::string> orphans(const LibraryIndex& index) {
  std::set<std::string> known = {indexPath(path), manifestPath(path),
                                 path + "/" + std::string(kLibraryFilesFolder)};
  for (const LibraryFile& file : index.files)
    known.insert(filePath(file));
  std::set<std::string> unknown;
  const std::string folders[] = {path, path + "/" + std::string(kLibraryFilesFolder)};
  for (const std::string& folder : folders) {
    std::error_code error;
    std::filesystem::directory_iterator it(folder, error);
    for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
      const std::string name = folder + "/" + it->path().filename().string();
      if (!known.contains(name)) unknown.insert(name);
    }
  }
  std::vector<std::string> faults;
  for (const std::string& name : unknown)
    faults.push_back(name + ": is not in the index");
  return faults;
}

Record recordOf(const LibraryIndex* index, const std::vector<std::string>& faults) {
  Record record = {{"ok", faults.empty()}, {"library", path.text()}};
  if (index != nullptr) {
    record.insert(record.end(), {{"machine", index->machine},
                                 {"torc", index->version},
                                 {"partitions", index->partitions.size()},
                                 {"sub_tori", index->sub_tori.size()},
                                 {"shapes", index->shapes.size()},
                                 {"ranges", index->entries.size()},
                                 {"candidates", index->candidates.size()},
                                 {"tuned_ranges", index->tuned.size()},
                                 {"files", index->files.size()},
                                 {"bytes", libraryBytes(*index)}});
  }
  record.push_back({"errors", faults});
  return record;
}

int run() {
  if (path.empty()) wrongUsage("library verify: which folder? torc library verify DIR");
  llvm::Expected<LibraryIndex> index = loadIndex(path);
  std::vector<std::string> faults;
  if (index) {
    llvm::Expected<nlohmann::ordered_json> manifest = loadManifest(path, *index);
    if (!manifest) faults.push_back(toString(manifest.takeError()));
    llvm::append_range(faults, fileFaults(*index, threadsOf(jobs)));
    llvm::append_range(faults, orphans(*index));
  } else {
    faults.push_back(toString(index.takeError()));
  }
  const int code = faults.empty() ? kSuccess : kInputFault;
  if (json) return printOutput(jsonText({recordOf(index ? &*index : nullptr, faults)}), code);
  for (const std::string& fault : faults)
    (void)inputFault(makeError(fault));
  if (!faults.empty()) return code;
  return printOutput("ok: " + path + ": " + librarySummary(*index) + "; all proved\n");
}

}  // namespace library_verify_command

options::Command& kLibraryVerifyCommand = library_verify_command::command;

}  // namespace torc::compiler
