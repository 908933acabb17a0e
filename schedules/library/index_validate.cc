// Checks a library's index when it is read, so that lookups and the runtime can rely on it.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "schedules/faults/reject.h"
#include "schedules/format/file.h"
#include "schedules/library/index_layout.h"
#include "schedules/validation/validate.h"
#include "support/message.h"

namespace torc {
namespace {

constexpr std::size_t kMaxReasonLength = 4095;

/// One line without control characters.
void checkLine(const std::string& text, std::size_t most) {
  rejectIf(text.size() > most, "has ", text.size(), " bytes, at most ", most);
  const auto is_control = [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return code < ' ' || code == 0x7f;
  };
  rejectIf(std::ranges::any_of(text, is_control), "has control characters");
}

/// A name that means a file of the folder on every system.
void checkFileName(const std::string& name) {
  rejectIf(name.empty(), "is empty");
  rejectIf(name.size() > kMaxNameLength, "has ", name.size(), " bytes, at most ", kMaxNameLength);
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '+' || c == '.';
  };
  rejectIf(!std::ranges::all_of(name, is_plain),
           "has characters other than letters, digits and - _ + .");
  rejectIf(name.front() == '.' || name.find("..") != std::string::npos,
           "begins with a dot or has two in a row");
}

/// The axes of extent over 1, once each; the rest is 0.
void checkAxes(const Topology& partition, const LibrarySubTorus& sub_torus) {
  std::uint32_t wanted = 0, named = 0, count = 0;
  for (std::uint32_t i = 0; i < partition.axis_count; ++i) {
    if (sub_torus.extents[i] > 1) {
      wanted |= 1u << i;
      ++count;
    }
  }
  for (std::uint32_t i = 0; i < kMaxAxes; ++i) {
    const std::uint32_t axis = sub_torus.axes[i];
    rejectIf(i >= count ? axis != 0 : axis >= kMaxAxes || (wanted >> axis & 1) == 0,
             "axes are not those of extent over 1");
    if (i < count) named |= 1u << axis;
  }
  // Cores are always the innermost axis.
  const bool has_cores = partition.hasCores() && sub_torus.extents[partition.axis_count - 1] > 1;
  rejectIf(named != wanted || (has_cores && sub_torus.axes[count - 1] != partition.axis_count - 1),
           "axes are not those of extent over 1, cores last");
}

// `check` checks each record alone, `follows` its order after the one before it. Partitions and
// shapes come first.

template <typename Placed>
void check(const LibraryIndex&, const Placed& placed, bool) {
  orReject(placed.topology.validate());
}
template <typename Placed>
bool follows(const Placed&, const Placed&) {
  return true;
}

void check(const LibraryIndex& index, const LibrarySubTorus& sub_torus, bool) {
  rejectIf(sub_torus.partition >= index.partitions.size(), "partition ", sub_torus.partition,
           " does not exist (there are ", index.partitions.size(), ")");
  rejectIf(sub_torus.shape >= index.shapes.size(), "shape ", sub_torus.shape,
           " does not exist (there are ", index.shapes.size(), ")");
  const Topology& partition = index.partitions[sub_torus.partition].topology;
  if (!isSubTorus(partition, sub_torus.extents))
    reject("extents are not those of a sub-torus of ", partition.shape());
  checkAxes(partition, sub_torus);
  const Topology& shape = index.shapes[sub_torus.shape].topology;
  if (!(subTorusTopology(partition, sub_torus.extents, sub_torus.axes) == shape))
    reject("is not of shape ", sub_torus.shape, ", ", shape.shape());
}

bool follows(const LibrarySubTorus& a, const LibrarySubTorus& b) {
  return std::tie(a.partition, a.extents) < std::tie(b.partition, b.extents);
}

bool isTime(double seconds) {
  return std::isfinite(seconds) && seconds >= 0 && !std::signbit(seconds);
}

/// Fields that an entry, a candidate and a measurement share: a shape, a collective and a file.
template <typename Named>
void checkNames(const LibraryIndex& index, const Named& named, bool may_be_mpis) {
  rejectIf(named.shape >= index.shapes.size(), "shape ", named.shape, " does not exist (there are ",
           index.shapes.size(), ")");
  if (const int collective = static_cast<int>(named.collective); collective >= kCollectiveCount)
    reject("collective ", collective, " is unknown");
  rejectIf(named.file >= index.files.size() && !(may_be_mpis && named.file == kMpisOwn), "file ",
           named.file, " does not exist (there are ", index.files.size(), ")");
}

void check(const LibraryIndex& index, const LibraryEntry& entry, bool is_tuned) {
  checkNames(index, entry, is_tuned);
  rejectIf(is_tuned && entry.lowest <= kNoSize, "serves calls whose size is unknown");
  rejectIf(entry.lowest > entry.highest, "range from ", entry.lowest, " to ", entry.highest,
           " bytes");
  rejectIf(entry.highest == kOpenEnd
               ? entry.predicted_to < entry.lowest || entry.predicted_to == kOpenEnd
               : entry.predicted_to != entry.highest,
           "predicted to ", entry.predicted_to, " bytes, range from ", entry.lowest, " to ",
           entry.highest);
  rejectIf(!isTime(entry.lowest_s) || !isTime(entry.highest_s),
           "a predicted time is no number of seconds");
  within([&] { checkLine(entry.reason, kMaxReasonLength); }, "reason");
}

/// Whether `b` comes behind `a` and their ranges are disjoint.
bool follows(const LibraryEntry& a, const LibraryEntry& b) {
  const auto of_a = std::tie(a.shape, a.collective);
  const auto of_b = std::tie(b.shape, b.collective);
  return of_a != of_b ? of_a < of_b : a.highest < b.lowest;
}

void check(const LibraryIndex& index, const LibraryCandidate& candidate, bool) {
  checkNames(index, candidate, false);
}
bool follows(const LibraryCandidate& a, const LibraryCandidate& b) {
  return a < b;
}

void check(const LibraryIndex& index, const LibraryMeasurement& measured, bool) {
  checkNames(index, measured, true);
  rejectIf(!isTime(measured.seconds), "its time is no number of seconds");
}
bool follows(const LibraryMeasurement& a, const LibraryMeasurement& b) {
  return std::tie(a.shape, a.collective, a.bytes, a.file) <
         std::tie(b.shape, b.collective, b.bytes, b.file);
}

void check(const LibraryIndex&, const LibraryFile& file, bool) {
  within([&] { checkFileName(file.name); }, "name");
  rejectIf(file.bytes < 1 || file.bytes > kMaxFileBytes, "has ", file.bytes, " bytes, 1 to ",
           kMaxFileBytes, " are possible");
}

bool follows(const LibraryFile& a, const LibraryFile& b) {
  return a.name < b.name;
}

template <typename Record>
void checkTable(const LibraryIndex& index, const IndexTableOf<Record>& table) {
  const std::vector<Record>& things = index.*table.records;
  for (std::size_t i = 0; i < things.size(); ++i) {
    const auto check_one = [&] {
      check(index, things[i], table.table == IndexTable::kTuned);
      rejectIf(i > 0 && !follows(things[i - 1], things[i]), "is not after ", table.what, ' ',
               i - 1);
    };
    within(check_one, table.what, ' ', i);
  }
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
  return statusOf([&] {
    within([&] { checkLine(index.machine, kMaxNameLength); }, "machine");
    within([&] { checkLine(index.version, kMaxNameLength); }, "version");
    within([&] { checkLine(index.tuned_on, kMaxReasonLength); }, "job of tuning");
    std::apply([&](const auto&... tables) { (checkTable(index, tables), ...); }, kIndexTables);
  });
}

}  // namespace torc
