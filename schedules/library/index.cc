// Reads, writes and searches a library's index. Every length is checked before anything is
// dereferenced, and the index passes `validate` before anyone sees it.
#include "schedules/library/index.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "schedules/format/field_reader.h"
#include "schedules/format/table_writer.h"
#include "schedules/library/index_layout.h"
#include "support/message.h"

namespace torc {
namespace {

constexpr FileKind kIndexFile{std::to_array(kIndexMagic),
                              "not the index of a torc library",
                              "index version",
                              kIndexVersion,
                              "build the library again",
                              sizeof(IndexHeader)};

struct Tables {
  std::span<const char> text;
  std::span<const Topology> partitions;
  std::span<const Topology> shapes;
  std::span<const SubTorusRecord> sub_tori;
  std::span<const EntryRecord> entries;
  std::span<const FileRecord> files;
  std::span<const CandidateRecord> candidates;
  std::span<const EntryRecord> tuned;
  std::span<const MeasurementRecord> measurements;
};

Status readTables(FieldReader& reader, Tables& tables) {
  TableReader directory(reader, kIndexTableNames, sizeof(IndexHeader));
  Status status = directory.read(IndexTable::kText, tables.text);
  if (status.ok()) status = directory.read(IndexTable::kPartitions, tables.partitions);
  if (status.ok()) status = directory.read(IndexTable::kShapes, tables.shapes);
  if (status.ok()) status = directory.read(IndexTable::kSubTori, tables.sub_tori);
  if (status.ok()) status = directory.read(IndexTable::kEntries, tables.entries);
  if (status.ok()) status = directory.read(IndexTable::kFiles, tables.files);
  if (status.ok()) status = directory.read(IndexTable::kCandidates, tables.candidates);
  if (status.ok()) status = directory.read(IndexTable::kTuned, tables.tuned);
  if (status.ok()) status = directory.read(IndexTable::kMeasurements, tables.measurements);
  if (status.ok()) status = directory.finish();
  return status;
}

/// Takes strings from the text, one after the other.
class TextReader {
 public:
  explicit TextReader(std::span<const char> text) : text_(text) {}

  template <typename... Owner>
  Status take(std::uint32_t length, std::string& value, const Owner&... owner) {
    if (length > text_.size()) {
      return malformed(owner..., " has ", length, " bytes, of which the text has ", text_.size());
    }
    value.assign(text_.data(), length);
    text_ = text_.subspan(length);
    return {};
  }

  Status finish() const {
    if (text_.empty()) return {};
    return malformed("text: ", text_.size(), " bytes are left over");
  }

 private:
  std::span<const char> text_;
};

Status takeEntries(std::span<const EntryRecord> records, const char* what, TextReader& text,
                   std::vector<LibraryEntry>& entries) {
  for (const EntryRecord& record : records) {
    LibraryEntry entry{.shape = record.shape,
                       .collective = record.collective,
                       .lowest = record.lowest,
                       .highest = record.highest,
                       .file = record.file,
                       .predicted_to = record.predicted_to,
                       .lowest_s = record.lowest_s,
                       .highest_s = record.highest_s,
                       .reason = {}};
    const std::size_t number = entries.size();
    if (record.reserved != std::array<std::uint8_t, 3>{}) {
      return malformed(what, ' ', number, ": reserved is not 0");
    }
    Status status = text.take(record.reason_length, entry.reason, what, ' ', number, ": reason");
    if (!status.ok()) return status;
    entries.push_back(std::move(entry));
  }
  return {};
}

/// Candidates, and what was measured.
Status takeMeasurements(const Tables& tables, LibraryIndex& index) {
  constexpr std::array<std::uint8_t, 7> kNothing{};
  for (const CandidateRecord& record : tables.candidates) {
    if (record.reserved != kNothing) {
      return malformed("candidate ", index.candidates.size(), ": reserved is not 0");
    }
    index.candidates.push_back({record.shape, record.collective, record.file});
  }
  for (const MeasurementRecord& record : tables.measurements) {
    if (record.reserved != kNothing) {
      return malformed("measurement ", index.measurements.size(), ": reserved is not 0");
    }
    index.measurements.push_back(
        {record.shape, record.collective, record.bytes, record.file, record.seconds});
  }
  return {};
}

Status takeRecords(const Tables& tables, TextReader& text, LibraryIndex& index) {
  for (const Topology& topology : tables.partitions)
    index.partitions.push_back({topology});
  for (const Topology& topology : tables.shapes)
    index.shapes.push_back({topology});
  for (const SubTorusRecord& record : tables.sub_tori) {
    index.sub_tori.push_back({.partition = record.partition,
                              .extents = record.extents,
                              .shape = record.shape,
                              .axes = record.axes});
  }
  Status status = takeEntries(tables.entries, "entry", text, index.entries);
  if (status.ok()) status = takeEntries(tables.tuned, "tuned entry", text, index.tuned);
  if (status.ok()) status = takeMeasurements(tables, index);
  if (!status.ok()) return status;
  for (const FileRecord& record : tables.files) {
    LibraryFile file{.name = {}, .bytes = record.bytes, .checksum = record.checksum};
    const std::size_t number = index.files.size();
    if (record.reserved != 0) return malformed("file ", number, ": reserved is not 0");
    status = text.take(record.name_length, file.name, "file ", number, ": name");
    if (!status.ok()) return status;
    index.files.push_back(std::move(file));
  }
  return text.finish();
}

/// `bytes` are aligned for every record.
Status readIndex(std::span<const std::byte> bytes, LibraryIndex& index) {
  FieldReader reader(bytes);
  std::uint32_t machine_length = 0, version_length = 0, tuned_on_length = 0;
  const std::uint32_t reserved = 0;
  Tables tables;
  Status status = readPreamble(reader, kIndexFile);
  if (status.ok()) status = reader.read(index.manifest_checksum, "manifest checksum");
  if (status.ok()) status = reader.read(machine_length, "length of machine");
  if (status.ok()) status = reader.read(version_length, "length of version");
  if (status.ok()) status = reader.read(tuned_on_length, "length of the job of tuning");
  if (status.ok()) status = reader.expect(reserved, "reserved");
  if (status.ok()) status = readTables(reader, tables);
  TextReader text(tables.text);
  if (status.ok()) status = text.take(machine_length, index.machine, "machine");
  if (status.ok()) status = text.take(version_length, index.version, "version");
  if (status.ok()) status = text.take(tuned_on_length, index.tuned_on, "job of tuning");
  if (status.ok()) status = takeRecords(tables, text, index);
  if (status.ok()) status = validate(index);
  return status;
}

IndexHeader headerOf(const LibraryIndex& index) {
  IndexHeader header;
  header.magic = std::to_array(kIndexMagic);
  header.version = kIndexVersion;
  header.manifest_checksum = index.manifest_checksum;
  header.machine_length = static_cast<std::uint32_t>(index.machine.size());
  header.version_length = static_cast<std::uint32_t>(index.version.size());
  header.tuned_on_length = static_cast<std::uint32_t>(index.tuned_on.size());
  return header;
}

std::vector<EntryRecord> entryRecords(const std::vector<LibraryEntry>& entries) {
  std::vector<EntryRecord> records;
  for (const LibraryEntry& entry : entries) {
    records.push_back({.lowest = entry.lowest,
                       .highest = entry.highest,
                       .predicted_to = entry.predicted_to,
                       .lowest_s = entry.lowest_s,
                       .highest_s = entry.highest_s,
                       .shape = entry.shape,
                       .file = entry.file,
                       .reason_length = static_cast<std::uint32_t>(entry.reason.size()),
                       .collective = entry.collective});
  }
  return records;
}

template <typename Things>
std::vector<Topology> topologiesOf(const Things& things) {
  std::vector<Topology> topologies;
  for (const auto& thing : things)
    topologies.push_back(thing.topology);
  return topologies;
}

}  // namespace

std::string indexPath(const std::string& library) {
  return library + '/' + std::string(kIndexName);
}

std::string manifestPath(const std::string& library) {
  return library + '/' + std::string(kManifestName);
}

std::string libraryFilePath(const std::string& library, const std::string& name) {
  return library + '/' + std::string(kLibraryFilesFolder) + '/' + name;
}

std::uint64_t checksumOf(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

const LibrarySubTorus* LibraryIndex::findSubTorus(std::uint32_t partition,
                                                  const Extents& extents) const {
  const auto found =
      std::lower_bound(sub_tori.begin(), sub_tori.end(), std::tie(partition, extents),
                       [](const LibrarySubTorus& sub_torus, const auto& key) {
                         return std::tie(sub_torus.partition, sub_torus.extents) < key;
                       });
  const bool is_it =
      found != sub_tori.end() && found->partition == partition && found->extents == extents;
  return is_it ? &*found : nullptr;
}

const LibraryEntry* LibraryIndex::findEntry(std::uint32_t shape, Collective collective,
                                            std::uint64_t bytes) const {
  for (const std::vector<LibraryEntry>* list : {&tuned, &entries}) {
    // The last range that begins at `bytes` or below.
    const auto after =
        std::upper_bound(list->begin(), list->end(), std::tie(shape, collective, bytes),
                         [](const auto& key, const LibraryEntry& entry) {
                           return key < std::tie(entry.shape, entry.collective, entry.lowest);
                         });
    if (after == list->begin()) continue;
    const LibraryEntry& entry = *std::prev(after);
    if (entry.shape == shape && entry.collective == collective && bytes <= entry.highest) {
      return &entry;
    }
  }
  return nullptr;
}

StatusOr<LibraryIndex> readLibraryIndex(std::span<const std::byte> bytes,
                                        const std::string& origin) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::vector<std::uint64_t> aligned(bytes.size() / kWord + (bytes.size() % kWord != 0));
  if (!bytes.empty()) std::memcpy(aligned.data(), bytes.data(), bytes.size());
  LibraryIndex index;
  const auto copy = std::as_bytes(std::span(aligned)).first(bytes.size());
  if (Status status = readIndex(copy, index); !status.ok()) return status.annotated(origin);
  return index;
}

std::vector<std::byte> writeLibraryIndex(const LibraryIndex& index) {
  std::string text = index.machine + index.version + index.tuned_on;
  std::vector<SubTorusRecord> sub_tori;
  const std::vector<EntryRecord> entries = entryRecords(index.entries);
  std::vector<FileRecord> files;
  for (const LibrarySubTorus& sub_torus : index.sub_tori) {
    sub_tori.push_back({.partition = sub_torus.partition,
                        .shape = sub_torus.shape,
                        .extents = sub_torus.extents,
                        .axes = sub_torus.axes});
  }
  const std::vector<EntryRecord> tuned = entryRecords(index.tuned);
  std::vector<CandidateRecord> candidates;
  std::vector<MeasurementRecord> measurements;
  for (const std::vector<LibraryEntry>* list : {&index.entries, &index.tuned}) {
    for (const LibraryEntry& entry : *list)
      text += entry.reason;
  }
  for (const LibraryCandidate& candidate : index.candidates) {
    candidates.push_back(
        {.shape = candidate.shape, .file = candidate.file, .collective = candidate.collective});
  }
  for (const LibraryMeasurement& measured : index.measurements) {
    measurements.push_back({.bytes = measured.bytes,
                            .seconds = measured.seconds,
                            .shape = measured.shape,
                            .file = measured.file,
                            .collective = measured.collective});
  }
  for (const LibraryFile& file : index.files) {
    text += file.name;
    files.push_back({.bytes = file.bytes,
                     .checksum = file.checksum,
                     .name_length = static_cast<std::uint32_t>(file.name.size())});
  }
  TableWriter<IndexHeader> writer(headerOf(index));
  writer.append(IndexTable::kText, text);
  writer.append(IndexTable::kPartitions, topologiesOf(index.partitions));
  writer.append(IndexTable::kShapes, topologiesOf(index.shapes));
  writer.append(IndexTable::kSubTori, sub_tori);
  writer.append(IndexTable::kEntries, entries);
  writer.append(IndexTable::kFiles, files);
  writer.append(IndexTable::kCandidates, candidates);
  writer.append(IndexTable::kTuned, tuned);
  writer.append(IndexTable::kMeasurements, measurements);
  return writer.take();
}

}  // namespace torc
