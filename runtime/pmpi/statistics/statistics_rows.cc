// Merging and serialization of statistics.
#include "runtime/pmpi/statistics/statistics_rows.h"

#include <cstring>
#include <functional>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "support/columns.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

// A member without a field would neither be merged nor sent.
template <typename Row>
constexpr std::size_t kBytesOfFields =
    std::apply([](auto... fields) { return (sizeof(std::declval<Row&>().*fields.member) + ...); },
               kFields<Row>);
static_assert(kBytesOfFields<RankFacts> == sizeof(RankFacts));
static_assert(kBytesOfFields<CommunicatorRow> == sizeof(CommunicatorRow));
static_assert(kBytesOfFields<TunedRow> == sizeof(TunedRow));
constexpr std::size_t kPadding = 2 * (alignof(CallRow) - 1);  // behind each of two bytes
static_assert(kBytesOfFields<CallRow> + kPadding == sizeof(CallRow));

/// Serializes values.
struct Writer {
  std::string bytes;

  template <typename Number>
  void put(const Number& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(Number));
  }
  void put(const std::string& value) {
    put(value.size());
    bytes += value;
  }
  template <typename Row>
  void putSize(const std::vector<Row>& rows) {
    put(rows.size());
  }
};

/// The same for a single row.
template <typename Row>
std::string keyOfRow(const Row& row) {
  Writer key;
  forFields(row, [&](const auto& field, const auto& value) {
    if (field.merge == kKey) key.put(value);
  });
  return std::move(key.bytes);
}

/// Merges rows into those with the same key, or appends them.
template <typename Row>
void mergeRows(const std::vector<Row>& from, std::vector<Row>& into) {
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < into.size(); ++i)
    numbers.emplace(keyOfRow(into[i]), i);
  for (const Row& row : from) {
    const auto [entry, is_new] = numbers.try_emplace(keyOfRow(row), into.size());
    if (is_new) {
      into.push_back(row);
    } else {
      add(row, into[entry->second]);
    }
  }
}

/// Deserializes values. A missing value reads as zero and sets `is_torn`.
struct Reader {
  std::string_view rest;
  bool is_torn = false;

  template <typename Number>
  void put(Number& value) {
    if (has(sizeof(Number))) std::memcpy(&value, take(sizeof(Number)).data(), sizeof(Number));
  }
  void put(std::string& value) {
    std::size_t size = 0;
    put(size);
    if (has(size)) value = take(size);
  }
  template <typename Row>
  void putSize(std::vector<Row>& rows) {
    std::size_t size = 0;
    put(size);
    // A row takes some bytes at least, so that a corrupt length cannot request much memory.
    if (has(size)) rows.resize(size);
  }

 private:
  bool has(std::size_t size) {
    if (size <= rest.size()) return true;
    is_torn = true;
    rest = {};
    return false;
  }
  std::string_view take(std::size_t size) {
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }
};

/// Visits all fields in order, to read or to write them.
template <typename Archive, typename Statistics>
void visit(Archive& archive, Statistics& statistics) {
  const auto visitFields = [&](auto& row) {
    forFields(row, [&](const auto& field, auto& value) {
      if (field.merge != kLater) archive.put(value);
    });
  };
  const auto visitRows = [&](auto& rows) {
    archive.putSize(rows);
    std::ranges::for_each(rows, visitFields);
  };
  visitFields(statistics);
  visitFields(statistics.facts);
  visitRows(statistics.calls);
  visitRows(statistics.communicators);
  visitRows(statistics.tuned);
}

}  // namespace

std::string keyOf(const CallRow& row) {
  return keyOfRow(row);
}

void LateWaits::add(const LateWaits& others) {
  for (const auto& [rank, seconds] : others)
    (*this)[rank] += seconds;
}

double LateWaits::seconds() const {
  double sum = 0;
  for (const auto& [rank, seconds] : *this)
    sum += seconds;
  return sum;
}

std::uint64_t LateWaits::latest() const {
  return std::ranges::max_element(*this, {}, [](const auto& entry) { return entry.second; })->first;
}

std::string LateWaits::text(double seconds_of_calls) const {
  return formatted("ranks waited at least %.3g s for late ranks, %.1f %% of the calls' time, ",
                   seconds(), 100 * seconds() / seconds_of_calls) +
         message("most of it for rank ", latest());
}

bool isAhead(const CallRow& a, const CallRow& b) {
  return a.seconds != b.seconds ? a.seconds > b.seconds : keyOf(a) < keyOf(b);
}

void JobStatistics::fold(std::size_t limit) {
  if (calls.size() <= limit + 3) return;
  // Rows for the rest come last: they receive the others.
  std::ranges::sort(calls, [](const CallRow& a, const CallRow& b) {
    return a.isRest() != b.isRest() ? b.isRest() : isAhead(a, b);
  });
  const auto first = std::find_if(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(limit),
                                  std::mem_fn(&CallRow::isRest));
  CallRow rest[3];
  for (auto row = first; row != calls.end(); ++row) {
    CallRow& into = rest[static_cast<std::size_t>(row->service)];
    const std::uint64_t ranks = std::max(into.ranks, row->ranks);
    into.service = row->service;
    add(*row, into);
    into.ranks = ranks;
  }
  calls.erase(first, calls.end());
  std::ranges::copy_if(rest, std::back_inserter(calls),
                       [](const CallRow& row) { return row.calls > 0; });
}

void JobStatistics::merge(const JobStatistics& others) {
  add(others, *this);
  add(others.facts, facts);
  mergeRows(others.calls, calls);
  fold(2 * kMostCallRows);
  mergeRows(others.communicators, communicators);
  for (; communicators.size() > 2 * kMostCommunicatorRows; communicators.pop_back()) {
    CommunicatorRow& rest = communicators[2 * kMostCommunicatorRows - 1];
    rest.description = "others";
    rest.reason = "too many kinds to list";
    add(communicators.back(), rest);
  }
  const std::size_t room = kMostTunedRows - std::min(tuned.size(), kMostTunedRows);
  std::copy_n(others.tuned.begin(), std::min(others.tuned.size(), room), std::back_inserter(tuned));
}

std::string JobStatistics::bytes() const {
  Writer writer;
  visit(writer, *this);
  return std::move(writer.bytes);
}

StatusOr<JobStatistics> JobStatistics::fromBytes(std::string_view bytes) {
  JobStatistics statistics;
  Reader reader{bytes};
  visit(reader, statistics);
  if (reader.is_torn || !reader.rest.empty()) {
    return Status(StatusCode::kMalformed, "torn statistics of a rank");
  }
  return statistics;
}

}  // namespace torc::runtime::pmpi
