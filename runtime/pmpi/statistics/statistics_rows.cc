// Merging of statistics, and their form as bytes.
#include "runtime/pmpi/statistics/statistics_rows.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace torc::runtime::pmpi {
namespace {

/// What makes rows the same; views into a row.
auto keyOf(const CallRow& row) {
  return std::tuple<Service, std::string_view, std::string_view, std::string_view, std::string_view,
                    std::string_view, std::uint8_t>(row.service, row.function, row.communicator,
                                                    row.datatype, row.operation, row.by,
                                                    row.size_class);
}

/// Adds counts; signatures stay.
void addCounts(const CallRow& from, CallRow& into) {
  if (from.calls == 0) return;
  const bool first = into.calls == 0;
  into.calls += from.calls;
  into.bytes += from.bytes;
  into.least_bytes = first ? from.least_bytes : std::min(into.least_bytes, from.least_bytes);
  into.most_bytes = std::max(into.most_bytes, from.most_bytes);
  into.seconds += from.seconds;
  into.least_seconds =
      first ? from.least_seconds : std::min(into.least_seconds, from.least_seconds);
  into.most_seconds = std::max(into.most_seconds, from.most_seconds);
}

/// The same of communicators.
void addCounts(const CommunicatorRow& from, CommunicatorRow& into) {
  into.used += from.used;
  into.served += from.served;
  into.handed += from.handed;
  into.seconds += from.seconds;
}

/// Each number of `from` and `into`.
template <typename Function>
void forFacts(const RankFacts& from, RankFacts& into, Function function) {
  function(from.schedules, into.schedules);
  function(from.schedule_bytes, into.schedule_bytes);
  function(from.calls_found, into.calls_found);
  function(from.plans_made, into.plans_made);
  function(from.call_bytes, into.call_bytes);
  function(from.put_bytes, into.put_bytes);
  function(from.mpi_bytes, into.mpi_bytes);
  function(from.segments, into.segments);
  function(from.segment_bytes, into.segment_bytes);
  function(from.setup_seconds, into.setup_seconds);
  function(from.load_seconds, into.load_seconds);
}

/// Puts the fields of statistics, in order, into bytes.
class Writer {
 public:
  static constexpr bool kReads = false;

  template <typename Number>
  requires std::is_trivially_copyable_v<Number>
  void number(const Number& value) {
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof(Number));
  }
  void text(const std::string& value) {
    number(std::uint64_t{value.size()});
    const auto* begin = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), begin, begin + value.size());
  }
  template <typename Row>
  void rows(const std::vector<Row>& value) {
    number(std::uint64_t{value.size()});
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes them out again. What is not there reads as zero, and is noted.
class Reader {
 public:
  static constexpr bool kReads = true;

  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename Number>
  requires std::is_trivially_copyable_v<Number>
  void number(Number& value) {
    if (rest_.size() < sizeof(Number)) return fail();
    std::memcpy(&value, rest_.data(), sizeof(Number));
    rest_ = rest_.subspan(sizeof(Number));
  }
  void text(std::string& value) {
    std::uint64_t size = 0;
    number(size);
    if (size > rest_.size()) return fail();
    value.assign(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
  }
  template <typename Row>
  void rows(std::vector<Row>& value) {
    std::uint64_t size = 0;
    number(size);
    // A row takes some bytes at least, so that a torn length cannot ask for much memory.
    if (size > rest_.size()) return fail();
    value.resize(size);
  }
  bool ok() const { return ok_ && rest_.empty(); }

 private:
  void fail() {
    ok_ = false;
    rest_ = {};
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

/// All fields in order, of statistics that are read or written.
template <typename Archive, typename Statistics>
void visit(Archive& archive, Statistics& statistics) {
  archive.number(statistics.ranks);
  archive.number(statistics.sum);
  archive.number(statistics.most);
  archive.rows(statistics.calls);
  for (auto& row : statistics.calls) {
    archive.number(row.service);
    for (auto* text : {&row.function, &row.communicator, &row.datatype, &row.operation, &row.by})
      archive.text(*text);
    archive.number(row.size_class);
    for (auto* count : {&row.calls, &row.bytes, &row.least_bytes, &row.most_bytes, &row.ranks})
      archive.number(*count);
    for (auto* seconds : {&row.seconds, &row.least_seconds, &row.most_seconds})
      archive.number(*seconds);
  }
  archive.rows(statistics.communicators);
  for (auto& row : statistics.communicators) {
    archive.text(row.description);
    archive.text(row.reason);
    for (auto* count : {&row.used, &row.served, &row.handed})
      archive.number(*count);
    archive.number(row.seconds);
  }
  archive.number(statistics.trials);
  archive.number(statistics.ended);
  archive.rows(statistics.tuned);
  for (auto& row : statistics.tuned) {
    for (auto* text : {&row.function, &row.communicator, &row.by})
      archive.text(*text);
    archive.number(row.bytes);
    archive.number(row.calls);
    for (auto* seconds : {&row.seconds, &row.own_seconds, &row.mpi_seconds})
      archive.number(*seconds);
  }
}

}  // namespace

void JobStatistics::fold(std::size_t limit) {
  std::vector<CallRow>& rows = calls;
  if (rows.size() <= limit + 3) return;
  // Rests stay, as they take in the others.
  const auto regular = std::partition(rows.begin(), rows.end(), std::mem_fn(&CallRow::isRest));
  const std::size_t rests = regular - rows.begin();
  std::ranges::sort(regular, rows.end(), [](const CallRow& a, const CallRow& b) {
    return std::tuple(b.seconds, keyOf(a)) < std::tuple(a.seconds, keyOf(b));
  });
  std::vector<CallRow> kept(regular, regular + std::min(limit, rows.size() - rests));
  CallRow rest[3];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i >= rests && i < rests + kept.size()) continue;
    CallRow& into = rest[static_cast<std::size_t>(rows[i].service)];
    into.service = rows[i].service;
    addCounts(rows[i], into);
    into.ranks = std::max(into.ranks, rows[i].ranks);
  }
  for (CallRow& row : rest) {
    if (row.calls > 0) kept.push_back(std::move(row));
  }
  rows = std::move(kept);
}

void JobStatistics::merge(const JobStatistics& others) {
  ranks += others.ranks;
  std::map<decltype(keyOf(CallRow())), std::size_t> row_numbers;
  calls.reserve(calls.size() + others.calls.size());  // keys point into rows
  for (std::size_t i = 0; i < calls.size(); ++i)
    row_numbers.emplace(keyOf(calls[i]), i);
  for (const CallRow& row : others.calls) {
    const auto [entry, added] = row_numbers.try_emplace(keyOf(row), calls.size());
    if (added) {
      calls.push_back(row);
    } else {
      addCounts(row, calls[entry->second]);
      calls[entry->second].ranks += row.ranks;
    }
  }
  fold(2 * kMostCallRows);

  for (const CommunicatorRow& row : others.communicators) {
    const auto found = std::ranges::find_if(communicators, [&](const CommunicatorRow& mine) {
      return mine.description == row.description && mine.reason == row.reason;
    });
    if (found != communicators.end()) {
      addCounts(row, *found);
    } else if (communicators.size() < 2 * kMostCommunicatorRows) {
      communicators.push_back(row);
    } else {
      communicators.back().description = "others";
      communicators.back().reason = "too many kinds to list";
      addCounts(row, communicators.back());
    }
  }
  trials += others.trials;
  ended += others.ended;
  const std::size_t room = kMostTunedRows - std::min(tuned.size(), kMostTunedRows);
  std::copy_n(others.tuned.begin(), std::min(others.tuned.size(), room), std::back_inserter(tuned));
  forFacts(others.sum, sum, [](auto from, auto& into) { into += from; });
  forFacts(others.most, most, [](auto from, auto& into) { into = std::max(into, from); });
}

std::vector<std::byte> JobStatistics::bytes() const {
  Writer writer;
  visit(writer, *this);
  return writer.take();
}

StatusOr<JobStatistics> JobStatistics::fromBytes(std::span<const std::byte> bytes) {
  JobStatistics statistics;
  Reader reader(bytes);
  visit(reader, statistics);
  if (!reader.ok()) return Status(StatusCode::kMalformed, "torn statistics of a rank");
  return statistics;
}

}  // namespace torc::runtime::pmpi
