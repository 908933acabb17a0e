// Checks a library's index when it is read, so that lookups and the runtime can rely on it.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "schedules/format/file.h"
#include "schedules/library/index_layout.h"
#include "schedules/validation/validate.h"
#include "support/message.h"

namespace torc {
namespace {

constexpr std::size_t kMaxReasonLength = 4095;

/// One line without control characters.
Status checkLine(const std::string& text, std::size_t most) {
  if (text.size() > most) return malformed("has ", text.size(), " bytes, at most ", most);
  const auto is_control = [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return code < ' ' || code == 0x7f;
  };
  if (std::ranges::any_of(text, is_control)) return malformed("has control characters");
  return {};
}

/// A name that means a file of the folder on every system.
Status checkFileName(const std::string& name) {
  if (name.empty()) return malformed("is empty");
  if (name.size() > kMaxNameLength) {
    return malformed("has ", name.size(), " bytes, at most ", kMaxNameLength);
  }
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '+' || c == '.';
  };
  if (!std::ranges::all_of(name, is_plain)) {
    return malformed("has characters other than letters, digits and - _ + .");
  }
  if (name.front() == '.' || name.find("..") != std::string::npos) {
    return malformed("begins with a dot or has two in a row");
  }
  return {};
}

/// The axes of extent over 1, once each; the rest is 0.
Status checkAxes(const Topology& partition, const LibrarySubTorus& sub_torus) {
  std::uint32_t wanted = 0, named = 0, count = 0;
  for (std::uint32_t i = 0; i < partition.axis_count; ++i) {
    if (sub_torus.extents[i] > 1) {
      wanted |= 1u << i;
      ++count;
    }
  }
  for (std::uint32_t i = 0; i < kMaxAxes; ++i) {
    const std::uint32_t axis = sub_torus.axes[i];
    if (i >= count ? axis != 0 : axis >= kMaxAxes || (wanted >> axis & 1) == 0) {
      return malformed("axes are not those of extent over 1");
    }
    if (i < count) named |= 1u << axis;
  }
  // Cores are always the innermost axis.
  const bool has_cores = partition.hasCores() && sub_torus.extents[partition.axis_count - 1] > 1;
  if (named != wanted || (has_cores && sub_torus.axes[count - 1] != partition.axis_count - 1)) {
    return malformed("axes are not those of extent over 1, cores last");
  }
  return {};
}

// `check` checks each record alone, `follows` its order after the one before it. Partitions and
// shapes come first.

template <typename Placed>
Status check(const LibraryIndex&, const Placed& placed, bool) {
  return placed.topology.validate();
}
template <typename Placed>
bool follows(const Placed&, const Placed&) {
  return true;
}

Status check(const LibraryIndex& index, const LibrarySubTorus& sub_torus, bool) {
  if (sub_torus.partition >= index.partitions.size()) {
    return malformed("partition ", sub_torus.partition, " does not exist (there are ",
                     index.partitions.size(), ")");
  }
  if (sub_torus.shape >= index.shapes.size()) {
    return malformed("shape ", sub_torus.shape, " does not exist (there are ", index.shapes.size(),
                     ")");
  }
  const Topology& partition = index.partitions[sub_torus.partition].topology;
  if (!isSubTorus(partition, sub_torus.extents)) {
    return malformed("extents are not those of a sub-torus of ", partition.shape());
  }
  if (Status status = checkAxes(partition, sub_torus); !status.ok()) return status;
  const Topology& shape = index.shapes[sub_torus.shape].topology;
  if (!(subTorusTopology(partition, sub_torus.extents, sub_torus.axes) == shape)) {
    return malformed("is not of shape ", sub_torus.shape, ", ", shape.shape());
  }
  return {};
}

bool follows(const LibrarySubTorus& a, const LibrarySubTorus& b) {
  return std::tie(a.partition, a.extents) < std::tie(b.partition, b.extents);
}

bool isTime(double seconds) {
  return std::isfinite(seconds) && seconds >= 0 && !std::signbit(seconds);
}

/// Fields that an entry, a candidate and a measurement share: a shape, a collective and a file.
template <typename Named>
Status checkNames(const LibraryIndex& index, const Named& named, bool may_be_mpis) {
  if (named.shape >= index.shapes.size()) {
    return malformed("shape ", named.shape, " does not exist (there are ", index.shapes.size(),
                     ")");
  }
  if (const int collective = static_cast<int>(named.collective); collective >= kCollectiveCount) {
    return malformed("collective ", collective, " is unknown");
  }
  if (named.file >= index.files.size() && !(may_be_mpis && named.file == kMpisOwn)) {
    return malformed("file ", named.file, " does not exist (there are ", index.files.size(), ")");
  }
  return {};
}

Status check(const LibraryIndex& index, const LibraryEntry& entry, bool is_tuned) {
  if (Status status = checkNames(index, entry, is_tuned); !status.ok()) return status;
  if (is_tuned && entry.lowest <= kNoSize) return malformed("serves calls whose size is unknown");
  if (entry.lowest > entry.highest) {
    return malformed("range from ", entry.lowest, " to ", entry.highest, " bytes");
  }
  if (entry.highest == kOpenEnd
          ? entry.predicted_to < entry.lowest || entry.predicted_to == kOpenEnd
          : entry.predicted_to != entry.highest) {
    return malformed("predicted to ", entry.predicted_to, " bytes, range from ", entry.lowest,
                     " to ", entry.highest);
  }
  if (!isTime(entry.lowest_s) || !isTime(entry.highest_s)) {
    return malformed("a predicted time is no number of seconds");
  }
  return checkLine(entry.reason, kMaxReasonLength).annotated("reason");
}

/// Whether `b` comes behind `a` and their ranges are disjoint.
bool follows(const LibraryEntry& a, const LibraryEntry& b) {
  const auto of_a = std::tie(a.shape, a.collective);
  const auto of_b = std::tie(b.shape, b.collective);
  return of_a != of_b ? of_a < of_b : a.highest < b.lowest;
}

Status check(const LibraryIndex& index, const LibraryCandidate& candidate, bool) {
  return checkNames(index, candidate, false);
}
bool follows(const LibraryCandidate& a, const LibraryCandidate& b) {
  return a < b;
}

Status check(const LibraryIndex& index, const LibraryMeasurement& measured, bool) {
  if (Status status = checkNames(index, measured, true); !status.ok()) return status;
  return isTime(measured.seconds) ? Status() : malformed("its time is no number of seconds");
}
bool follows(const LibraryMeasurement& a, const LibraryMeasurement& b) {
  return std::tie(a.shape, a.collective, a.bytes, a.file) <
         std::tie(b.shape, b.collective, b.bytes, b.file);
}

Status check(const LibraryIndex&, const LibraryFile& file, bool) {
  if (Status status = checkFileName(file.name); !status.ok()) return status.annotated("name");
  if (file.bytes < 1 || file.bytes > kMaxFileBytes) {
    return malformed("has ", file.bytes, " bytes, 1 to ", kMaxFileBytes, " are possible");
  }
  return {};
}

bool follows(const LibraryFile& a, const LibraryFile& b) {
  return a.name < b.name;
}

template <typename Record>
Status checkTable(const LibraryIndex& index, const IndexTableOf<Record>& table) {
  const std::vector<Record>& things = index.*table.records;
  for (std::size_t i = 0; i < things.size(); ++i) {
    Status status = check(index, things[i], table.table == IndexTable::kTuned);
    if (status.ok() && i > 0 && !follows(things[i - 1], things[i])) {
      status = malformed("is not after ", table.what, ' ', i - 1);
    }
    if (!status.ok()) return status.annotated(message(table.what, ' ', i));
  }
  return {};
}

}  // namespace

Status checkServes(const LibraryIndex& index, const LibraryEntry& entry,
                   const ScheduleView& schedule) {
  const CollectiveRow& row = rowOf(entry.collective);
  const Topology& shape = index.shapes[entry.shape].topology;
  const bool is_of_collective =
      schedule.collective == entry.collective || schedule.collective == row.rootless;
  if (!is_of_collective || schedule.topology != shape) {
    return {StatusCode::kMismatch, message("is one for ", rowOf(schedule.collective).name, " on ",
                                           schedule.topology.shape(), ", the index says ", row.name,
                                           " on ", shape.shape())};
  }
  if (row.blocks != BlockSpace::kNode && entry.lowest <= kNoSize && !schedule.isDirect()) {
    return {StatusCode::kMismatch,
            "forwards blocks, the index gives it to calls whose counts differ from pair to pair"};
  }
  const bool is_ordered = (schedule.flags & kOrderedSums) != 0;
  const bool has_no_size = entry.lowest == kNoSize && entry.highest == kNoSize;
  if (row.reduces() && has_no_size && !is_ordered) {
    return {StatusCode::kMismatch,
            "promises no ordered sums, the index gives it to operations that do not commute"};
  }
  return {};
}

Status validate(const LibraryIndex& index) {
  Status status = checkLine(index.machine, kMaxNameLength).annotated("machine");
  if (status.ok()) status = checkLine(index.version, kMaxNameLength).annotated("version");
  if (status.ok()) status = checkLine(index.tuned_on, kMaxReasonLength).annotated("job of tuning");
  const auto check_table = [&](const auto& table) {
    if (status.ok()) status = checkTable(index, table);
  };
  std::apply([&](const auto&... tables) { (check_table(tables), ...); }, kIndexTables);
  return status;
}

}  // namespace torc
