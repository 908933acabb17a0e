// Reads lines of statistics and adds them up.
#include "compiler/jobs/stats_sum.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include <llvm/Support/MathExtras.h>
#include <nlohmann/json.hpp>

#include "settings/statistics_output.h"

namespace torc::compiler {
namespace {

using nlohmann::json;
using runtime::pmpi::CallRow;
using runtime::pmpi::Service;

/// The values of an object; the first missing or mistyped value is its fault.
class Object {
 public:
  Object(const json& value, std::string place, std::string& fault)
      : value_(value), place_(std::move(place)), fault_(fault) {
    if (!value.is_object()) fail("no object");
  }

  void read(const char* key, std::string& value) { get(key, &json::is_string, value); }
  void read(const char* key, bool& value) { get(key, &json::is_boolean, value); }
  void read(const char* key, std::uint64_t& value) { get(key, &json::is_number_unsigned, value); }
  void read(const char* key, double& seconds) {
    get(key, &json::is_number, seconds);
    if (!(seconds >= 0 && seconds < 1e15)) fail(std::string("wrong '") + key + "'");
  }
  void read(const char* key, Service& value) {
    bool is_served = false, is_missing = false;
    read(key, is_served);
    read("missing", is_missing);
    value = is_served    ? Service::kServed
            : is_missing ? Service::kShouldBeServed
                         : Service::kNotTorcs;
  }
  bool has(const char* key) const { return value_.contains(key); }

 private:
  template <typename Value>
  void get(const char* key, bool (json::*is)() const noexcept, Value& value) {
    const auto found = value_.find(key);
    if (found != value_.end() && ((*found).*is)()) {
      found->get_to(value);
    } else {
      fail(std::string(found == value_.end() ? "no '" : "wrong '") + key + "'");
    }
  }
  void fail(const std::string& what) {
    if (fault_.empty()) fault_ = place_ + what;
  }

  const json& value_;
  const std::string place_;
  std::string& fault_;
};

StatsRow readRow(Object object) {
  StatsRow row;
  CallRow& calls = row.calls;
  forFields(calls, [&]<typename Value>(const auto& field, Value& value) {
    if constexpr (!std::is_same_v<Value, std::uint8_t>) {
      const bool is_known = field.merge >= runtime::pmpi::kOfLeast && object.has(field.key);
      if (field.in_sums || is_known) object.read(field.key, value);
    }
  });
  if (row.isServed()) calls.by.clear();
  calls.size_class = static_cast<std::uint8_t>(std::bit_width(calls.most_bytes));
  row.late.add(calls);
  if (calls.measured_mpi_seconds > 0) {
    row.measured_calls = calls.calls;
    row.won_seconds =
        static_cast<double>(calls.calls) * (calls.measured_mpi_seconds - calls.measured_seconds);
  }
  return row;
}

}  // namespace

void StatsRow::add(const StatsRow& other) {
  runtime::pmpi::add(other.calls, calls);
  measured_calls = llvm::SaturatingAdd(measured_calls, other.measured_calls);
  won_seconds += other.won_seconds;
  late.add(other.late);
}

std::string StatsSum::addLine(llvm::StringRef line) {
  constexpr llvm::StringRef kBegin = "{\"torc_stats\":";
  const std::size_t begin = line.find(kBegin);
  if (begin == line.npos) return "no statistics of torc";
  line = line.substr(begin);
  const json document = json::parse(line.begin(), line.end(), nullptr, false);
  if (document.is_discarded()) {
    // The next job's line may follow a truncated one.
    if (const std::size_t next = line.rfind(kBegin); next > 0) addLine(line.substr(next));
    return "torn, or no JSON";
  }
  std::string fault;
  Object job(document, "", fault);
  std::uint64_t version = 0, end = 0, job_ranks = 0;
  std::string reason;
  job.read("torc_stats", version);
  if (fault.empty() && version != kStatisticsVersion) {
    return "version " + std::to_string(version) + "; this torc reads version " +
           std::to_string(kStatisticsVersion);
  }
  job.read("end_s", end);
  if (end > 100'000'000'000) return "wrong 'end_s'";  // about the year 5000
  job.read("ranks", job_ranks);
  job.read("off", reason);
  std::vector<StatsRow> calls;
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
  for (StatsRow& row : calls) {
    const auto [entry, is_new] = rows.try_emplace(keyOf(row.calls), row);
    if (!is_new) entry->second.add(row);
  }
  return {};
}

}  // namespace torc::compiler
