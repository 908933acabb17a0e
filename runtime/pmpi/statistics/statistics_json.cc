// The statistics of a job as a line of JSON. Keys: docs/schemas/statistics.schema.json.
#include <charconv>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/pmpi/statistics/statistics.h"
#include "settings/statistics_output.h"
#include "support/version.h"
#include "trace/trace_file.h"

namespace torc::runtime::pmpi {
namespace {

/// An object on one line.
class Line {
 public:
  template <typename Value>
  void add(const char* key, const Value& value) {
    if constexpr (std::is_same_v<Value, Service>) {
      add(key, value == Service::kServed);
      add("missing", value == Service::kShouldBeServed);
    } else if constexpr (std::is_same_v<Value, bool>) {
      addText(key, value ? "true" : "false");
    } else if constexpr (std::is_floating_point_v<Value>) {
      // Independent of the program's locale.
      char digits[32];
      const auto [end, error] =
          std::to_chars(digits, std::end(digits), value, std::chars_format::general, 9);
      addText(key, {digits, end});
    } else if constexpr (std::is_integral_v<Value>) {
      addText(key, std::to_string(value));
    } else {
      addText(key, jsonString(value));
    }
  }

  /// The fields of a row that have JSON keys.
  template <typename Row>
  void addFields(const Row& row) {
    forFields(row, [&](const auto& field, const auto& value) {
      if (field.key == nullptr ||
          (field.merge == kLater && !(value > std::remove_cvref_t<decltype(value)>())))
        return;
      add(field.key, value);
    });
  }

  /// An array with an object for each row.
  template <typename Row>
  void addRows(const char* key, const std::vector<Row>& rows) {
    std::string array;
    for (const Row& row : rows) {
      Line object;
      object.addFields(row);
      array += (array.empty() ? "[" : ",") + object.text();
    }
    addText(key, (array.empty() ? "[" : array) + ']');
  }

  std::string text() const { return text_ + '}'; }

 private:
  void addText(const char* key, const std::string& value) {
    text_ += (text_.size() > 1 ? ",\"" : "\"") + std::string(key) + "\":" + value;
  }

  std::string text_ = "{";
};

}  // namespace

std::string statisticsJson(const JobDescription& job, const JobStatistics& statistics) {
  std::vector<CallRow> calls = statistics.calls;
  for (CallRow& row : calls) {
    if (row.isRest()) row.function = "others";
  }
  Line line;
  line.add("torc_stats", kStatisticsVersion);
  line.add("torc", kVersion);
  line.add("job", job.id);
  line.add("host", job.host);
  line.add("end_s", job.end);
  line.add("command", job.command);
  line.addFields(statistics);
  line.add("off", job.off);
  line.add("library", job.library);
  line.add("machine", job.machine);
  line.add("partition", job.partition);
  line.add("ucx_bytes", 0);  // expected by readers of the line
  line.addFields(statistics.facts);
  line.addRows("calls", calls);
  line.addRows("communicators", statistics.communicators);
  line.addRows("tuned", statistics.tuned);
  return line.text() + '\n';
}

}  // namespace torc::runtime::pmpi
