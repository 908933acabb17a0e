// Reads lines of statistics and adds them up.
#include "compiler/commands/stats_sum.h"

#include <algorithm>
#include <bit>
#include <vector>

#include <llvm/Support/MathExtras.h>
#include <nlohmann/json.hpp>

#include "settings/statistics_output.h"

namespace torc::compiler {
namespace {

using nlohmann::json;

/// The values of an object; the first that is not there, or of another kind, is a fault.
class Object {
 public:
  Object(const json& value, std::string place, std::string& fault)
      : value_(value), place_(std::move(place)), fault_(fault) {
    if (!value.is_object()) fail("no object");
  }

  std::string text(const char* key) { return get<std::string>(key, &json::is_string); }
  std::uint64_t count(const char* key) {
    return get<std::uint64_t>(key, &json::is_number_unsigned);
  }
  double seconds(const char* key) {
    const double value = get<double>(key, &json::is_number);
    if (!(value >= 0 && value < 1e15)) fail(std::string("wrong '") + key + "'");
    return value;
  }
  bool flag(const char* key) { return get<bool>(key, &json::is_boolean); }
  bool has(const char* key) const { return value_.contains(key); }

 private:
  template <typename Value>
  Value get(const char* key, bool (json::*is)() const noexcept) {
    const auto found = value_.find(key);
    if (found == value_.end() || !((*found).*is)()) {
      fail(std::string(found == value_.end() ? "no '" : "wrong '") + key + "'");
      return Value();
    }
    return found->get<Value>();
  }
  void fail(const std::string& what) {
    if (fault_.empty()) fault_ = place_ + what;
  }

  const json& value_;
  const std::string place_;
  std::string& fault_;
};

std::pair<StatsKey, StatsCounts> readRow(Object row) {
  StatsKey key;
  key.served = row.flag("served");
  key.missing = row.flag("missing");
  key.function = row.text("function");
  key.communicator = row.text("communicator");
  if (const std::string by = row.text("by"); !key.served) key.reason = by;
  StatsCounts counts;
  counts.calls = row.count("calls");
  counts.bytes = row.count("bytes");
  counts.least_bytes = row.count("least_bytes");
  counts.most_bytes = row.count("most_bytes");
  counts.seconds = row.seconds("total_s");
  key.size_class = static_cast<unsigned>(std::bit_width(counts.most_bytes));
  if (row.has("measured_mpi_s")) {
    counts.measured_calls = counts.calls;
    counts.won_seconds = static_cast<double>(counts.calls) *
                         (row.seconds("measured_mpi_s") - row.seconds("measured_s"));
  }
  return {std::move(key), counts};
}

}  // namespace

void StatsCounts::add(const StatsCounts& other) {
  calls = llvm::SaturatingAdd(calls, other.calls);
  bytes = llvm::SaturatingAdd(bytes, other.bytes);
  least_bytes = std::min(least_bytes, other.least_bytes);
  most_bytes = std::max(most_bytes, other.most_bytes);
  seconds += other.seconds;
  measured_calls = llvm::SaturatingAdd(measured_calls, other.measured_calls);
  won_seconds += other.won_seconds;
}

std::string StatsSum::addLine(llvm::StringRef line) {
  constexpr llvm::StringRef kBegin = "{\"torc_stats\":";
  const std::size_t begin = line.find(kBegin);
  if (begin == line.npos) return "no statistics of torc";
  line = line.substr(begin);
  const json document = json::parse(line.begin(), line.end(), nullptr, false);
  if (document.is_discarded()) {
    // Behind a torn line the next job's may stand.
    if (const std::size_t next = line.rfind(kBegin); next > 0) addLine(line.substr(next));
    return "torn, or no JSON";
  }
  std::string fault;
  Object job(document, "", fault);
  if (const std::uint64_t version = job.count("torc_stats");
      fault.empty() && version != kStatisticsVersion) {
    return "version " + std::to_string(version) + "; this torc reads version " +
           std::to_string(kStatisticsVersion);
  }
  const std::uint64_t end = job.count("end_s");
  if (end > 100'000'000'000) return "wrong 'end_s'";  // about the year 5000
  const std::uint64_t job_ranks = job.count("ranks");
  const std::string reason = job.text("off");
  std::vector<std::pair<StatsKey, StatsCounts>> calls;
  const auto array = document.find("calls");
  if (array == document.end() || !array->is_array()) return "no 'calls'";
  for (std::size_t i = 0; i < array->size() && fault.empty(); ++i)
    calls.push_back(readRow(Object((*array)[i], "calls/" + std::to_string(i) + ": ", fault)));
  if (!fault.empty()) return fault;

  first_end = jobs == 0 ? end : std::min(first_end, end);
  last_end = jobs == 0 ? end : std::max(last_end, end);
  ++jobs;
  ranks = llvm::SaturatingAdd(ranks, job_ranks);
  if (!reason.empty()) ++off[reason];
  for (auto& [key, counts] : calls)
    rows[std::move(key)].add(counts);
  return {};
}

}  // namespace torc::compiler
